/**
 * Messages that wait to be sent, in their order, within a bound.
 *
 * Q1. Where it gets too much, the oldest go; those that tell of an actor go
 *     last, since a page can make nothing of an actor that it does not know.
 * Q2. Every message that was dropped is counted.
 */
import type { Written } from './messages.js';

interface Waiting extends Written {
  /** Its place in the order. */
  readonly nth: number;
}

export class MessageQueue {
  readonly #maxMessages: number;
  readonly #maxBytes: number;
  readonly #actors = new Line();
  readonly #data = new Line();
  #last = 0;
  #bytes = 0;
  dropped = 0;
  /** Of the last message that was dropped. */
  droppedRoot = '';

  constructor(maxMessages: number, maxBytes: number) {
    this.#maxMessages = maxMessages;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#actors.size + this.#data.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push({ text, isActor, rootId }: Written): void {
    this.#last++;
    (isActor ? this.#actors : this.#data).push({ text, isActor, rootId, nth: this.#last });
    this.#bytes += bytesOf(text);
    while (this.size > this.#maxMessages || this.#bytes > this.#maxBytes) this.#drop();
  }

  /** The oldest, still in its place. */
  get first(): Written | undefined {
    const actor = this.#actors.first;
    const data = this.#data.first;
    if (actor === undefined || data === undefined) return actor ?? data;
    return actor.nth < data.nth ? actor : data;
  }

  /** Takes out the first. */
  shift(): void {
    const { first } = this;
    if (first === undefined) return;
    (first.isActor ? this.#actors : this.#data).shift();
    this.#bytes -= bytesOf(first.text);
  }

  /** Drops all. */
  clear(): void {
    while (this.size > 0) this.#drop();
  }

  #drop(): void {
    const line = this.#data.size > 0 ? this.#data : this.#actors;
    const gone = line.shift() as Waiting;
    this.#bytes -= bytesOf(gone.text);
    this.dropped++;
    this.droppedRoot = gone.rootId;
  }
}

/** As an engine holds text at most. */
const bytesOf = (text: string) => text.length * 2;

/** First in, first out; taking costs the same however many wait. */
class Line {
  #items: (Waiting | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get first(): Waiting | undefined {
    return this.#items[this.#head];
  }

  push(item: Waiting): void {
    this.#items.push(item);
  }

  shift(): Waiting | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#items[this.#head] = undefined;
    this.#head++;
    // the places of those that are gone are given back, each at most once
    if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
