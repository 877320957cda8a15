/**
 * A conversation that lives: takes what happens, one step at a time, lets the
 * fold say what becomes of it, and tells whoever looks on. It adds promises,
 * actors, effects and sources, and decides nothing.
 *
 * Invariants kept here:
 *
 * V1. One step at a time. What comes while a step runs (from a subscriber, an
 *     observer of an actor, a getter of an event) is taken when the step is
 *     complete, in the order in which it came.
 * V2. A step is complete when the state is set, the actors have moved, effects
 *     were asked for and subscribers were told, once. Effects run after that.
 * V3. What host code throws harms nobody: it is a diagnostic.
 * V4. The signal of the host is listened to while a request or a source is
 *     open, and not a moment longer.
 */
import type { Observable } from 'rxjs';
import {
  ConversationClosedError,
  type ConversationError,
  InvalidInputError,
  messageOf,
  StreamBusyError,
} from '../../contract/errors.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import type {
  ConversationChange,
  ConversationDiagnostic,
  ConversationState,
  Folded,
  FoldInput,
  FoldState,
  FoldStep,
  RequestEnd,
} from '../../conversation/index.js';
import { noted } from '../../conversation/note.js';
import type { ActorWatch } from '../actors.js';
import { attempt, isThenable } from '../attempt.js';
import { GuardedObservable } from '../guarded-observable.js';
import { Multicast } from '../multicast.js';
import { assertSource, Consumption, discard, type EventSource } from './consumption.js';
import { LiveActors } from './live-actors.js';
import { assertSignal, type ConversationEffect, type ConversationSettings } from './options.js';
import { Outbox } from './outbox.js';
import { StreamLife } from './stream-life.js';

/** Something to take: for the fold, or the host's wish to close the stream. */
interface Input {
  readonly stream: StreamLife;
  readonly input: FoldInput | 'close';
}

/** Why an input was not taken, or what a strict stream fails with. */
type Refusal = ConversationClosedError | ConversationError | InvalidInputError;

/** The host gives up. */
const cancelled: FoldInput = Object.freeze({ end: 'cancel' });
/** What a diagnostic about host code says is cut to so many characters. */
const maxDetail = 400;
const nothing = () => {};

export class ConversationRuntime implements ActorWatch {
  readonly first: StreamLife;
  /** One value for each event, and for each end that no event said. */
  readonly changes$: Observable<ConversationChange>;
  readonly #settings: ConversationSettings;
  readonly #actors: LiveActors;
  /** Further streams that are not closed. */
  readonly #others = new Map<number, StreamLife>();
  readonly #outbox: Outbox;
  readonly #changes: Multicast<ConversationChange>;
  readonly #onThrow = (thrown: unknown): void => this.threw(thrown);
  readonly #onAbort = (): void => this.close(this.first);
  #state: FoldState;
  #lastStream = 0;
  #isStepping = false;
  #waiting: Input[] | undefined;
  #isListening = false;

  constructor(settings: ConversationSettings) {
    this.#settings = settings;
    this.#state = settings.fold.initial;
    this.#changes = new Multicast(this.#onThrow);
    this.changes$ = new GuardedObservable(
      () => this.#onThrow,
      (subscriber) => this.#changes.subscribe(subscriber),
    );
    this.#outbox = new Outbox(({ effect: _, ...where }, error) => {
      this.#note({ code: 'effect_failed', ...where, detail: detailOf(error) });
    });
    this.#actors = new LiveActors(this, settings.inspect);
    this.first = new StreamLife(0, this.#actors.root);
    this.first.actor.onStop = () => this.close(this.first);
    this.#listen();
  }

  get state(): ConversationState {
    return this.#state.conversation;
  }

  phaseOf({ number, lastPhase }: StreamLife): ConversationState['phase'] {
    return this.#state.phaseOf(number) ?? lastPhase;
  }

  // ── what the host may ask ──

  /** @throws {InvalidInputError} {@link ConversationError} {@link ConversationClosedError} */
  apply(stream: StreamLife, input: FoldInput): void {
    this.#assertOpen(stream);
    const refusal = this.#take({ stream, input });
    if (refusal !== undefined) throw refusal;
  }

  cancel(stream: StreamLife): void {
    if (!stream.isClosed) this.#take({ stream, input: cancelled });
  }

  /** Reads a source to its end. `resolve` is given how the request ended. */
  consume(
    stream: StreamLife,
    source: EventSource<unknown>,
    signal: AbortSignal | undefined,
    resolve: (end: Promise<RequestEnd>) => void,
    reject: (error: unknown) => void,
  ): void {
    assertSource(source);
    assertSignal(signal);
    if (stream.consumption !== undefined) throw new StreamBusyError();
    try {
      this.#assertOpen(stream);
    } catch (error) {
      discard(source);
      throw error;
    }
    stream.consumption = new Consumption(
      {
        take: (event) => this.apply(stream, event as FoldInput),
        end: (end) => {
          const refusal = this.#take({ stream, input: end });
          if (refusal !== undefined) throw refusal;
        },
      },
      signal,
      (error) => {
        stream.consumption = undefined;
        this.#listen();
        if (error === undefined) resolve(stream.ends.current);
        else reject(error);
      },
    );
    this.#listen();
    stream.consumption.start(source);
  }

  /** @throws {ConversationClosedError} */
  open(): StreamLife {
    this.#assertOpen(this.first);
    this.#lastStream++;
    const number = this.#lastStream;
    this.#state = this.#settings.fold.open(this.#state, number);
    const stream = new StreamLife(number, this.#actors.open(number));
    stream.actor.onStop = () => this.close(stream);
    this.#others.set(number, stream);
    this.#listen();
    return stream;
  }

  close(stream: StreamLife): void {
    if (!stream.isClosed) this.#take({ stream, input: 'close' });
  }

  inspect(observer: InspectionObserver): () => void {
    return this.#actors.inspect(observer);
  }

  // ── what host code does wrong (ActorWatch) ──

  threw(thrown: unknown): void {
    this.#note({ code: 'host_callback_threw', event: this.#lastEvent, detail: detailOf(thrown) });
  }

  foreign(actorId: string, eventType: string): void {
    const detail = `actor ${actorId} was sent ${eventType.slice(0, maxDetail)} from outside; it was ignored`;
    this.#note({ code: 'foreign_event', event: this.#lastEvent, detail });
  }

  /** The last one that the first stream has read. */
  get #lastEvent(): number {
    return Math.max(0, this.#state.conversation.position - 1);
  }

  #note(diagnostic: ConversationDiagnostic): void {
    this.#state = noted(this.#state, diagnostic, this.#settings.maxDiagnostics);
  }

  // ── steps ──

  #assertOpen(stream: StreamLife): void {
    const { signal } = this.#settings;
    if (signal?.aborted) this.close(this.first);
    if (stream.isClosed) throw new ConversationClosedError(signal?.aborted ? { cause: signal.reason } : {});
    if (stream.failure !== undefined) throw stream.failure;
  }

  #take(input: Input): Refusal | undefined {
    if (this.#isStepping) {
      this.#waiting ??= [];
      this.#waiting.push(input);
      return undefined;
    }
    this.#isStepping = true;
    const refusal = this.#step(input);
    if (this.#waiting !== undefined) this.#drain();
    this.#isStepping = false;
    this.#outbox.run();
    return refusal;
  }

  #drain(): void {
    for (let next = 0; this.#waiting !== undefined; ) {
      const input = this.#waiting[next++];
      if (input === undefined) {
        this.#waiting = undefined;
        break;
      }
      const refusal = this.#step(input);
      // whoever asked cannot be told any more
      if (refusal instanceof InvalidInputError) this.threw(refusal);
      if (next > 1000) {
        this.#waiting.splice(0, next);
        next = 0;
      }
    }
  }

  #step({ stream, input }: Input): Refusal | undefined {
    if (stream.isClosed) return new ConversationClosedError();
    if (input === 'close') {
      this.#close(stream);
      return undefined;
    }
    let folded: Folded;
    try {
      folded = this.#settings.fold.take(this.#state, input, stream.number);
    } catch (refusal) {
      return refusalOf(refusal, input);
    }
    this.#state = folded.state;
    if (folded.error !== undefined) stream.failure = folded.error;
    this.#perform(folded, stream);
    if (input === cancelled) stream.consumption?.stop();
    else if (folded.error !== undefined) stream.consumption?.stop(folded.error);
    return folded.error;
  }

  #perform(folded: Folded, stream: StreamLife): void {
    let end: RequestEnd | undefined;
    let hasMoved = false;
    for (const step of folded.steps) {
      switch (step.of) {
        case 'stream':
          hasMoved = true;
          if (isFinal(step.snapshot.value)) end = folded.change?.end;
          else stream.ends.renew();
          stream.actor.step(step.type, step.snapshot);
          break;
        case 'transaction':
          this.#actors.stepTransaction(step, stream.actor);
          this.#holdOrRelease(step);
          break;
        case 'action':
          this.#askForEffects(step, folded.change?.event ?? 0);
          break;
      }
    }
    if (end !== undefined) stream.ends.settle(end);
    if (this.#changes.observed && folded.change !== undefined) this.#changes.next(folded.change);
    if (hasMoved) {
      if (this.phaseOf(stream) === 'cancelled') stream.consumption?.stop();
      this.#listen();
    }
  }

  #holdOrRelease({ level, type, snapshot }: Extract<FoldStep, { of: 'transaction' }>): void {
    if (type === undefined) this.#outbox.hold(level);
    else if (snapshot.value === 'committed') this.#outbox.keep(level);
    else if (snapshot.value === 'rolled_back') this.#outbox.drop(level);
  }

  #askForEffects({ action, index, stream, state }: Extract<FoldStep, { of: 'action' }>, event: number): void {
    const where = { event, action: index, ...(stream === 0 ? {} : { stream }) };
    const failed = (error: unknown) => this.#note({ code: 'effect_failed', ...where, detail: detailOf(error) });
    try {
      const asked: unknown = this.#settings.effects?.(action, state());
      if (!Array.isArray(asked)) {
        // an asynchronous function, most likely: what becomes of its promise is of no use
        if (isThenable(asked)) attempt(() => asked, nothing, nothing);
        throw new InvalidInputError('effects', 'a list of functions', asked);
      }
      for (const effect of asked as readonly unknown[]) {
        if (typeof effect === 'function') this.#outbox.add({ effect: effect as ConversationEffect, ...where });
        else failed(new InvalidInputError('effect', 'a function', effect));
      }
    } catch (error) {
      failed(error);
    }
  }

  // ── the end ──

  /** The first stream's end is the conversation's. */
  #close(stream: StreamLife): void {
    const isFirst = stream === this.first;
    for (const closing of isFirst ? [...this.#others.values(), stream] : [stream]) this.#closeStream(closing);
    if (isFirst) this.#changes.complete();
    this.#listen();
  }

  #closeStream(stream: StreamLife): void {
    this.#step({ stream, input: cancelled });
    stream.isClosed = true;
    stream.lastPhase = this.phaseOf(stream);
    if (this.#others.delete(stream.number)) this.#state = this.#settings.fold.drop(this.#state, stream.number);
    this.#actors.close(stream.actor);
  }

  #listen(): void {
    const { signal } = this.#settings;
    if (signal === undefined) return;
    const isWanted = this.#isOpen(this.first) || [...this.#others.values()].some((stream) => this.#isOpen(stream));
    if (isWanted === this.#isListening) return;
    this.#isListening = isWanted;
    if (isWanted) signal.addEventListener('abort', this.#onAbort);
    else signal.removeEventListener('abort', this.#onAbort);
  }

  #isOpen(stream: StreamLife): boolean {
    return !stream.isClosed && (stream.consumption !== undefined || !isFinal(this.phaseOf(stream)));
  }
}

function isFinal(phase: ConversationState['phase']): boolean {
  return phase !== 'awaiting_init' && phase !== 'streaming';
}

/** Looking at what was applied may throw anything. */
function refusalOf(thrown: unknown, found: unknown): Refusal {
  if (thrown instanceof InvalidInputError) return thrown;
  return new InvalidInputError(`response event (reading it threw: ${detailOf(thrown)})`, 'a ResponseEvent', found);
}

function detailOf(thrown: unknown): string {
  return messageOf(thrown).slice(0, maxDetail);
}
