/**
 * One source that a stream reads.
 *
 * Invariants kept here:
 *
 * I1. One event is asked for at a time, and each is taken before the next is
 *     asked for; none while too much of what was taken waits to be told.
 * I2. Reading stops once: the source is released then, unless it ended or
 *     failed by itself, and nothing that it still gives is looked at.
 * I3. Nothing that a source does reaches anybody but as an end of the input,
 *     and to stop waits for nothing that a source does.
 */
import { InvalidInputError, isCommitpointError, messageOf } from '../../contract/errors.js';
import type { FoldEnd } from '../../conversation/index.js';
import { addAbortListener, removeAbortListener } from '../abort-listeners.js';
import { adopted, attempt } from '../attempt.js';

/** What is read: anything that can be iterated over. */
export type EventSource<Event> = AsyncIterable<Event> | Iterable<Event>;

/** Who the events are for. Both throw what ends the reading. */
export interface EventTaker {
  /** Takes what the source gave, whatever it is. May stop the reading. */
  take(event: unknown): void;
  end(end: FoldEnd): void;
  /** What to wait for before the next event is asked for; `undefined` for nothing. It resolves, at the latest when reading stops. */
  room(): Promise<void> | undefined;
}

type Opened = AsyncIterator<unknown> | Iterator<unknown>;

/** What a failure says is cut to so many characters. */
const maxMessage = 1000;

export class Consumption {
  readonly #taker: EventTaker;
  readonly #signal: AbortSignal | undefined;
  readonly #whenStopped: (error: unknown) => void;
  #iterator: Opened | undefined;
  #isReading = true;
  readonly #onResult = (result: unknown): void => this.#received(result);
  readonly #onFailure = (error: unknown): void => this.#sourceFailed(error);
  readonly #onAbort = (): void => this.#end({ end: 'cancel' });

  /** `whenStopped` is told once that reading has stopped, with what the taker threw, or `undefined`. */
  constructor(taker: EventTaker, signal: AbortSignal | undefined, whenStopped: (error: unknown) => void) {
    this.#taker = taker;
    this.#signal = signal;
    this.#whenStopped = whenStopped;
  }

  /** Opens the source and begins to read. */
  start(source: EventSource<unknown>): void {
    try {
      this.#iterator = opened(source);
    } catch (error) {
      this.#sourceFailed(error);
      return;
    }
    if (this.#signal?.aborted) {
      this.#end({ end: 'cancel' });
      return;
    }
    if (this.#signal !== undefined) addAbortListener(this.#signal, this.#onAbort);
    this.#pull();
  }

  /** Stops the reading and lets the source know. */
  stop(error?: unknown): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (this.#signal !== undefined) removeAbortListener(this.#signal, this.#onAbort);
    if (this.#iterator !== undefined) released(this.#iterator);
    this.#iterator = undefined;
    this.#whenStopped(error);
  }

  #pull(): void {
    const iterator = this.#iterator;
    if (!this.#isReading || iterator === undefined) return;
    try {
      adopted(iterator.next()).then(this.#onResult, this.#onFailure);
    } catch (error) {
      this.#sourceFailed(error);
    }
  }

  #received(result: unknown): void {
    if (!this.#isReading) return;
    let event: unknown;
    try {
      if (typeof result !== 'object' || result === null) {
        throw new InvalidInputError('source', 'the results of an iterator', result);
      }
      const { done, value } = result as IteratorResult<unknown>;
      if (done) {
        this.#iterator = undefined;
        this.#end({ end: 'eof' });
        return;
      }
      event = value;
    } catch (error) {
      this.#end(failureOf(error));
      return;
    }
    try {
      this.#taker.take(event);
    } catch (error) {
      // what is no event is a frame that cannot be read
      if (codeOf(error) === 'invalid_input') this.#end({ end: 'bad_frame', message: clipped(messageOf(error)) });
      else this.stop(error);
      return;
    }
    const room = this.#isReading ? this.#taker.room() : undefined;
    if (room === undefined) this.#pull();
    else room.then(() => this.#pull());
  }

  #sourceFailed(error: unknown): void {
    if (!this.#isReading) return;
    this.#iterator = undefined;
    // a source that listens to the same signal fails of the abort
    this.#end(this.#signal?.aborted ? { end: 'cancel' } : failureOf(error));
  }

  #end(end: FoldEnd): void {
    try {
      this.#taker.end(end);
    } catch (error) {
      this.stop(error);
      return;
    }
    this.stop();
  }
}

/** @throws {InvalidInputError} for what cannot be iterated over; the source is not touched */
export function assertSource(source: unknown): asserts source is EventSource<unknown> {
  if (methodOf(source, Symbol.asyncIterator) ?? methodOf(source, Symbol.iterator)) return;
  throw new InvalidInputError('source', 'an async iterable of response events', source);
}

/** Lets a source know that nobody will read it. */
export function discard(source: EventSource<unknown>): void {
  try {
    released(opened(source));
  } catch {
    // there is nothing to release
  }
}

/** @throws what the source does */
function opened(source: EventSource<unknown>): Opened {
  const open = methodOf(source, Symbol.asyncIterator) ?? methodOf(source, Symbol.iterator);
  const iterator: unknown = open?.call(source);
  if (typeof iterator === 'object' && iterator !== null) return iterator as Opened;
  throw new InvalidInputError('source', 'an iterator', iterator);
}

/** What a source says of its release is of no interest to anybody. */
function released(iterator: Opened): void {
  attempt(
    () => (typeof iterator.return === 'function' ? iterator.return() : undefined),
    () => {},
    () => {},
  );
}

function methodOf(source: unknown, name: symbol): ((this: unknown) => unknown) | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  try {
    const method = (source as Record<symbol, unknown>)[name];
    return typeof method === 'function' ? (method as (this: unknown) => unknown) : undefined;
  } catch {
    return undefined;
  }
}

function failureOf(error: unknown): FoldEnd {
  return { end: codeOf(error) === 'bad_frame' ? 'bad_frame' : 'error', message: clipped(messageOf(error)) };
}

/** The code of an error of ours. */
function codeOf(error: unknown): string | undefined {
  try {
    return isCommitpointError(error) ? error.code : undefined;
  } catch {
    // an error that cannot be looked at
    return undefined;
  }
}

function clipped(message: string): string {
  return message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message;
}
