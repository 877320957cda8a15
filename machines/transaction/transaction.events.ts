/**
 * The alphabet of a transaction. Events carry nothing: what an action does to
 * the conversation stays with whoever folds it, and the effects of a step say
 * what becomes of it.
 */
export const transactionEvents = [
  // actions of the stream that owns it
  'begin',
  'action_applied',
  'action_failed',
  'commit',
  'rollback',
  // a level inside was committed with its doom
  'doom_inherited',
  // what ends it from outside
  'finish_done',
  'finish_failed',
  'input_ended',
  'split',
  'host_cancel',
] as const;

/** One of {@link transactionEvents}. */
export type TransactionEventType = (typeof transactionEvents)[number];

/** An event of a transaction: its type and nothing else. */
export interface TransactionEvent {
  readonly type: TransactionEventType;
}
