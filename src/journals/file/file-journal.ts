/**
 * A journal in a file.
 *
 * Invariants kept here:
 *
 * G1. One group is on its way at a time: what is appended meanwhile goes with
 *     the next. The file grows in the order of the appends.
 * G2. `flush` resolves when all that was appended before it is in the file, and,
 *     in a durable journal, would survive a power cut.
 * G3. Nothing is written behind an error: after the first one every flush rejects
 *     and every append throws. What was flushed before is safe.
 * G4. What waits is bounded by `maxBufferedBytes`; an append beyond it is an
 *     error like any other.
 * G5. Nothing is written behind damage, and a torn tail is cut off before the
 *     first write.
 */
import { JournalClosedError, JournalFailedError } from '../../contract/errors.js';
import type { Journal, JournalEntry, JournalRecord, PayloadPolicy } from '../../contract/journal.js';
import { ByteSink } from '../../journal/codec/byte-sink.js';
import type { WriterLock } from '../writer-lock.js';
import { type Disk, type DiskFile, writeAll } from './disk.js';
import { writeFrame } from './format.js';
import { recordsOf } from './record-stream.js';

/** What {@link fileJournal} takes. */
export interface FileJournalOptions {
  /** Default `hash`. */
  readonly payloads?: PayloadPolicy;
  /** Whether `flush` waits for the disk, and so survives a power cut; without, for the system only. Default `true`. */
  readonly durable?: boolean;
  /** How much may wait to be written, in bytes; an append beyond it fails. Default 64 MiB. */
  readonly maxBufferedBytes?: number;
}

/** Where a file stands when it is opened to be written. */
export interface OpenedFile {
  readonly path: string;
  readonly disk: Disk;
  readonly lock: WriterLock;
  readonly file: DiskFile;
  /** Where its last frame ends. */
  readonly end: number;
  readonly lastSeq: number;
}

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** What is appended and not flushed is written after this, or when so much of it waits. */
const lingerMs = 10;
const lingerBytes = 64 * 1024;
/** A buffer that grew beyond it is not used again. */
const largestKept = 1024 * 1024;

/** See the head of the file; made by {@link fileJournal}. */
export class FileJournal implements Journal {
  readonly durable: boolean;
  readonly payloads: PayloadPolicy;
  readonly path: string;
  readonly #maxBufferedBytes: number;
  readonly #disk: Disk;
  readonly #lock: WriterLock;
  #file: DiskFile;
  #end: number;
  #seq: number;
  /** What waits, and what is on its way. */
  #waiting = new ByteSink(lingerBytes);
  #leaving = new ByteSink(lingerBytes);
  #waiters: Waiter[] = [];
  #linger: NodeJS.Timeout | undefined;
  #isScheduled = false;
  /** Set while the file is used by one who must be alone with it. */
  #turn: Promise<void> = Promise.resolve();
  #failure: JournalFailedError | undefined;
  #isFailureTold = false;
  #closing: Promise<void> | undefined;

  constructor({ path, disk, lock, file, end, lastSeq }: OpenedFile, options: FileJournalOptions) {
    this.path = path;
    this.durable = options.durable ?? true;
    this.payloads = options.payloads ?? 'hash';
    this.#maxBufferedBytes = options.maxBufferedBytes ?? 64 * 1024 * 1024;
    this.#disk = disk;
    this.#lock = lock;
    this.#file = file;
    this.#end = end;
    this.#seq = lastSeq;
  }

  append(entry: JournalEntry): number {
    if (this.#closing !== undefined) throw new JournalClosedError();
    if (this.#failure !== undefined) throw this.#told(this.#failure);
    const seq = this.#seq + 1;
    const sink = this.#waiting;
    writeFrame(sink, seq, entry);
    if (sink.length > this.#maxBufferedBytes) throw this.#told(this.#fail(new TooMuchWaits(this.#maxBufferedBytes)));
    this.#seq = seq;
    if (this.#isScheduled) return seq;
    if (sink.length > lingerBytes) this.#schedule();
    else this.#linger ??= setTimeout(() => this.#schedule(), lingerMs);
    return seq;
  }

  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#told(this.#failure));
    if (this.#closing !== undefined) return this.#closing;
    const flushed = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.#schedule();
    return flushed;
  }

  read(): AsyncIterableIterator<JournalRecord> {
    return recordsOf(this.path, this.#disk, () => this.#written());
  }

  /**
   * Writes what waits, gives up the file and its lock. Nothing can be appended any more; what was is still read.
   *
   * @throws (rejects) {@link JournalFailedError} when something that was appended could not be written and nobody was told before. File and lock are given up all the same.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#alone(() => this.#writeGroup(true));
    try {
      await this.#file.close();
    } finally {
      await this.#lock.release();
    }
    if (this.#failure !== undefined && !this.#isFailureTold) throw this.#told(this.#failure);
  }

  /** The next group goes as soon as what runs now is done, so that all that is appended now goes with it. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    clearTimeout(this.#linger);
    this.#linger = undefined;
    void this.#alone(() => {
      this.#isScheduled = false;
      return this.#writeGroup(false);
    });
  }

  /** Runs `task` when all that had the file before is done with it. */
  #alone<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(task);
    this.#turn = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  /** Never rejects: an error is the journal's, and told to whoever waits. */
  async #writeGroup(isLast: boolean): Promise<void> {
    const group = this.#waiting;
    const waiters = this.#waiters;
    if (this.#failure !== undefined) {
      this.#refuse(waiters);
      return;
    }
    this.#waiting = this.#leaving;
    this.#leaving = group;
    this.#waiters = [];
    try {
      if (this.#lock.isOverdue) await this.#lock.assertHeld();
      if (group.length > 0) {
        await writeAll(this.#file, group.bytes, 0, group.length, this.#end);
        this.#end += group.length;
      }
      if (this.durable && (waiters.length > 0 || isLast)) await this.#file.sync();
    } catch (thrown) {
      this.#fail(thrown);
      this.#refuse(waiters);
      return;
    }
    if (group.bytes.length > largestKept) this.#leaving = new ByteSink(lingerBytes);
    else group.length = 0;
    for (const { resolve } of waiters) resolve();
  }

  /** All that was appended is in the file, as far as it ever gets there. */
  #written(): Promise<number | undefined> {
    if (this.#closing !== undefined) return this.#closing.then(noBound, noBound);
    return this.#alone(async () => {
      if (this.#failure === undefined) await this.#writeGroup(false);
      return this.#end;
    });
  }

  #fail(cause: unknown): JournalFailedError {
    this.#failure ??= new JournalFailedError(this.path, cause);
    clearTimeout(this.#linger);
    this.#linger = undefined;
    const waiters = this.#waiters;
    this.#waiters = [];
    this.#refuse(waiters);
    return this.#failure;
  }

  #refuse(waiters: readonly Waiter[]): void {
    const failure = this.#failure;
    if (failure === undefined || waiters.length === 0) return;
    for (const { reject } of waiters) reject(this.#told(failure));
  }

  #told(failure: JournalFailedError): JournalFailedError {
    this.#isFailureTold = true;
    return failure;
  }
}

const noBound = () => undefined;

class TooMuchWaits extends Error {
  override readonly name = 'TooMuchWaits';
  constructor(limit: number) {
    super(`more than ${limit} bytes wait to be written`);
  }
}
