/**
 * Effects on their way: held while what they belong to is provisional, then
 * run one after another.
 *
 * Invariants kept here:
 *
 * O1. An effect that was added while a transaction is open runs only if that
 *     transaction is kept, and every one around it; else it is forgotten (C7).
 * O2. Effects run in the order in which they were added, each once, the next
 *     one when the one before has settled. What one throws stops none.
 */
import { adopted, isThenable } from '../attempt.js';
import { Ring } from '../ring.js';
import type { ConversationEffect } from './options.js';

/** An effect, and the action that it belongs to. */
export interface PendingEffect {
  readonly effect: ConversationEffect;
  /** Absent for the first. */
  readonly stream?: number;
  /** Of its stream. */
  readonly event: number;
  /** Of its event. */
  readonly action: number;
}

export class Outbox {
  readonly #failed: (pending: PendingEffect, error: unknown) => void;
  /** One list for each open transaction, the outermost first. */
  #held: PendingEffect[][] = [];
  readonly #released = new Ring<PendingEffect>();
  #isRunning = false;

  /** `failed` is told of an effect that threw or rejected. */
  constructor(failed: (pending: PendingEffect, error: unknown) => void) {
    this.#failed = failed;
  }

  /** A transaction has begun, at this level. */
  hold(level: number): void {
    this.#held[level] = [];
  }

  /** The transaction at this level is kept. */
  keep(level: number): void {
    const kept = this.#held.splice(level).flat();
    for (const pending of kept) this.add(pending);
  }

  /** The transaction at this level is rolled back. */
  drop(level: number): void {
    this.#held.splice(level);
  }

  add(pending: PendingEffect): void {
    const held = this.#held.at(-1);
    if (held === undefined) this.#released.push(pending);
    else held.push(pending);
  }

  /** Runs what is released, unless that is going on. Never throws. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#runOn();
  }

  #runOn(): void {
    for (let pending = this.#released.shift(); pending !== undefined; pending = this.#released.shift()) {
      const failing = pending;
      try {
        const answer: unknown = pending.effect();
        if (!isThenable(answer)) continue;
        adopted(answer)
          .then(undefined, (error: unknown) => this.#failed(failing, error))
          .then(() => this.#runOn());
        return;
      } catch (thrown) {
        this.#failed(failing, thrown);
      }
    }
    this.#isRunning = false;
  }
}
