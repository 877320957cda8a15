import { isCommitpointError, UnreadableFileError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import type { Disk, DiskFile } from './disk.js';
import { FrameReader } from './frame-reader.js';

/** A file that is open to be read, and where to stop, in bytes. */
export interface Readable {
  readonly file: DiskFile;
  readonly bound: number;
}

/** The records of a file, one after another. `path` is its name in errors; `open` is called once, when the first is asked for. */
export function recordsOf(path: string, open: () => Promise<Readable>): AsyncIterableIterator<JournalRecord> {
  return new RecordStream(path, open);
}

/**
 * Opens a file to be read as far as it is there now.
 *
 * @throws {UnreadableFileError}
 */
export async function openToRead(path: string, disk: Disk): Promise<Readable> {
  let file: DiskFile | undefined;
  try {
    file = await disk.open(path, 'read');
    if (file !== undefined) return { file, bound: await file.size() };
  } catch (thrown) {
    await file?.close();
    throw new UnreadableFileError(path, thrown);
  }
  throw new UnreadableFileError(path, 'there is no such file');
}

/** An iterator by hand: a generator costs three times as much for each record. */
class RecordStream implements AsyncIterableIterator<JournalRecord> {
  readonly #path: string;
  readonly #begin: () => Promise<Readable>;
  #records: JournalRecord[] = [];
  #next = 0;
  #file: DiskFile | undefined;
  #reader: FrameReader | undefined;
  #isDone = false;
  /** One piece is read at a time, however often `next` is called meanwhile: these wait, one behind the other. */
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, begin: () => Promise<Readable>) {
    this.#path = path;
    this.#begin = begin;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<JournalRecord, undefined>> {
    const record = this.#records[this.#next];
    if (record !== undefined && this.#waiting === 0) {
      this.#next++;
      return Promise.resolve({ done: false, value: record });
    }
    this.#waiting++;
    const result = this.#last.then(() => this.#readOn());
    this.#last = result.then(ignore, ignore);
    return result;
  }

  async return(): Promise<IteratorResult<JournalRecord, undefined>> {
    await this.#last;
    await this.#finish();
    return { done: true, value: undefined };
  }

  async #readOn(): Promise<IteratorResult<JournalRecord, undefined>> {
    try {
      for (;;) {
        const record = this.#records[this.#next];
        if (record !== undefined) {
          this.#next++;
          return { done: false, value: record };
        }
        if (this.#isDone) return { done: true, value: undefined };
        this.#reader ??= await this.#open();
        this.#records = [];
        this.#next = 0;
        const found = this.#records;
        if (!(await this.#reader.next((one) => found.push(one)))) await this.#finish();
      }
    } catch (thrown) {
      await this.#finish();
      throw isCommitpointError(thrown) ? thrown : new UnreadableFileError(this.#path, thrown);
    } finally {
      this.#waiting--;
    }
  }

  async #open(): Promise<FrameReader> {
    const { file, bound } = await this.#begin();
    this.#file = file;
    const reader = new FrameReader(file, this.#path, bound);
    await reader.open();
    return reader;
  }

  async #finish(): Promise<void> {
    this.#isDone = true;
    this.#records = [];
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

const ignore = () => {};
