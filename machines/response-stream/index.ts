import { createStepper } from '../stepping.js';
import { responseStreamEvents } from './response-stream.events.js';
import { responseStreamMachine } from './response-stream.machine.js';

export * from './response-stream.events.js';
export * from './response-stream.machine.js';

/** Steps of a response stream. */
export const responseStreamStepper = createStepper(responseStreamMachine, responseStreamEvents);
/** Where a response stream stands. */
export type ResponseStreamSnapshot = ReturnType<typeof responseStreamStepper.initial>['snapshot'];
/** The phases of a request. */
export type StreamPhase = ResponseStreamSnapshot['value'];
