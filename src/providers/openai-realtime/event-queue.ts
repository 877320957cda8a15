import type { BidiEvent, BidiEventIterator } from '../../contract/provider.js';

interface Waiting {
  resolve(result: IteratorResult<BidiEvent, undefined>): void;
}

/**
 * Events on their way to the one reader, in order. Ends once.
 *
 * At most `limit` wait unread; whoever pushes is told when there is no room.
 */
export class EventQueue implements AsyncIterable<BidiEvent>, BidiEventIterator {
  #events: (BidiEvent | undefined)[] = [];
  #next = 0;
  #ended = false;
  #readers: Waiting[] = [];

  constructor(readonly limit: number) {}

  /** How many events wait unread. */
  get size(): number {
    return this.#events.length - this.#next;
  }

  /** Hands an event on, whatever the limit. Whether there is room for another. */
  push(event: BidiEvent): boolean {
    if (this.#ended) return true;
    const reader = this.#readers.shift();
    if (reader === undefined) this.#events.push(event);
    else reader.resolve({ done: false, value: event });
    return this.size < this.limit;
  }

  /** Nothing comes any more. `unread`: whether the events that wait are still given. */
  end(unread: 'kept' | 'dropped'): void {
    this.#ended = true;
    if (unread === 'dropped') {
      this.#events = [];
      this.#next = 0;
    }
    for (const reader of this.#readers) reader.resolve({ done: true, value: undefined });
    this.#readers = [];
  }

  next(): Promise<IteratorResult<BidiEvent, undefined>> {
    const event = this.takeWaiting();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push({ resolve }));
  }

  /** The event that `next` would give now, if one waits. */
  takeWaiting(): BidiEvent | undefined {
    const event = this.#events[this.#next];
    if (event === undefined) return undefined;
    this.#events[this.#next++] = undefined;
    if (this.#next === this.#events.length) {
      this.#events = [];
      this.#next = 0;
    } else if (this.#next >= 1024) {
      this.#events = this.#events.slice(this.#next);
      this.#next = 0;
    }
    return event;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
