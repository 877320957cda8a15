import { createStepper } from '../stepping.js';
import { callEvents } from './tool-invocation.events.js';
import { toolInvocationMachine } from './tool-invocation.machine.js';

export * from './tool-invocation.events.js';
export * from './tool-invocation.machine.js';

/** Steps of a call. */
export const callStepper = createStepper(toolInvocationMachine, callEvents);
/** Where a call stands; one object for each state that can be. */
export type CallSnapshot = ReturnType<typeof callStepper.initial>['snapshot'];
