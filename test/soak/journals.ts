/** Journals that fail when their seed says so; what they hold stays readable. */
import { JournalFailedError } from '../../src/contract/errors.js';
import type { JournalEntry } from '../../src/contract/journal.js';
import { MemoryJournal } from '../../src/journal/index.js';
import type { Random } from '../crash/random.js';
import { Fault, later } from './far-side.js';

/** A journal of one session. */
export class ShakyJournal extends MemoryJournal {
  override readonly durable: boolean;
  readonly #random: Random;
  readonly #fails: 'never' | 'append' | 'flush' | 'hang';
  #left: number;
  #isBroken = false;

  constructor(random: Random) {
    super({ payloads: random.one(['keep', 'hash', 'omit'] as const) });
    this.#random = random;
    this.durable = random.chance(0.6);
    this.#fails = random.one(['never', 'never', 'never', 'append', 'flush', 'hang'] as const);
    this.#left = random.below(60);
  }

  override append(entry: JournalEntry): number {
    if (this.#isBroken || (this.#fails === 'append' && this.#left-- <= 0)) throw this.#broken();
    return super.append(entry);
  }

  override async flush(): Promise<void> {
    if (this.#random.chance(0.5)) await later(this.#random.below(4));
    if (this.#fails === 'hang' && this.#left-- <= 0) return new Promise(() => {});
    if (this.#isBroken || (this.#fails === 'flush' && this.#left-- <= 0)) throw this.#broken();
  }

  #broken(): JournalFailedError {
    this.#isBroken = true;
    return new JournalFailedError('shaky', new Fault('the disk is full'));
  }
}
