/**
 * The alphabet of a response stream, and of what becomes of its input. Events
 * carry nothing: how an init compares with the ids that are known is told by
 * its name, which whoever folds the stream gives it.
 */
export const responseStreamEvents = [
  // StreamInit, compared with the request at hand
  'init_next',
  'init_same',
  'init_renames',
  'init_foreign',
  // ClientActions
  'actions',
  // StreamFinished, by its reason
  'finished_done',
  'finished_failed',
  // an event without a type
  'untyped',
  // the input
  'end_of_input',
  'transport_error',
  'bad_frame',
  // the host
  'host_cancel',
  // a diagnostic under mode strict
  'halted',
] as const;

/**
 * One of {@link responseStreamEvents}. `init_same`: the ids of the request at
 * hand; `init_next`: another request of this conversation; `init_renames`: the
 * request at hand, with a name for a conversation that a split has made;
 * `init_foreign`: another conversation.
 */
export type ResponseStreamEventType = (typeof responseStreamEvents)[number];

/** An event of a response stream: its type and nothing else. */
export interface ResponseStreamEvent {
  readonly type: ResponseStreamEventType;
}
