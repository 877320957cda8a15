import type { BidiEvent, BidiEventIterator } from '../../contract/provider.js';

/** How much may wait unread. */
export interface QueueLimits {
  readonly events: number;
  /** Characters of the texts and the audio in them. */
  readonly characters: number;
}

/** Events of one session on their way to its one reader. A reader that leaves may come back. */
export class EventQueue implements AsyncIterable<BidiEvent>, BidiEventIterator {
  #events: (BidiEvent | undefined)[] = [];
  #next = 0;
  #characters = 0;
  #ended = false;
  readonly #readers: ((result: IteratorResult<BidiEvent, undefined>) => void)[] = [];

  constructor(readonly limits: QueueLimits) {}

  /** How many events wait. */
  get size(): number {
    return this.#events.length - this.#next;
  }

  /** Whether one more event fits. */
  get hasRoom(): boolean {
    return this.size < this.limits.events && this.#characters < this.limits.characters;
  }

  push(event: BidiEvent): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ done: false, value: event });
      return;
    }
    this.#events.push(event);
    this.#characters += sizeOf(event);
  }

  /** Nothing comes any more; what waits can still be read. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  /** Nothing comes any more, and nothing of what waits is read. */
  drop(): void {
    this.#events = [];
    this.#next = 0;
    this.#characters = 0;
    this.end();
  }

  next(): Promise<IteratorResult<BidiEvent, undefined>> {
    const event = this.takeWaiting();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** The event that `next` would give now, if one waits. */
  takeWaiting(): BidiEvent | undefined {
    const event = this.#events[this.#next];
    if (event !== undefined) this.#taken(event);
    return event;
  }

  return(): Promise<IteratorResult<BidiEvent, undefined>> {
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #taken(event: BidiEvent): void {
    this.#events[this.#next++] = undefined;
    this.#characters -= sizeOf(event);
    if (this.#next === this.#events.length) {
      this.#events = [];
      this.#next = 0;
    } else if (this.#next >= 1024 && this.#next * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#next);
      this.#next = 0;
    }
  }
}

function sizeOf(event: BidiEvent): number {
  if (event.type === 'audio') return event.data.length;
  if (event.type === 'tool_call') return event.arguments.length;
  return event.type === 'text' || event.type === 'input_text' ? event.text.length : 0;
}
