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
 * V2. A step is complete when the state is set, effects were asked for, it was
 *     written, the actors have moved and subscribers were told, once, in this
 *     order. Effects run after that. With a durable journal subscribers may be
 *     told later, and the effects run then.
 * V3. What host code throws harms nobody: it is a diagnostic.
 * V4. The signal of the host is listened to while a request or a source is
 *     open, and not a moment longer.
 * V5. A conversation whose journal has failed takes nothing, tells nothing and
 *     runs nothing more: its requests were cut off, and whoever waits for one of
 *     them is told so.
 */
import type { Observable } from 'rxjs';
import {
  ConversationClosedError,
  type ConversationError,
  InvalidInputError,
  type JournalFailedError,
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
  RequestEnd,
} from '../../conversation/index.js';
import { noted } from '../../conversation/note.js';
import { endOf, failureOf } from '../../conversation/restore.js';
import { addAbortListener, removeAbortListener } from '../abort-listeners.js';
import type { ActorSystem, ActorWatch } from '../actors.js';
import { GuardedObservable } from '../guarded-observable.js';
import { Multicast } from '../multicast.js';
import { fresh } from '../options.js';
import { assertSource, Consumption, discard, type EventSource } from './consumption.js';
import { type EffectPlace, HostEffects } from './host-effects.js';
import { LiveActors } from './live-actors.js';
import { assertSignal, type ConversationSettings } from './options.js';
import { Outbox, type PendingEffect } from './outbox.js';
import { Recording, type RecordingWatch } from './recording.js';
import { StreamLife } from './stream-life.js';

/** Something to take: for the fold, the host's wish to close the stream, or that the journal has failed. */
interface Input {
  readonly stream: StreamLife;
  readonly input: FoldInput | typeof close | typeof journalFailed;
}

/** Why an input was not taken, or what a strict stream fails with. */
type Refusal = ConversationClosedError | ConversationError | InvalidInputError | JournalFailedError;

/** Inputs that no host can hand in: it closes the stream; the journal has failed. */
const close: unique symbol = Symbol('close');
const journalFailed: unique symbol = Symbol('journal failed');
/** The host gives up. */
const cancelled: FoldInput = Object.freeze({ end: 'cancel' });
/** What brings the actor of a stream where a request ended. */
const endedBy = {
  finished: 'finished_done',
  failed: 'finished_failed',
  truncated: 'end_of_input',
  cancelled: 'host_cancel',
} as const;
const none: readonly PendingEffect[] = Object.freeze([]);
/** What a diagnostic about host code says is cut to so many characters. */
const maxDetail = 400;

/** Who a conversation belongs to, where that is not the host alone. */
export interface ConversationAbove {
  /** Under which the conversation's actor is shown. */
  readonly system: ActorSystem;
  /** It is closed; called once, within a step. */
  ended(): void;
}

export class ConversationRuntime implements ActorWatch, RecordingWatch {
  readonly first: StreamLife;
  /** One value for each event, and for each end that no event said. */
  readonly changes$: Observable<ConversationChange>;
  readonly #settings: ConversationSettings;
  readonly #actors: LiveActors;
  /** Further streams that are not closed. */
  readonly #others = new Map<number, StreamLife>();
  readonly #outbox: Outbox;
  readonly #book: HostEffects | undefined;
  readonly #recording: Recording | undefined;
  readonly #changes: Multicast<ConversationChange>;
  readonly #onThrow = (thrown: unknown): void => this.threw(thrown);
  readonly #onAbort = (): void => this.close(this.first);
  #state: FoldState;
  #id: string | undefined;
  #lastStream: number;
  #isStepping = false;
  #waiting: Input[] | undefined;
  #isListening = false;

  readonly #above: ConversationAbove | undefined;

  constructor(settings: ConversationSettings, above?: ConversationAbove) {
    this.#above = above;
    const { initial, effects, journal, id, from } = settings;
    this.#settings = settings;
    this.#state = initial;
    this.#id = id;
    this.#lastStream = from?.lastStream ?? 0;
    this.#changes = new Multicast(this.#onThrow);
    this.changes$ = new GuardedObservable(
      () => this.#onThrow,
      (subscriber) => this.#changes.subscribe(subscriber),
    );
    const failed = (where: EffectPlace, error: unknown) =>
      this.#note({ code: 'effect_failed', ...where, detail: detailOf(error) });
    this.#outbox = new Outbox(
      (pending) => this.#mayRun(pending),
      ({ effect: _, life: __, ...where }, error) => failed(where, error),
    );
    if (effects !== undefined) this.#book = new HostEffects(effects, this.#outbox, failed);
    if (journal !== undefined) {
      const { fold, maxDiagnostics, clock } = settings;
      const life = { id: this.id, journal, now: () => clock.now(), fold, maxDiagnostics, from };
      this.#recording = new Recording(life, this.#book, this);
      this.#recording.begin(this.state);
    }
    this.#actors = new LiveActors(this, settings.inspect, from?.lastTransaction ?? 0, above?.system);
    this.first = new StreamLife(0, this.#actors.root);
    this.first.actor.onStop = () => this.close(this.first);
    if (from !== undefined) this.#goOn();
    this.#listen();
  }

  /** Where another process left it. */
  #goOn(): void {
    const end = endOf(this.#state);
    this.first.failure = failureOf(this.#state);
    if (end === undefined) return;
    this.first.ends.settle(end)();
    this.first.actor.step(endedBy[end.phase], this.#state.parts.first.snapshot);
  }

  /** In the journal. */
  get id(): string {
    this.#id ??= fresh('con_');
    return this.#id;
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
        room: () => this.#recording?.room,
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
    if (!stream.isClosed) this.#take({ stream, input: close });
  }

  flush(): Promise<void> {
    return this.#recording?.flush() ?? Promise.resolve();
  }

  /** Tells an observer what lives: the streams and the transactions. */
  announce(observer: InspectionObserver): void {
    this.#actors.announce(observer);
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

  // ── what the journal does (RecordingWatch) ──

  told(): void {
    this.#outbox.run();
  }

  journalFailed(): void {
    this.#take({ stream: this.first, input: journalFailed });
  }

  // ── steps ──

  #assertOpen(stream: StreamLife): void {
    const { signal } = this.#settings;
    if (signal?.aborted) this.close(this.first);
    if (stream.isClosed) {
      throw this.#recording?.failure ?? new ConversationClosedError(signal?.aborted ? { cause: signal.reason } : {});
    }
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
    if (input === journalFailed) return this.#fail();
    if (stream.isClosed) return this.#recording?.failure ?? new ConversationClosedError();
    if (input === close) {
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
    if (this.#recording?.failure !== undefined) return this.#fail();
    if (input === cancelled) stream.consumption?.stop();
    else if (folded.error !== undefined) stream.consumption?.stop(folded.error);
    return folded.error;
  }

  #perform(folded: Folded, stream: StreamLife): void {
    const isWritten = this.#write(folded, stream);
    let end: RequestEnd | undefined;
    let hasMoved = false;
    for (const step of folded.trace) {
      if (step.of === 'stream') {
        hasMoved = true;
        if (isFinal(step.snapshot.value)) end = folded.change?.end;
        else stream.ends.renew();
        stream.actor.step(step.type, step.snapshot);
      } else if (step.of === 'transaction') this.#actors.stepTransaction(step, stream.actor);
    }
    const tellEnd = end === undefined ? undefined : stream.ends.settle(end);
    const effects = this.#book === undefined ? none : this.#outbox.takeFree();
    // what was not written is not told; but nobody waits for ever
    if (!isWritten) tellEnd?.();
    else if (this.#recording === undefined) this.#tell(folded, tellEnd, effects);
    else this.#recording.tell(() => this.#tell(folded, tellEnd, effects), tellEnd);
    if (hasMoved) {
      if (this.phaseOf(stream) === 'cancelled') stream.consumption?.stop();
      this.#listen();
    }
  }

  /** Asks the host for effects, and writes the step down. Gives whether that went well. */
  #write(folded: Folded, stream: StreamLife): boolean {
    if (this.#book !== undefined && folded.trace.length > 0) this.#book.at(stream, folded.change?.event ?? 0);
    if (this.#recording !== undefined) return this.#recording.step(folded);
    if (this.#book !== undefined) for (const step of folded.steps) this.#book.take(step);
    return true;
  }

  #tell(folded: Folded, tellEnd: (() => void) | undefined, effects: readonly PendingEffect[]): void {
    tellEnd?.();
    if (this.#changes.observed && folded.change !== undefined) this.#changes.next(folded.change);
    this.#outbox.release(effects);
  }

  #mayRun({ life, ...place }: PendingEffect): boolean {
    const isRecorded = this.#recording?.effect(place, this.phaseOf(life)) ?? true;
    if (!isRecorded) this.journalFailed();
    return isRecorded;
  }

  // ── the end ──

  /** The first stream's end is the conversation's. */
  #close(stream: StreamLife): void {
    const isFirst = stream === this.first;
    for (const closing of isFirst ? [...this.#others.values(), stream] : [stream]) this.#closeStream(closing);
    if (isFirst) this.#complete();
    this.#listen();
    if (isFirst) this.#above?.ended();
  }

  #complete(): void {
    const complete = () => this.#changes.complete();
    if (this.#recording === undefined) complete();
    else this.#recording.tell(complete, complete);
  }

  /** The journal takes no more: as if every source had broken off, and the host had closed it then. */
  #fail(): Refusal | undefined {
    const failure = this.#recording?.failure;
    this.#outbox.close();
    for (const stream of [...this.#others.values(), this.first]) {
      if (stream.isClosed) continue;
      const folded = this.#settings.fold.take(
        this.#state,
        { end: 'error', message: messageOf(failure) },
        stream.number,
      );
      this.#state = folded.state;
      this.#perform(folded, stream);
      this.#forget(stream);
      stream.consumption?.stop(failure);
    }
    this.#recording?.close();
    this.#changes.complete();
    this.#listen();
    this.#above?.ended();
    return failure;
  }

  #closeStream(stream: StreamLife): void {
    this.#step({ stream, input: cancelled });
    // a journal that failed of it has closed it already
    if (!stream.isClosed) this.#forget(stream);
  }

  #forget(stream: StreamLife): void {
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
    if (isWanted) addAbortListener(signal, this.#onAbort);
    else removeAbortListener(signal, this.#onAbort);
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
