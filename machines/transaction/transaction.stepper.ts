import { createStepper } from '../stepping.js';
import { transactionEvents } from './transaction.events.js';
import { transactionMachine } from './transaction.machine.js';

/** Steps of a transaction. */
export const transactionStepper = createStepper(transactionMachine, transactionEvents);
/** Where a transaction stands. */
export type TransactionSnapshot = ReturnType<typeof transactionStepper.initial>['snapshot'];
