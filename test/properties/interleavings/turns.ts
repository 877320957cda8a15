import type { Scheduler } from 'fast-check';

/** What is taken in turn, and what waits for its turn. */
export class Turns {
  readonly #scheduler: Scheduler;
  readonly #taken = new Map<string, number>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Resolves when the scheduler says so. */
  wait(label: string): Promise<void> {
    return this.#scheduler.schedule(Promise.resolve(), label);
  }

  /** How often this was asked before. */
  count(what: string): number {
    const taken = this.#taken.get(what) ?? 0;
    this.#taken.set(what, taken + 1);
    return taken;
  }

  /** The next of a list that is gone through again and again. */
  next<Item>(what: string, items: readonly Item[]): Item {
    return items[this.count(what) % items.length] as Item;
  }
}
