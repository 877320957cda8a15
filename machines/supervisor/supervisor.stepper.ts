import { createStepper } from '../stepping.js';
import { supervisorEvents } from './supervisor.events.js';
import { supervisorMachine } from './supervisor.machine.js';

/** Steps of a supervisor. */
export const supervisorStepper = createStepper(supervisorMachine, supervisorEvents);
/** Where a supervisor stands. */
export type SupervisorSnapshot = ReturnType<typeof supervisorStepper.initial>['snapshot'];
