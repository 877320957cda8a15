import { MemoryJournal, type MemoryJournalOptions } from '../journal/index.js';

/** A journal in memory whose flushes somebody has in hand. */
export class HandJournal extends MemoryJournal {
  override readonly durable: boolean;
  readonly #onFlush: () => Promise<void>;

  constructor(durable: boolean, onFlush: () => Promise<void>, options?: MemoryJournalOptions) {
    super(options);
    this.durable = durable;
    this.#onFlush = onFlush;
  }

  override flush(): Promise<void> {
    return this.#onFlush();
  }
}
