/**
 * The alphabet of a tool invocation. Events carry nothing: what belongs to them
 * (input, output, message) stays with the runtime, so that a snapshot holds
 * nothing sensitive and every step is one of a finite table.
 */
export const callEvents = [
  // what became of the arguments
  'input_accepted',
  'approval_required',
  'input_refused',
  // the host's decision
  'approved',
  'denied',
  // a place under maxConcurrentTools
  'placed',
  // the record of an intent is durable
  'flushed',
  // the tool's code
  'code_resolved',
  'code_rejected',
  'timed_out',
  // the far side's answer to the result
  'publish_accepted',
  'publish_rejected',
  'publish_timed_out',
  // what happens around the call
  'interrupted',
  'withdrawn',
  'session_ended',
] as const;

/** The name of an event of a call. */
export type CallEventType = (typeof callEvents)[number];

/** An event of a call: its name alone. */
export interface CallEvent {
  readonly type: CallEventType;
}
