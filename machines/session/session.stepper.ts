import { createStepper } from '../stepping.js';
import { sessionEvents } from './session.events.js';
import { sessionMachine } from './session.machine.js';

/** Steps of a session. */
export const sessionStepper = createStepper(sessionMachine, sessionEvents);
/** Where a session stands; one object for each state that can be. */
export type SessionSnapshot = ReturnType<typeof sessionStepper.initial>['snapshot'];
