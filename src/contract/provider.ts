import type { LLMToolSchema } from './tool.js';

/** What the human puts in. Audio is base64 in the encoding that `mediaType` names. */
export type BidiInput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'audio'; readonly data: string; readonly mediaType: string };

/** Counts of tokens as the far side reports them; which ones come is up to it. */
export interface TokenUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cachedTokens?: number;
}

/**
 * What the far side reports through its driver.
 *
 * The last four members are additions of ours, optional for a driver:
 * `tool_call_cancelled` withdraws the named calls and nothing else, the other
 * three go to `lifecycle$` and never to the conversation.
 */
export type BidiEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'audio'; readonly data: string; readonly mediaType: string }
  /** `id` is unique for the whole session (a repeat is a protocol failure); `arguments` is JSON text as the model wrote it. */
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  /** A stretch of output is finished and the model waits. */
  | { readonly type: 'turn_complete' }
  /** The human spoke over the model: results that were not yet published are stale. Cancels no run. */
  | { readonly type: 'interrupted' }
  | { readonly type: 'error'; readonly message: string }
  /** Nothing comes after it; the driver has released its resources. */
  | { readonly type: 'closed'; readonly reason?: string }
  | { readonly type: 'tool_call_cancelled'; readonly ids: readonly string[] }
  | ({ readonly type: 'usage' } & TokenUsage)
  /**
   * Transcript of what the user said. Not `final`: the piece that is new, which goes behind the pieces before it. `final`: the
   * whole, which takes the place of its pieces and will not be revised. Not every far side says a final one.
   */
  | { readonly type: 'input_text'; readonly text: string; readonly final: boolean }
  /** The connection will be cut by the far side in `inMs` milliseconds. */
  | { readonly type: 'expiring'; readonly inMs: number };

/** What was said before, for a far side that is to go on from there. */
export type HistoryEntry =
  | { readonly role: 'user' | 'assistant'; readonly text: string }
  | {
      readonly role: 'tool';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly output: string;
      readonly isError: boolean;
    };

/** What a driver gets in order to connect. */
export interface BidiConnectParams {
  readonly model: string;
  readonly system?: string;
  readonly tools?: readonly LLMToolSchema[];
  /** Lifetime of the session: aborted when it ends for whatever cause, just before `close()` is called. */
  readonly signal?: AbortSignal;
  /** The handle that an earlier session's {@link BidiSession.resumption} gave. */
  readonly resume?: unknown;
  /** What was said before. */
  readonly history?: readonly HistoryEntry[];
}

/**
 * What a driver's `events()` may give for an iterator: an addition of ours,
 * optional, for drivers whose events come many at a time. Where it is there, a
 * session takes what waits without a promise for each event.
 */
export interface BidiEventIterator extends AsyncIterator<BidiEvent> {
  /**
   * Takes the event that `next` would give now: the same ones in the same order,
   * whichever of the two is asked. `undefined` where `next` has to be asked: no
   * event waits, or the stream is over. Never called while a `next` is pending.
   */
  takeWaiting?(): BidiEvent | undefined;
}

/** A live connection to a far side, made by a driver. */
export interface BidiSession {
  /** Push input from the human. Never waits for the model to be idle. */
  send(input: BidiInput): Promise<void>;
  /**
   * Publish the result of one call. Entering this method is the commit point:
   * no interruption recalls it. Resolves when the far side has accepted the
   * result, rejects when it has not.
   */
  sendToolResult(id: string, output: string, isError?: boolean): Promise<void>;
  /** Read once, by one reader. The iterator may be a {@link BidiEventIterator}. */
  events(): AsyncIterable<BidiEvent>;
  /** Stop the events and release what is held. Called at most once. */
  close(): Promise<void>;
  /**
   * Tell a far side that holds its turn open until every call is answered that
   * no answer will come. Absent where an unanswered call does no harm.
   */
  abandonToolCall?(id: string): Promise<void>;
  /** Ask the far side to stop its output; it acknowledges with an `interrupted` event. `playedMs`: how much of the output the user heard, in milliseconds. */
  interrupt?(options: { readonly playedMs?: number }): Promise<void>;
  /** Tell the far side how much of its output the user has heard, in milliseconds. */
  played?(options: { readonly ms: number }): Promise<void> | void;
  /** An opaque handle for {@link BidiConnectParams.resume}, or `undefined` when there is none now. */
  resumption?(): unknown;
}

/** A driver: one kind of far side that sessions can be opened to. */
export interface BidiProvider {
  readonly id: string;
  connect(params: BidiConnectParams): Promise<BidiSession>;
}
