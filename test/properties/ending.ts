/** How a history ends that has not ended by itself. */
import fc from 'fast-check';
import type { Step } from '../../src/scenario/scenario.js';

/** How a history ends that has not ended by itself. */
export interface Ending {
  readonly by: Step;
  /** The driver answers `connect` and `close` only after the limit of time, if there is one. */
  readonly driverIsSlow: boolean;
  /** Whether a connection that is still pending comes about. */
  readonly connects: boolean;
}

export const ending: fc.Arbitrary<Ending> = fc.record({
  by: fc.constantFrom<Step>(
    { host: 'close' },
    { host: 'close' },
    { host: 'abort', reason: 'enough' },
    { far: { type: 'closed', reason: 'bye' } },
    { far_stream: 'end' },
    { far_stream: 'fail', message: 'socket gone' },
    { far: null },
  ),
  driverIsSlow: fc.boolean(),
  connects: fc.boolean(),
});
