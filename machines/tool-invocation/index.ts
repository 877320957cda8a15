import { createStepper } from '../stepping.js';
import { callEvents } from './tool-invocation.events.js';
import { toolInvocationMachine } from './tool-invocation.machine.js';

export * from './tool-invocation.events.js';
export * from './tool-invocation.machine.js';

/** Steps of a call. */
export const callStepper = createStepper(toolInvocationMachine, callEvents);
export type CallSnapshot = ReturnType<typeof callStepper.initial>['snapshot'];
