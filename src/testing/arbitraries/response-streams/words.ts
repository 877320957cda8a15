/** Ids and texts of response streams: few ids, so that they meet. */
import fc from 'fast-check';

/** A text, now and then one that is hard to cut. */
export const text = fc.oneof(fc.constantFrom('a', 'b', '', 'ä😀'), fc.string({ unit: 'binary', maxLength: 3 }));
/** Of a task; empty now and then. */
export const taskId = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('t', 't', 't', 's', 's', 'u', 'u', 'v') },
  fc.constant(''),
);
/** Of a message; empty now and then. */
export const messageId = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom('m1', 'm1', 'm2', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'h3', 'h35') },
  fc.constant(''),
);
/** What a message says of its task: nothing, mostly. */
export const ownTaskId = fc.oneof({ weight: 6, arbitrary: fc.constant('') }, fc.constantFrom('t', 's'));
/** Of a tool call. */
export const callId = fc.constantFrom('k1', 'k2', 'k3');
