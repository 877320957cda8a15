/**
 * A journal whose records are shown as they are written.
 *
 * T1. Whoever writes meets the journal behind it and nothing else: what it
 *     throws, gives and waits for; showing a record harms nobody.
 */
import type { Journal, JournalEntry, JournalRecord, PayloadPolicy } from '../../contract/journal.js';

/** Is told of a record that was written: its `seq` and `cause` are places of the journal behind it. */
export type ShowRecord = (record: JournalRecord) => void;

export class TeedJournal implements Journal {
  readonly #inner: Journal;
  readonly #show: ShowRecord;

  constructor(inner: Journal, show: ShowRecord) {
    this.#inner = inner;
    this.#show = show;
  }

  get durable(): boolean {
    return this.#inner.durable;
  }

  get payloads(): PayloadPolicy {
    return this.#inner.payloads ?? 'hash';
  }

  append(entry: JournalEntry): number {
    const seq = this.#inner.append(entry);
    try {
      this.#show({ seq, ...entry });
    } catch {
      // it is written; that nobody sees it is no affair of whoever writes
    }
    return seq;
  }

  flush(): Promise<void> {
    return this.#inner.flush();
  }

  read(): AsyncIterable<JournalRecord> {
    return this.#inner.read();
  }
}
