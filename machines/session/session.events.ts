/**
 * The alphabet of a session. Events carry nothing: what belongs to them stays
 * with the runtime, which is told by the effects what to do with it.
 */
export const farEvents = [
  // the contract's union, one name each
  'text',
  'audio',
  'tool_call',
  'turn_complete',
  'interrupted',
  'error',
  'closed',
  'tool_call_cancelled',
  'usage',
  'input_text',
  'expiring',
] as const;

/** Every event that a session can be given. */
export const sessionEvents = [
  ...farEvents,
  // what the far side sends outside the contract
  'unknown',
  'ill_formed_note',
  'malformed',
  'repeated_call',
  // its event stream
  'stream_ended',
  'stream_failed',
  // the driver's answers
  'connected',
  'connect_rejected',
  'close_settled',
  // time
  'connect_timed_out',
  'close_timed_out',
  // the host
  'host_act',
  'host_close',
  'host_abort',
  // limits, the pool that the session shares, and the journal
  'overflow',
  'places_lent',
  'flush_failed',
] as const;

/** The name of an event of the contract. */
export type FarEventType = (typeof farEvents)[number];
/** The name of an event of a session. */
export type SessionEventType = (typeof sessionEvents)[number];

/** An event of a session: its name alone. */
export interface SessionEvent {
  readonly type: SessionEventType;
}
