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
 * O3. An effect that is not let start (its start cannot be recorded) does not
 *     run, nor does any behind it.
 */
import { adopted, isThenable } from '../attempt.js';
import { Ring } from '../ring.js';
import type { ConversationEffect } from './options.js';
import type { StreamLife } from './stream-life.js';

/** An effect, and the action that it belongs to. */
export interface PendingEffect {
  readonly effect: ConversationEffect;
  /** Its stream, which may have been closed since. */
  readonly life: StreamLife;
  /** Absent for the first. */
  readonly stream?: number;
  /** Of its stream. */
  readonly event: number;
  /** Of its event. */
  readonly action: number;
}

const none: readonly PendingEffect[] = Object.freeze([]);

export class Outbox {
  readonly #starts: (pending: PendingEffect) => boolean;
  readonly #failed: (pending: PendingEffect, error: unknown) => void;
  /** One list for each open transaction, the outermost first. */
  #held: PendingEffect[][] = [];
  /** May run as soon as the step at hand is told of. */
  #free: PendingEffect[] = [];
  readonly #released = new Ring<PendingEffect>();
  #isRunning = false;
  #isClosed = false;

  /** `starts` is told before an effect runs, and says whether it may; `failed` of one that threw or rejected. */
  constructor(starts: (pending: PendingEffect) => boolean, failed: (pending: PendingEffect, error: unknown) => void) {
    this.#starts = starts;
    this.#failed = failed;
  }

  /** Whether effects wait for a commit. */
  get holds(): boolean {
    return this.#held.length > 0;
  }

  /** A transaction has begun, at this level. */
  hold(level: number): void {
    this.#held[level] = [];
  }

  /** The transaction at this level is kept. Gives what is free now. */
  keep(level: number): readonly PendingEffect[] {
    const kept = this.#held.splice(level).flat();
    for (const pending of kept) this.add(pending);
    return this.holds ? none : kept;
  }

  /** The transaction at this level is rolled back. Gives what is gone. */
  drop(level: number): readonly PendingEffect[] {
    return this.#held.splice(level).flat();
  }

  add(pending: PendingEffect): void {
    (this.#held.at(-1) ?? this.#free).push(pending);
  }

  /** What became free since this was asked. */
  takeFree(): readonly PendingEffect[] {
    if (this.#free.length === 0) return none;
    const free = this.#free;
    this.#free = [];
    return free;
  }

  /** These may run, behind those before them. */
  release(effects: readonly PendingEffect[]): void {
    if (!this.#isClosed) for (const pending of effects) this.#released.push(pending);
  }

  /** Nothing runs any more but what runs already. */
  close(): void {
    this.#isClosed = true;
    this.#held = [];
    this.#free = [];
    this.#released.clear();
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
      if (!this.#starts(pending)) break;
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
