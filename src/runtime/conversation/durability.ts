/**
 * What waits until a durable journal has made sure of what it is about.
 *
 * Invariants kept here:
 *
 * H1. What is told behind a commit waits until a flush that was asked for after
 *     the commit was appended has succeeded, and everything behind it waits
 *     too: the order of what is told is that of the steps.
 * H2. One flush at a time: what is appended while one is under way is made sure
 *     of by the next, all of it together.
 * H3. After a failure nothing that waited is told.
 */
import type { Journal } from '../../contract/journal.js';
import { Ring } from '../ring.js';

/** Something that waits. */
interface Held {
  /** How many commits must be durable first. */
  readonly after: number;
  readonly tell: () => void;
  readonly forget: (() => void) | undefined;
}

/** How much may wait before those who read a source wait, too. */
const mostWaiting = 64;
const nothing = () => {};

export class Durability {
  readonly #journal: Journal;
  readonly #told: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #waiting = new Ring<Held>();
  #head: Held | undefined;
  /** Commits that were appended, and those of them that are durable. */
  #appended = 0;
  #durable = 0;
  #isFlushing = false;
  #isTelling = false;
  #isOver = false;
  /** Those who wait until less waits. */
  #readers: (() => void)[] = [];

  /** `told`: something that waited was told. `failed`: a flush has failed; nothing is told from then on. */
  constructor(journal: Journal, told: () => void, failed: (error: unknown) => void) {
    this.#journal = journal;
    this.#told = told;
    this.#failed = failed;
  }

  /** Something was appended that must be durable before anything behind it is told. */
  require(): void {
    this.#appended++;
    this.#flush();
  }

  /** Tells at once, or when everything before it is durable and told; `forget` is called instead if that never comes. */
  tell(tell: () => void, forget?: () => void): void {
    if (this.#isOver) {
      forget?.();
      return;
    }
    if (this.#head === undefined && this.#appended === this.#durable && !this.#isTelling) {
      tell();
      return;
    }
    const held = { after: this.#appended, tell, forget };
    if (this.#head === undefined) this.#head = held;
    else this.#waiting.push(held);
  }

  /** Settles when less waits; `undefined` where little does. */
  get room(): Promise<void> | undefined {
    if (this.#waiting.size < mostWaiting) return undefined;
    return new Promise((resolve) => {
      this.#readers.push(resolve);
    });
  }

  /** The journal has failed: whatever waits is forgotten. */
  close(): void {
    this.#isOver = true;
    for (let held = this.#shift(); held !== undefined; held = this.#shift()) held.forget?.();
    this.#letRead();
  }

  #flush(): void {
    if (this.#isFlushing || this.#isOver || this.#appended === this.#durable) return;
    this.#isFlushing = true;
    const upTo = this.#appended;
    // however a journal answers, it is an answer for later
    new Promise<void>((resolve) => resolve(this.#journal.flush())).then(
      () => this.#flushed(upTo),
      (error: unknown) => this.#failed(error),
    );
  }

  #flushed(upTo: number): void {
    this.#isFlushing = false;
    if (this.#isOver) return;
    this.#durable = upTo;
    // what is appended while this is told has its flush begun
    this.#flush();
    this.#isTelling = true;
    while (this.#head !== undefined && this.#head.after <= this.#durable) (this.#shift() as Held).tell();
    this.#isTelling = false;
    this.#told();
    if (this.#waiting.size < mostWaiting) this.#letRead();
  }

  #shift(): Held | undefined {
    const held = this.#head;
    this.#head = this.#waiting.shift();
    return held;
  }

  #letRead(): void {
    const readers = this.#readers;
    this.#readers = [];
    for (const resolve of readers) resolve();
  }
}

/** A promise that nobody has to look at. */
export function ignorable<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(nothing);
  return promise;
}
