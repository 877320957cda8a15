import type { Tappable } from '../../contract/session-tap.js';
import { assertTappable, type RecordSessionOptions, recordingSettings } from './options.js';
import { Recorder, type RecordingEnd } from './recorder.js';

/** A session that is being recorded. */
export interface SessionRecording {
  readonly conversationId: string;
  readonly requestId: string;
  /** The task that the messages go to. */
  readonly taskId: string;
  /**
   * How the recording ended, once its last event was taken by the conversation or the sink. Never rejects; never settles while a
   * sink that returned a promise does not settle it.
   */
  readonly finished: Promise<RecordingEnd>;
  /** Finishes the stream as it stands, and records no more; the session goes on. Calls without an answer are answered with `cancel`. Gives `finished`. */
  stop(): Promise<RecordingEnd>;
}

/**
 * Writes a session as a response stream, from now on to its end: each stretch of the far side's output is a transaction. Begun in
 * `prepare` of `startSession` it misses nothing; calls that were made before it is begun are not recorded.
 *
 * - What the agent says, as text or transcript, is a message that grows; each call is one, and so is its result, which is
 *   committed at the moment in which it is handed to the far side, and is never rolled back.
 * - `turn_complete` commits. `interrupted` commits what was said (`onInterrupted: 'keep'`), or rolls it back (`'discard'`).
 * - What the user says is recorded as text that was sent, or as the far side's transcript, and stays in both modes.
 * - A call that gets no result is answered with `cancel`: a conversation whose recording has ended has no open call.
 * - Where the host has told what was played, text of which nobody heard the audio is cut at a word, by the share of the audio
 *   that was played; `server_message_data` of such a message says so: `{"cut":{"approximate":true,"playedMs","receivedMs"}}`.
 *
 * The stream folds without a diagnostic, whatever happens in the session. It takes nothing from those who read the session, and
 * does not read in their place: where nobody does, subscribe to `events$`, or the session ends with `overflow` once its buffer is
 * full.
 *
 * ```ts
 * import { createConversation, historyOf, recordSession, startSession, type BidiProvider } from 'commitpoint';
 *
 * async function talk(provider: BidiProvider) {
 *   const conversation = createConversation();
 *   const first = await startSession({
 *     provider,
 *     connect: { model: 'm' },
 *     prepare: (session) => recordSession(session, { conversation, onInterrupted: 'discard' }),
 *   });
 *   await first.closed;
 *   return startSession({ provider, connect: { model: 'm', history: historyOf(conversation) } });
 * }
 * ```
 *
 * @throws {InvalidInputError} for an option that is none
 * @throws {ConversationClosedError} for a conversation that is closed
 */
export function recordSession(session: Tappable, options: RecordSessionOptions): SessionRecording {
  assertTappable(session);
  const settings = recordingSettings(options);
  const recorder = new Recorder(settings);
  recorder.listen(session);
  const { conversationId, requestId, taskId } = settings;
  return {
    conversationId,
    requestId,
    taskId,
    finished: recorder.finished,
    stop: () => {
      recorder.stop();
      return recorder.finished;
    },
  };
}
