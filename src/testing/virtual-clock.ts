import type { Clock } from '../contract/clock.js';

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock held in the hand: time stands still until it is moved. Starts at 0. */
export class VirtualClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #timers = new Map<number, Timer>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const order = ++this.#order;
    this.#timers.set(order, { due: this.#now + ms, order, callback });
    return order;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Moves time on by `ms` milliseconds, from timer to timer: by due time, then
   * by order of setting. After each one `settle` runs; timers that are set on
   * the way and come due are run too.
   */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const until = this.#now + ms;
    for (let timer = this.#nextUntil(until); timer !== undefined; timer = this.#nextUntil(until)) {
      this.#timers.delete(timer.order);
      this.#now = Math.max(this.#now, timer.due);
      timer.callback();
      await settle();
    }
    this.#now = until;
  }

  #nextUntil(until: number): Timer | undefined {
    let next: Timer | undefined;
    // the map is in order of setting, so of equal due times the first stays
    for (const timer of this.#timers.values()) {
      if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer;
    }
    return next;
  }
}
