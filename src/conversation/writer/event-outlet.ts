/**
 * What was written to a response stream and its reader has not read yet.
 *
 * Invariants kept here:
 *
 * O1. The order of writing is the order of reading, and there is one reader.
 * O2. At most `capacity` events wait, and beside them what ends a transaction
 *     and the stream: two events at most.
 * O3. Whoever waits for room is let go when half of the capacity is free, and
 *     when the reader leaves.
 * O4. After the end nothing is taken in; what waits is still read. After the
 *     reader has left nothing waits.
 */
import type { ResponseEvent } from '../../../proto/index.js';
import { ResponseStreamError } from '../../contract/errors.js';

type Result = IteratorResult<ResponseEvent, undefined>;

const end: Result = Object.freeze({ done: true, value: undefined });
const roomNow = Promise.resolve();

export class EventOutlet implements AsyncIterable<ResponseEvent> {
  readonly #capacity: number;
  #unread: ResponseEvent[] = [];
  /** Those that asked ahead. */
  #waiting: ((result: Result) => void)[] = [];
  #hasReader = false;
  #isLeft = false;
  #hasEnded = false;
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether the reader has left, and nobody will read what is written. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  get isFull(): boolean {
    return this.#unread.length >= this.#capacity;
  }

  /** Fulfilled when half of the capacity is free, or the reader has left; never rejected. */
  get room(): Promise<void> {
    if (this.#hasRoom) return roomNow;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  push(event: ResponseEvent): void {
    if (this.#hasEnded || this.#isLeft) return;
    const wake = this.#waiting.shift();
    if (wake === undefined) this.#unread.push(event);
    else wake({ done: false, value: event });
  }

  /** Nothing more comes. */
  end(): void {
    this.#hasEnded = true;
    for (const wake of this.#waiting.splice(0)) wake(end);
  }

  /** @throws {ResponseStreamError} for a second reader */
  [Symbol.asyncIterator](): AsyncIterator<ResponseEvent, undefined> {
    if (this.#hasReader)
      throw new ResponseStreamError('second_reader', 'expected one reader of its events, found a second');
    this.#hasReader = true;
    return { next: () => this.#next(), return: () => this.#leave() };
  }

  get #hasRoom(): boolean {
    return this.#isLeft || this.#unread.length * 2 <= this.#capacity;
  }

  #next(): Promise<Result> {
    const event = this.#unread.shift();
    if (event !== undefined) {
      if (this.#hasRoom) this.#giveRoom();
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#hasEnded || this.#isLeft) return Promise.resolve(end);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #leave(): Promise<Result> {
    this.#isLeft = true;
    this.#unread = [];
    for (const wake of this.#waiting.splice(0)) wake(end);
    this.#giveRoom();
    return Promise.resolve(end);
  }

  #giveRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
