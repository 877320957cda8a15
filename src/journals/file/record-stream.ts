import { UnreadableFileError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import type { Disk, DiskFile } from './disk.js';
import { FrameReader } from './frame-reader.js';

/**
 * The records of a file, one after another. `ready` is waited for first; it gives where to stop, in bytes, or `undefined` where the
 * end of the file is meant, as it is then.
 */
export function recordsOf(
  path: string,
  disk: Disk,
  ready: () => Promise<number | undefined>,
): AsyncIterableIterator<JournalRecord> {
  return new RecordStream(path, disk, ready);
}

/** An iterator by hand: a generator costs three times as much for each record. */
class RecordStream implements AsyncIterableIterator<JournalRecord> {
  readonly #path: string;
  readonly #disk: Disk;
  readonly #ready: () => Promise<number | undefined>;
  #records: JournalRecord[] = [];
  #next = 0;
  #file: DiskFile | undefined;
  #reader: FrameReader | undefined;
  #isDone = false;
  /** One piece is read at a time, however often `next` is called meanwhile: these wait, one behind the other. */
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, disk: Disk, ready: () => Promise<number | undefined>) {
    this.#path = path;
    this.#disk = disk;
    this.#ready = ready;
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
      throw thrown;
    } finally {
      this.#waiting--;
    }
  }

  async #open(): Promise<FrameReader> {
    const bound = await this.#ready();
    this.#file = await openToRead(this.#path, this.#disk);
    const reader = new FrameReader(this.#file, this.#path, bound ?? (await this.#file.size()));
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

async function openToRead(path: string, disk: Disk): Promise<DiskFile> {
  let file: DiskFile | undefined;
  try {
    file = await disk.open(path, 'read');
  } catch (thrown) {
    throw new UnreadableFileError(path, thrown);
  }
  if (file === undefined) throw new UnreadableFileError(path, 'there is no such file');
  return file;
}
