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
 * G4. What waits is bounded by `maxBufferedBytes`: an append beyond it is
 *     refused, and what waits is written all the same.
 * G5. Nothing is written behind damage, and a torn tail is cut off before the
 *     first write.
 */
import { isCommitpointError, JournalClosedError, JournalFailedError } from '../../contract/errors.js';
import type { Journal, JournalEntry, JournalRecord, PayloadPolicy } from '../../contract/journal.js';
import { ByteSink } from '../../journal/codec/byte-sink.js';
import { type Compaction, CompactionRule, type CompactOptions } from '../../journal/compaction.js';
import { type StoreOptions, settingsOf, TooMuchWaits } from '../options.js';
import type { WriterLock } from '../writer-lock.js';
import { Cancelled, FileCompaction, makingOf } from './compact-file.js';
import { type Disk, type DiskFile, writeAll } from './disk.js';
import { writeFrame } from './format.js';
import { openToRead, type Readable, recordsOf } from './record-stream.js';

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

/**
 * What is appended and not flushed is written after this, or when so much of it waits: the system takes a quarter of a megabyte in
 * a third of the time that four quarters of it take.
 */
const lingerMs = 10;
const lingerBytes = 256 * 1024;
/** Most groups are small. */
const firstBytes = 16 * 1024;
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
  /** Nothing was written since the last sync. */
  #isSynced = true;
  #seq: number;
  /** What waits, and what is on its way. */
  #waiting = new ByteSink(firstBytes);
  #leaving = new ByteSink(firstBytes);
  #waiters: Waiter[] = [];
  #linger: NodeJS.Timeout | undefined;
  #isScheduled = false;
  /** Set while the file is used by one who must be alone with it. */
  #turn: Promise<void> = Promise.resolve();
  /** One compaction after another. */
  #compacting: Promise<void> = Promise.resolve();
  #failure: JournalFailedError | undefined;
  #isFailureTold = false;
  #closing: Promise<void> | undefined;

  constructor({ path, disk, lock, file, end, lastSeq }: OpenedFile, options: StoreOptions) {
    this.path = path;
    const { durable, payloads, maxBufferedBytes } = settingsOf(options);
    this.durable = durable;
    this.payloads = payloads;
    this.#maxBufferedBytes = maxBufferedBytes;
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
    const before = sink.length;
    writeFrame(sink, seq, entry);
    if (sink.length > this.#maxBufferedBytes) {
      sink.length = before;
      throw new JournalFailedError(this.path, new TooMuchWaits(this.#maxBufferedBytes));
    }
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
    return recordsOf(this.path, () => this.#openToRead());
  }

  /**
   * Drops what belongs to sessions that have ended: docs/design/journal.md, *Compaction*. Records are appended and flushed
   * meanwhile, but for a moment at the end, when they wait. A crash leaves the journal as it was, or as it will be.
   *
   * @throws (rejects) {@link JournalFailedError} when the new file cannot be written, {@link JournalDamagedError} when the old one
   *   cannot be read: the journal is as it was; {@link JournalClosedError} when it is closed before the end
   */
  compact(options?: CompactOptions): Promise<Compaction> {
    if (this.#closing !== undefined) return Promise.reject(new JournalClosedError());
    const compaction = this.#compacting.then(() => this.#compact(new CompactionRule(options)));
    this.#compacting = compaction.then(ignore, ignore);
    return compaction;
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
    // it sees that it is not wanted any more, and takes its file away
    await this.#compacting;
    await this.#alone(() => this.#writeGroup(true));
    const fail = (thrown: unknown) => void this.#fail(thrown);
    await this.#file.close().catch(fail);
    await this.#lock.release().catch(fail);
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
    this.#turn = result.then(ignore, ignore);
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
        this.#isSynced = false;
      }
      if (this.durable && !this.#isSynced && (waiters.length > 0 || isLast)) {
        await this.#file.sync();
        this.#isSynced = true;
      }
    } catch (thrown) {
      this.#fail(thrown);
      this.#refuse(waiters);
      return;
    }
    if (group.bytes.length > largestKept) this.#leaving = new ByteSink(firstBytes);
    else group.length = 0;
    for (const { resolve } of waiters) resolve();
  }

  #openToRead(): Promise<Readable> {
    if (this.#closing === undefined) return this.#openWritten();
    // closed: another may write it now
    const open = () => openToRead(this.path, this.#disk);
    return this.#closing.then(open, open);
  }

  /** With all that was appended in the file, as far as it ever gets there. */
  #openWritten(): Promise<Readable> {
    return this.#alone(async () => {
      if (this.#failure === undefined) await this.#writeGroup(false);
      const { file } = await openToRead(this.path, this.#disk);
      return { file, bound: this.#end };
    });
  }

  async #compact(rule: CompactionRule): Promise<Compaction> {
    const making = makingOf(this.path);
    const opened: DiskFile[] = [];
    try {
      const { file: from, bound } = await this.#openWritten();
      opened.push(from);
      const to = await this.#disk.open(making, 'create');
      if (to === undefined) throw new NotMade();
      opened.push(to);
      const copy = new FileCompaction(from, this.path, to, rule, () => this.#closing !== undefined);
      await copy.look(bound);
      await copy.copy(bound);
      return await this.#alone(async () => {
        const bytesBefore = this.#end;
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#lock.isOverdue) await this.#lock.assertHeld();
        // what was written meanwhile
        await copy.copy(bytesBefore);
        await to.sync();
        await this.#disk.rename(making, this.path);
        opened[opened.indexOf(to)] = this.#file;
        this.#file = to;
        this.#isSynced = true;
        this.#end = copy.end;
        try {
          await this.#disk.syncFolder(this.path);
        } catch (thrown) {
          // a power cut may bring back the old file, and what is written from now on is not in it
          throw this.#fail(thrown);
        }
        return { kept: copy.kept, dropped: copy.dropped, bytesBefore, bytesAfter: copy.end };
      });
    } catch (thrown) {
      if (this.#failure === undefined) await this.#disk.remove(making).catch(ignore);
      if (thrown instanceof Cancelled) throw new JournalClosedError();
      throw isCommitpointError(thrown) ? thrown : new JournalFailedError(making, thrown);
    } finally {
      for (const file of opened) await file.close().catch(ignore);
    }
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

const ignore = () => {};

class NotMade extends Error {
  override readonly name = 'NotMade';
  constructor() {
    super('the file was not made');
  }
}
