import { JournalClosedError } from '../contract/errors.js';
import type { Journal, JournalEntry, JournalRecord, PayloadPolicy } from '../contract/journal.js';

/** What `memoryJournal` takes. */
export interface MemoryJournalOptions {
  /** Default `hash`. */
  readonly payloads?: PayloadPolicy;
}

/** A journal that lives as long as the process: for tests, for a look at a run, for `verify` right after it. */
export class MemoryJournal implements Journal {
  readonly durable: boolean = false;
  readonly payloads: PayloadPolicy;
  readonly #records: JournalRecord[] = [];
  #isClosed = false;

  constructor({ payloads = 'hash' }: MemoryJournalOptions = {}) {
    this.payloads = payloads;
  }

  /** What was appended, in order. */
  get records(): readonly JournalRecord[] {
    return this.#records;
  }

  append(entry: JournalEntry): number {
    if (this.#isClosed) throw new JournalClosedError();
    const seq = this.#records.length + 1;
    this.#records.push({ seq, ...entry });
    return seq;
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  async *read(): AsyncGenerator<JournalRecord> {
    yield* this.#records;
  }

  /** Nothing can be appended any more; what was is still read. */
  close(): void {
    this.#isClosed = true;
  }
}

/** Makes a journal in memory. */
export function memoryJournal(options?: MemoryJournalOptions): MemoryJournal {
  return new MemoryJournal(options);
}
