import type { Observable } from 'rxjs';
import type { ActorRefFrom, Subscription } from 'xstate';
import type { responseStreamMachine } from '../../../machines/index.js';
import type { ResponseEvent } from '../../../proto/index.js';
import { InvalidInputError } from '../../contract/errors.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import {
  type ConversationChange,
  type ConversationState,
  type FoldInput,
  type RequestEnd,
  toEvents,
} from '../../conversation/index.js';
import type { EventSource } from './consumption.js';
import type { ConversationRuntime } from './conversation-runtime.js';
import { type ConsumeOptions, ConversationStream, consumed } from './conversation-stream.js';

/**
 * A conversation's actor as the host sees it: the response stream of its first stream. `getSnapshot`, `subscribe`, `waitFor` and
 * inspectors work on it. It is moved by what is applied alone: what is sent to it from outside is ignored, with the diagnostic
 * `foreign_event`. `stop()` closes the conversation.
 */
export type ConversationActorRef = Omit<ActorRefFrom<typeof responseStreamMachine>, 'send' | 'start'> & {
  readonly send: never;
  readonly start: never;
};

const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

/**
 * What a client holds of a response stream: tasks, their messages, and how each request ended. Between a Begin and its Commit
 * everything is provisional, and a Rollback puts back what stood before, the very same object.
 *
 * What the host's own code throws (subscribers, observers of actors, inspectors, effects) harms nobody: it is a diagnostic in
 * {@link ConversationState.diagnostics}.
 */
export class Conversation {
  readonly #runtime: ConversationRuntime;

  /** Made by `createConversation`. @internal */
  constructor(runtime: ConversationRuntime) {
    this.#runtime = runtime;
  }

  /** Its actor id in a journal. */
  get id(): string {
    return this.#runtime.id;
  }

  /** How it stands: a snapshot that never changes. What did not change from one to the next is the very same object. */
  get state(): ConversationState {
    return this.#runtime.state;
  }

  /**
   * One value for each event, however many actions it holds, and one for each end that no event said. Hot; `state` is the next one
   * already. Completes when the conversation is closed, never errors.
   */
  get changes$(): Observable<ConversationChange> {
    return this.#runtime.changes$;
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
    this.#runtime.apply(this.#runtime.first, event);
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
    return consumed(this.#runtime, this.#runtime.first, source, options);
  }

  /** Gives up: ends the request as `cancelled`, and stops reading. Nothing happens when it has ended. Never throws. */
  cancel(): void {
    this.#runtime.cancel(this.#runtime.first);
  }

  /** How the current or last request ended. Never rejects; an init or a resumption makes a new one. */
  get ended(): Promise<RequestEnd> {
    return this.#runtime.first.ends.current;
  }

  /**
   * Resolves when all that was committed so far is durable, and told; an action outside of a transaction is its own commit. At once
   * without a durable journal. A rejection that the host ignores does no harm.
   *
   * Rejects with a `JournalFailedError` when the journal can be written no more: what was not flushed before may be lost.
   */
  flush(): Promise<void> {
    return this.#runtime.flush();
  }

  /** One more stream of events into this conversation. Close it when it is of no more use. @throws {ConversationClosedError} */
  stream(): ConversationStream {
    return new ConversationStream(this.#runtime, this.#runtime.open());
  }

  /** The conversation as a stream that rebuilds it. */
  toEvents(): ResponseEvent[] {
    return toEvents(this.#runtime.state);
  }

  /** The conversation as an XState actor; further streams and open transactions are children by `_parent`. */
  get actor(): ConversationActorRef {
    return this.#runtime.first.actor as unknown as ConversationActorRef;
  }

  /**
   * Lets an observer look on: it is told of what lives, parents first, then of all that happens. Gives what detaches it.
   *
   * @throws {InvalidInputError} for what is no observer
   */
  inspect(observer: InspectionObserver): Subscription['unsubscribe'] {
    const isObserver = typeof observer === 'function' || (typeof observer === 'object' && observer !== null);
    if (!isObserver) throw new InvalidInputError('observer', 'an observer or a function', observer);
    return this.#runtime.inspect(observer);
  }

  /** Cancels every request that has not ended and takes nothing more; the state stays. Effects that are committed still run. */
  close(): void {
    this.#runtime.close(this.#runtime.first);
  }

  [dispose](): void {
    this.close();
  }
}
