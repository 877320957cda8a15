/**
 * A journal in a database of SQLite, a row for each record.
 *
 * Invariants kept here:
 *
 * L1. What is appended together is committed together, one transaction for a
 *     group: `flush` resolves when the transaction is on the disk.
 * L2. Nothing is written behind an error, and nothing behind damage.
 * L3. A reader sees the journal as it stood when it began to read.
 * L4. What waits is bounded by `maxBufferedBytes`.
 * L5. A compaction is one transaction.
 *
 * Node's SQLite works in the thread of whoever calls it: a commit stops the
 * program for as long as the disk takes. Where that matters, take the file.
 */
import { isCommitpointError, JournalClosedError, JournalFailedError } from '../../contract/errors.js';
import type { Journal, JournalEntry, JournalRecord, PayloadPolicy } from '../../contract/journal.js';
import { ByteSink } from '../../journal/codec/byte-sink.js';
import { writeRecord } from '../../journal/codec/encoder.js';
import { type Compaction, CompactionRule, type CompactOptions } from '../../journal/compaction.js';
import { type StoreOptions, settingsOf, TooMuchWaits } from '../options.js';
import type { WriterLock } from '../writer-lock.js';
import { type Database, errorOf, pragma, type Statement } from './database.js';
import { recordsOf } from './records-of.js';
import { RowReader } from './rows.js';

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** What is appended and not flushed is written after this, or when so much of it waits. */
const lingerMs = 10;
const lingerBytes = 64 * 1024;
const largestKept = 1024 * 1024;

/** See the head of the file; made by {@link sqliteJournal}. */
export class SqliteJournal implements Journal {
  readonly durable: boolean;
  readonly payloads: PayloadPolicy;
  readonly path: string;
  readonly #maxBufferedBytes: number;
  readonly #lock: WriterLock;
  readonly #database: Database;
  readonly #insert: Statement;
  #seq: number;
  /** The records that wait, one behind the other, and where each ends. */
  #waiting = new ByteSink(lingerBytes);
  #ends: number[] = [];
  #waiters: Waiter[] = [];
  #linger: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  /** While it is set, what is appended waits. */
  #isCompacting = false;
  #compacting: Promise<void> = Promise.resolve();
  #failure: JournalFailedError | undefined;
  #isFailureTold = false;
  #closing: Promise<void> | undefined;

  constructor(path: string, lock: WriterLock, database: Database, lastSeq: number, options: StoreOptions) {
    const { durable, payloads, maxBufferedBytes } = settingsOf(options);
    this.path = path;
    this.durable = durable;
    this.payloads = payloads;
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#lock = lock;
    this.#database = database;
    this.#insert = database.prepare('INSERT INTO records (seq, record) VALUES (?, ?)');
    this.#seq = lastSeq;
  }

  append(entry: JournalEntry): number {
    if (this.#closing !== undefined) throw new JournalClosedError();
    if (this.#failure !== undefined) throw this.#told(this.#failure);
    const seq = this.#seq + 1;
    const sink = this.#waiting;
    const before = sink.length;
    writeRecord(sink, seq, entry);
    if (sink.length > this.#maxBufferedBytes) {
      sink.length = before;
      throw new JournalFailedError(this.path, new TooMuchWaits(this.#maxBufferedBytes));
    }
    this.#ends.push(sink.length);
    this.#seq = seq;
    if (sink.length > lingerBytes) this.#schedule();
    else this.#linger ??= setTimeout(() => this.#commit(), lingerMs);
    return seq;
  }

  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#told(this.#failure));
    if (this.#closing !== undefined) return this.#closing;
    if (this.#ends.length === 0) return Promise.resolve();
    const flushed = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.#schedule();
    return flushed;
  }

  async *read(): AsyncGenerator<JournalRecord> {
    await this.#compacting;
    if (this.#closing === undefined && this.#failure === undefined) this.#commit();
    yield* recordsOf(this.path);
  }

  /**
   * Drops what belongs to sessions that have ended: docs/design/journal.md, *Compaction*. What is appended meanwhile waits.
   *
   * @throws (rejects) {@link JournalFailedError} when it cannot be written: the journal is as it was; {@link JournalDamagedError} when
   *   it cannot be read; {@link JournalClosedError} when it is closed before the end
   */
  compact(options?: CompactOptions): Promise<Compaction> {
    if (this.#closing !== undefined) return Promise.reject(new JournalClosedError());
    const compaction = this.#compacting.then(() => this.#compact(new CompactionRule(options)));
    this.#compacting = compaction.then(ignore, ignore);
    return compaction;
  }

  /**
   * Commits what waits, gives up the database and its lock. Nothing can be appended any more; what was is still read.
   *
   * @throws (rejects) {@link JournalFailedError} when something that was appended could not be written and nobody was told before. Database and lock are given up all the same.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    // it sees that it is not wanted any more, and takes back what it did
    await this.#compacting;
    if (this.#failure === undefined) this.#commit();
    try {
      this.#database.close();
    } catch (thrown) {
      this.#fail(thrown);
    }
    await this.#lock.release().catch((thrown) => void this.#fail(thrown));
    if (this.#failure !== undefined && !this.#isFailureTold) throw this.#told(this.#failure);
  }

  /** With all that is appended until the program comes to a rest. */
  #schedule(): void {
    this.#soon ??= setImmediate(() => this.#commit());
  }

  /** Never throws: an error is the journal's, and told to whoever waits. */
  #commit(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    clearImmediate(this.#soon);
    this.#soon = undefined;
    if (this.#isCompacting || this.#failure !== undefined || this.#ends.length === 0) return;
    const waiters = this.#waiters;
    const first = this.#seq - this.#ends.length + 1;
    try {
      this.#transact(() => {
        let start = 0;
        for (const [index, end] of this.#ends.entries()) {
          this.#insert.run(first + index, this.#waiting.bytes.subarray(start, end));
          start = end;
        }
      });
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    this.#waiters = [];
    this.#ends = [];
    if (this.#waiting.bytes.length > largestKept) this.#waiting = new ByteSink(lingerBytes);
    else this.#waiting.length = 0;
    for (const { resolve } of waiters) resolve();
  }

  #transact(write: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      write();
      this.#database.exec('COMMIT');
    } catch (thrown) {
      this.#rollBack();
      throw thrown;
    }
  }

  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // some errors have done so already
    }
  }

  async #compact(rule: CompactionRule): Promise<Compaction> {
    if (this.#failure !== undefined) throw this.#told(this.#failure);
    this.#commit();
    this.#isCompacting = true;
    try {
      const size = () => pragma(this.#database, 'page_count') * pragma(this.#database, 'page_size');
      const bytesBefore = size();
      await this.#pages((records) => {
        for (const record of records) rule.look(record);
      });
      rule.looked();
      const remove = this.#database.prepare('DELETE FROM records WHERE seq = ?');
      let kept = 0;
      let dropped = 0;
      this.#database.exec('BEGIN IMMEDIATE');
      await this.#pages((records) => {
        for (const record of records) {
          if (rule.keeps(record)) kept++;
          else {
            remove.run(record.seq);
            dropped++;
          }
        }
      });
      this.#database.exec('COMMIT');
      this.#database.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)');
      return { kept, dropped, bytesBefore, bytesAfter: size() };
    } catch (thrown) {
      this.#rollBack();
      if (isCommitpointError(thrown)) throw thrown;
      throw errorOf(thrown, this.path, 0) ?? new JournalFailedError(this.path, thrown);
    } finally {
      this.#isCompacting = false;
      this.#commit();
    }
  }

  /** Goes through all rows, and lets others run between pages. */
  async #pages(take: (records: readonly JournalRecord[]) => void): Promise<void> {
    const reader = new RowReader(this.#database, this.path);
    for (let records = reader.next(); records.length > 0; records = reader.next()) {
      take(records);
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#closing !== undefined) throw new JournalClosedError();
    }
  }

  #fail(cause: unknown): JournalFailedError {
    this.#failure ??= new JournalFailedError(this.path, cause);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { reject } of waiters) reject(this.#told(this.#failure));
    return this.#failure;
  }

  #told(failure: JournalFailedError): JournalFailedError {
    this.#isFailureTold = true;
    return failure;
  }
}

const ignore = () => {};
