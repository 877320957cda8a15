import type { ResponseEvent } from '../../../proto/index.js';
import { InvalidInputError } from '../../contract/errors.js';
import type { ConversationState, FoldInput, RequestEnd } from '../../conversation/index.js';
import type { EventSource } from './consumption.js';
import type { ConversationRuntime } from './conversation-runtime.js';
import type { StreamLife } from './stream-life.js';

/** What `consume` may be told. */
export interface ConsumeOptions {
  /** Aborting it cancels the request, as the host's own `cancel()` does, and releases the source. */
  readonly signal?: AbortSignal;
}

/**
 * One more stream of events into one conversation: a second request, beside the first. While another stream has a transaction open,
 * its actions fail with the diagnostic `transaction_busy`.
 */
export class ConversationStream {
  readonly #runtime: ConversationRuntime;
  readonly #stream: StreamLife;

  /** Made by `conversation.stream()`. @internal */
  constructor(runtime: ConversationRuntime, stream: StreamLife) {
    this.#runtime = runtime;
    this.#stream = stream;
  }

  /** Where the current or last request of this stream stands. */
  get phase(): ConversationState['phase'] {
    return this.#runtime.phaseOf(this.#stream);
  }

  /**
   * Takes an event, at once: when this returns the state is the next one and subscribers were told. From within a subscriber it is
   * taken when the step at hand is complete. Whoever reads a source in a loop of their own says how it ended, too:
   * `apply({ end: 'eof' })`, `apply({ end: 'error', message })`.
   *
   * @throws {InvalidInputError} for what is no event: nothing has changed
   * @throws {ConversationError} under `strict`, at the first diagnostic and at every event after it
   * @throws {ConversationClosedError} once closed
   */
  apply(event: FoldInput): void {
    this.#runtime.apply(this.#stream, event);
  }

  /**
   * Reads a source to its end and gives how the request ended. The end of the source is the end of the input; a source that throws, a
   * frame that cannot be read and what is no event count as a transport error; an abort and `cancel()` cancel the request. The source
   * is released.
   *
   * Rejects with a `ConversationError` under `strict`, with a `ConversationClosedError` once closed, with a `StreamBusyError` while
   * another source is read, and with an `InvalidInputError` for what cannot be read (the last two leave the source untouched). A
   * rejection that the host ignores does no harm.
   */
  consume(source: EventSource<ResponseEvent>, options: ConsumeOptions = {}): Promise<RequestEnd> {
    return consumed(this.#runtime, this.#stream, source, options);
  }

  /** Gives up: ends the request as `cancelled`, and stops reading. Nothing happens when it has ended. Never throws. */
  cancel(): void {
    this.#runtime.cancel(this.#stream);
  }

  /** How the current or last request of this stream ended. Never rejects; an init or a resumption makes a new one. */
  get ended(): Promise<RequestEnd> {
    return this.#stream.ends.current;
  }

  /** Cancels what has not ended and forgets the stream; the conversation goes on. */
  close(): void {
    this.#runtime.close(this.#stream);
  }
}

/** `consume` of a stream. Its rejection may be ignored without harm. */
export function consumed(
  runtime: ConversationRuntime,
  stream: StreamLife,
  source: EventSource<ResponseEvent>,
  options: ConsumeOptions,
): Promise<RequestEnd> {
  const promise = new Promise<RequestEnd>((resolve, reject) => {
    if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
    runtime.consume(stream, source, options.signal, resolve, reject);
  });
  promise.catch(() => {});
  return promise;
}
