/**
 * The alphabet of a supervisor. Events carry nothing: which child one is about,
 * and what is known of it, stays with whoever steps.
 */
export const supervisorEvents = [
  // asked by the host
  'start_session',
  'start_conversation',
  'shutdown',
  // a start beyond a limit
  'over_limit',
  // an incarnation of a session
  'incarnation_connected',
  // one has ended, and its session is to have another
  'incarnation_ended',
  'restart_due',
  // a child has ended for good; the second: it would be restarted, and was too often
  'session_ended',
  'session_failed',
  'conversation_ended',
  // the way to the end
  'journal_failed',
  'deadline_passed',
  'emptied',
] as const;

/** One of {@link supervisorEvents}. */
export type SupervisorEventType = (typeof supervisorEvents)[number];

/** An event of a supervisor: its type and nothing else. */
export interface SupervisorEvent {
  readonly type: SupervisorEventType;
}
