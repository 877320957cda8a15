/**
 * A journal in memory.
 *
 * Invariants kept here:
 *
 * N1. It holds the last `maxRecords` records at most; the oldest go, and the
 *     `seq` of the first one that is left shows how many.
 * N2. A reader gets what was appended before it asked, in order, without what
 *     went before it came to it.
 */
import { InvalidInputError, JournalClosedError } from '../contract/errors.js';
import type { Journal, JournalEntry, JournalRecord, PayloadPolicy } from '../contract/journal.js';

/** What `memoryJournal` takes. */
export interface MemoryJournalOptions {
  /** Default `hash`. */
  readonly payloads?: PayloadPolicy;
  /** How many records are held; beyond them the oldest go. `Infinity`: all. Default 1,000,000. */
  readonly maxRecords?: number;
}

/** A journal that lives as long as the process: for tests, for a look at a run, for `verify` right after it. */
export class MemoryJournal implements Journal {
  readonly durable: boolean = false;
  readonly payloads: PayloadPolicy;
  readonly maxRecords: number;
  /** The records that are held are those from `#first` on. */
  readonly #records: JournalRecord[] = [];
  #first = 0;
  #seq = 0;
  #isClosed = false;

  /** @throws {InvalidInputError} when `maxRecords` is no integer from 1 on, and not `Infinity` */
  constructor({ payloads = 'hash', maxRecords = 1_000_000 }: MemoryJournalOptions = {}) {
    if (!(maxRecords >= 1) || (maxRecords !== Number.POSITIVE_INFINITY && !Number.isInteger(maxRecords))) {
      throw new InvalidInputError('option maxRecords', 'an integer from 1 on, or Infinity', maxRecords);
    }
    this.payloads = payloads;
    this.maxRecords = maxRecords;
  }

  /** What was appended, in order, as far as it is held. The list changes with the journal. */
  get records(): readonly JournalRecord[] {
    this.#tidy();
    return this.#records;
  }

  append(entry: JournalEntry): number {
    if (this.#isClosed) throw new JournalClosedError();
    const seq = ++this.#seq;
    this.#records.push(placed(seq, entry));
    if (this.#records.length - this.#first > this.maxRecords) {
      this.#first++;
      // so that each record is moved once, on the average
      if (this.#first > this.maxRecords) this.#tidy();
    }
    return seq;
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  read(): AsyncGenerator<JournalRecord> {
    return this.#read(this.#seq);
  }

  async *#read(last: number): AsyncGenerator<JournalRecord> {
    for (let seq = 1; seq <= last; seq++) {
      const oldest = this.#seq - (this.#records.length - this.#first) + 1;
      seq = Math.max(seq, oldest);
      const record = this.#records[this.#first + seq - oldest];
      if (record === undefined || seq > last) return;
      yield record;
    }
  }

  /** Nothing can be appended any more; what was is still read. */
  close(): void {
    this.#isClosed = true;
  }

  #tidy(): void {
    if (this.#first === 0) return;
    this.#records.splice(0, this.#first);
    this.#first = 0;
  }
}

/** Named one by one: older engines spread slowly. */
function placed(seq: number, entry: JournalEntry): JournalRecord {
  const { at, actor, kind, event, from, to, cause, did, passed, data } = entry;
  if (data === undefined) {
    if (passed === undefined) return { seq, at, actor, kind, event, from, to, cause, did };
    return { seq, at, actor, kind, event, from, to, cause, did, passed };
  }
  if (passed === undefined) return { seq, at, actor, kind, event, from, to, cause, did, data };
  return { seq, at, actor, kind, event, from, to, cause, did, data, passed };
}

/**
 * Makes a journal in memory.
 *
 * @throws {InvalidInputError} when `maxRecords` is no integer from 1 on, and not `Infinity`
 */
export function memoryJournal(options?: MemoryJournalOptions): MemoryJournal {
  return new MemoryJournal(options);
}
