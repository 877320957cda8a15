/**
 * Where the intents of a session are made durable before it acts on them.
 * What a record holds, and who reads it back, comes with the journal itself;
 * the runtime needs no more than this to wait at the right places.
 */
export interface IntentLog {
  /** Whether {@link flush} makes what was appended survive a crash. Without that a session does not wait for it. */
  readonly durable: boolean;
  /** Settles when all that was appended so far is durable; a rejection ends the session with `journal_failed`. */
  flush(): Promise<void>;
}
