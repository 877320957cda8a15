/**
 * The server's side: writes a response stream that every client folds without
 * a diagnostic.
 *
 * Invariants kept here:
 *
 * G1. What is written is folded first, strictly, as a client would fold it:
 *     what that would tell of is refused and leaves no trace. So the stream is
 *     legal whatever is asked of it, in whatever order.
 * G2. The init is first, one finish is last, and no transaction is open at it.
 * G3. A transaction is committed when its function returns, rolled back when
 *     it throws, and nothing else ends it but a finish that is a failure.
 * G4. What waits unread is bounded (O2), and a refusal is thrown: no promise
 *     is rejected that a host did not ask for.
 * G5. What is given out is frozen, and of what a host hands in a copy.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type ResponseEvent,
  type ResponseEvent_StreamFinished_TokenUsageSchema,
  type ResponseEvent_StreamFinishedSchema,
  ResponseEventSchema,
} from '../../../proto/index.js';
import { InvalidInputError, isCommitpointError, messageOf, ResponseStreamError } from '../../contract/errors.js';
import type { FinishReason } from '../finish.js';
import { createFold } from '../fold.js';
import { adoptMessage, planOf } from '../message/plan.js';
import { type ConversationState, FoldState, partsOf } from '../state.js';
import { type ActionInit, ActionWriter, type ConversationWriter, type TaskWriter } from './action-writer.js';
import { EventOutlet } from './event-outlet.js';

/** What {@link createResponseStream} takes. */
export interface ResponseStreamOptions {
  /** The conversation that the stream changes. */
  readonly conversationId: string;
  /** The request that it answers. */
  readonly requestId: string;
  /**
   * What the client holds already: a state that a conversation of this library gave, and none of whose requests is open. Default: a
   * conversation of which nothing is known, in which the first task that is created is the root.
   */
  readonly conversation?: ConversationState;
  /** How many events may wait to be read, from 2. Default 1,024. */
  readonly maxBufferedEvents?: number;
}

/** How a request ends, for {@link ResponseStream.finish}. */
export interface ResponseFinish {
  /** Default `done`; all others are failures. */
  readonly reason?: Exclude<FinishReason, ''>;
  /** What went wrong; for `internalError` alone. */
  readonly message?: string;
  /** What each model used. */
  readonly usage?: readonly MessageInitShape<typeof ResponseEvent_StreamFinished_TokenUsageSchema>[];
  /** What the request costs its user. */
  readonly cost?: number;
  /** How full the context window is: a share from 0 to 1. */
  readonly contextWindow?: number;
  /** Earlier parts of the conversation were replaced by a summary. */
  readonly summarized?: boolean;
  /** The client should fetch its list of models again. */
  readonly shouldRefreshModelConfig?: boolean;
}

/**
 * A response stream that is being written. Its methods, besides those of a {@link ConversationWriter}, throw
 * {@link ResponseStreamError}; what they throw they have not written.
 */
export interface ResponseStream extends ConversationWriter {
  /**
   * What is written, the init first: for one reader, who hands it to an encoder of `commitpoint/wire`, to a conversation, to a journal.
   * It ends after the finish. A reader that leaves makes further writes throw `reader_left`.
   */
  readonly events: AsyncIterable<ResponseEvent>;
  /** What a client that read everything holds. */
  readonly state: ConversationState;
  /**
   * Runs `work` in a transaction: commits when it returns, and gives what it returned when there is room for more; rolls back when
   * it throws, and rejects with what it threw. Transactions do not nest, and while one is open the stream itself takes no writes.
   *
   * @throws {ResponseStreamError} as a rejection: nothing was begun, or the stream was finished as a failure meanwhile, or its
   *   reader has left
   */
  transaction<Result>(work: (tx: ConversationWriter) => Result | PromiseLike<Result>): Promise<Result>;
  /**
   * From the message of this id on, messages move to a new conversation, and what is written after this goes there. Not while a
   * transaction is open.
   */
  startNewConversation(fromMessageId: string): Promise<void>;
  /**
   * Ends the stream. An open transaction is rolled back when the request has failed; a finish of `done` is refused while one is open.
   * Once the reader has left this does nothing.
   */
  finish(finish?: ResponseFinish): void;
}

/**
 * Begins a response stream.
 *
 * ```ts
 * import { createResponseStream } from 'commitpoint';
 * import { encodeSse } from 'commitpoint/wire';
 *
 * const stream = createResponseStream({ conversationId: 'c', requestId: 'r' });
 * void (async () => {
 *   await stream.transaction(async (tx) => {
 *     await tx.createTask({ id: 't' });
 *     await tx.task('t').add({ id: 'm' });
 *     for (const delta of ['Hello', ' there']) await tx.task('t').append('m', 'agentOutput.text', delta);
 *   });
 *   stream.finish({ usage: [{ modelId: 'model', totalInput: 7, output: 2 }] });
 * })();
 * for await (const event of stream.events) console.log(encodeSse(event).length);
 * ```
 *
 * @throws {InvalidInputError} for an option that is none
 */
export function createResponseStream(options: ResponseStreamOptions): ResponseStream {
  assertObject('options', options);
  return new StreamWriter(options);
}

type FinishInit = MessageInitShape<typeof ResponseEvent_StreamFinishedSchema>;
type EventInit = MessageInitShape<typeof ResponseEventSchema>['type'];

const strictly = createFold({ mode: 'strict' });
const eventPlan = planOf(ResponseEventSchema);
const defaultMaxBufferedEvents = 1024;

const begin: ActionInit = { case: 'beginTransaction', value: {} };
const commit: ActionInit = { case: 'commitTransaction', value: {} };
const rollback: ActionInit = { case: 'rollbackTransaction', value: {} };

/** A transaction that is open or waits for room to be; what is written to it knows by it whether it still is. */
interface Open {
  hasBegun: boolean;
}

class StreamWriter implements ResponseStream {
  readonly #outlet: EventOutlet;
  readonly #actions = new ActionWriter((action) => this.#writeOutside(action));
  #state: FoldState;
  #open: Open | undefined;
  #isFinished = false;

  constructor(options: ResponseStreamOptions) {
    const { conversationId, requestId, conversation, maxBufferedEvents = defaultMaxBufferedEvents } = options;
    if (!Number.isInteger(maxBufferedEvents) || maxBufferedEvents < 2) {
      throw new InvalidInputError('maxBufferedEvents', 'an integer from 2', maxBufferedEvents);
    }
    for (const [name, id] of Object.entries({ conversationId, requestId })) {
      if (typeof id !== 'string' || id === '') throw new InvalidInputError(name, 'an id that is not empty', id);
    }
    this.#outlet = new EventOutlet(maxBufferedEvents);
    this.#state = conversation === undefined ? strictly.initial : before(conversation, requestId);
    try {
      this.#emit({ case: 'init', value: { conversationId, requestId } });
    } catch (error) {
      if (!(error instanceof ResponseStreamError)) throw error;
      throw new InvalidInputError(
        'conversationId',
        `the id of the conversation, ${conversation?.conversationId}`,
        conversationId,
      );
    }
  }

  get events(): AsyncIterable<ResponseEvent> {
    return this.#outlet;
  }

  get state(): ConversationState {
    return this.#state.conversation;
  }

  createTask(...args: Parameters<ConversationWriter['createTask']>): Promise<void> {
    return this.#actions.createTask(...args);
  }

  task(id: string): TaskWriter {
    return this.#actions.task(id);
  }

  showSuggestions(...args: Parameters<ConversationWriter['showSuggestions']>): Promise<void> {
    return this.#actions.showSuggestions(...args);
  }

  startNewConversation(fromMessageId: string): Promise<void> {
    return this.#writeOutside({ case: 'startNewConversation', value: { startFromMessageId: fromMessageId } });
  }

  async transaction<Result>(work: (tx: ConversationWriter) => Result | PromiseLike<Result>): Promise<Result> {
    if (typeof work !== 'function') throw new InvalidInputError('work', 'a function', work);
    this.#assertWritable();
    this.#assertNoneOpen('transactions do not nest');
    const open: Open = { hasBegun: false };
    this.#open = open;
    try {
      await this.#outlet.room;
      this.#assertStillOpen(open);
      this.#assertWritable();
      this.#emit(actionsOf(begin));
      open.hasBegun = true;
      const result = await work(new ActionWriter((action) => this.#writeInside(open, action)));
      this.#assertStillOpen(open);
      this.#assertWritable();
      this.#emit(actionsOf(commit));
      this.#open = undefined;
      await this.#outlet.room;
      return result;
    } catch (error) {
      this.#rollBack(open);
      throw error;
    }
  }

  finish(finish: ResponseFinish = {}): void {
    if (this.#isFinished) throw finished();
    if (this.#outlet.isLeft) return;
    const value = finishOf(finish);
    const open = this.#open;
    if (open !== undefined) {
      if (value.reason?.case === 'done') this.#assertNoneOpen('finish after it, or as a failure, which rolls it back');
      // whether the finish can be written is known before anything is
      const rolledBack = open.hasBegun ? this.#accept(actionsOf(rollback), this.#state).state : this.#state;
      this.#accept({ case: 'finished', value }, rolledBack);
      this.#rollBack(open);
    }
    this.#emit({ case: 'finished', value });
    this.#isFinished = true;
    this.#outlet.end();
  }

  #rollBack(open: Open): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    if (open.hasBegun) this.#emit(actionsOf(rollback));
  }

  #writeOutside(action: ActionInit): Promise<void> {
    this.#assertWritable();
    this.#assertNoneOpen('write to it with what its function is given');
    return this.#write(action);
  }

  #writeInside(open: Open, action: ActionInit): Promise<void> {
    this.#assertStillOpen(open);
    this.#assertWritable();
    return this.#write(action);
  }

  #write(action: ActionInit): Promise<void> {
    if (this.#outlet.isFull) throw full();
    this.#emit(actionsOf(action));
    return this.#outlet.room;
  }

  #assertWritable(): void {
    if (this.#isFinished) throw finished();
    if (this.#outlet.isLeft)
      throw new ResponseStreamError('reader_left', 'expected a reader of its events, but it has left');
  }

  #assertNoneOpen(advice: string): void {
    if (this.#open === undefined) return;
    throw new ResponseStreamError('transaction_open', `expected no open transaction, found one: ${advice}`);
  }

  #assertStillOpen(open: Open): void {
    if (this.#open === open) return;
    throw new ResponseStreamError('transaction_over', 'expected a transaction that is open, found one that has ended');
  }

  /** Folds an event as a client would, and hands it out. */
  #emit(type: EventInit): void {
    const { event, state } = this.#accept(type, this.#state);
    this.#state = state;
    this.#outlet.push(event);
  }

  /** @throws {ResponseStreamError} for what a client would tell of */
  #accept(type: EventInit, before: FoldState): { readonly event: ResponseEvent; readonly state: FoldState } {
    const event = eventOf(type);
    const { state, error } = strictly.take(before, event);
    if (error === undefined) return { event, state };
    const { code, detail } = error.diagnostic;
    throw new ResponseStreamError('refused', `a client would tell of ${code}: ${detail}`, code);
  }
}

function actionsOf(action: ActionInit): NonNullable<EventInit> {
  return { case: 'clientActions', value: { actions: [{ action }] } };
}

/** A frozen copy. @throws {InvalidInputError} */
function eventOf(type: EventInit): ResponseEvent {
  try {
    return adoptMessage(eventPlan, { type }, 1) as unknown as ResponseEvent;
  } catch (error) {
    if (isCommitpointError(error)) throw error;
    // a getter that throws, a proxy that was revoked, a message within itself
    throw new InvalidInputError(`response event (reading it threw: ${messageOf(error)})`, 'a ResponseEvent', type);
  }
}

function finishOf(finish: ResponseFinish): FinishInit {
  assertObject('finish', finish);
  const { reason = 'done', message, usage, cost, contextWindow, summarized, shouldRefreshModelConfig } = finish;
  if (message !== undefined && reason !== 'internalError') {
    throw new InvalidInputError('finish', `no message with the reason ${reason}`, message);
  }
  const knowsWindow = contextWindow !== undefined || summarized !== undefined;
  return {
    reason: { case: reason, value: message === undefined ? {} : { message } } as NonNullable<FinishInit['reason']>,
    // the copy is made when all of it is; what is no list is refused there
    tokenUsage: (usage ?? []) as NonNullable<FinishInit['tokenUsage']>,
    shouldRefreshModelConfig: shouldRefreshModelConfig ?? false,
    requestCost: cost === undefined ? undefined : { exact: cost },
    contextWindowInfo: knowsWindow
      ? { contextWindowUsage: contextWindow ?? 0, summarized: summarized ?? false }
      : undefined,
  };
}

function assertObject(what: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw new InvalidInputError(what, 'an object', value);
}

/** The state before a further request on a conversation. */
function before(conversation: ConversationState, requestId: string): FoldState {
  const { tree, levels, names } = partsOf(conversation);
  if (levels.length > 0 || conversation.phase === 'streaming') {
    throw new InvalidInputError('conversation', 'a state whose request has ended', `one that is ${conversation.phase}`);
  }
  if (conversation.finished !== null && conversation.requestId === requestId) {
    throw new InvalidInputError('requestId', 'the id of another request than the one that is finished', requestId);
  }
  const { bases, owner, diverged, log, first, others } = strictly.initial.parts;
  return new FoldState({ tree, levels, bases, owner, names, diverged, log, first, others });
}

function finished(): ResponseStreamError {
  return new ResponseStreamError('finished', 'expected a stream that is open, found one that is finished');
}

function full(): ResponseStreamError {
  return new ResponseStreamError('full', 'expected room for one more event; wait for what each write returns');
}
