/**
 * Reads the frames of a file, a piece of it at a time.
 *
 * Invariants kept here:
 *
 * F1. What is given is a sound beginning of the journal: every record of it is
 *     whole, has the checksum that was written with it, and a greater `seq` than
 *     the one before.
 * F2. What was cut off at the end is dropped. Damage is a
 *     `JournalDamagedError` with the offset of the frame, after all that is
 *     sound before it was given; what is behind it is not read.
 * F3. Memory is bounded by a piece, or by the longest record.
 */
import { JournalDamagedError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { RecordDecoder } from '../../journal/codec/decoder.js';
import { RecordFault } from '../../journal/codec/fault.js';
import { longestRecord } from '../options.js';
import { crc32c } from './crc32c.js';
import type { DiskFile } from './disk.js';
import { assertHeader, frameHead, header } from './format.js';
import { hasFrameBehind, isZeroFrom } from './tail.js';

const pieceSize = 256 * 1024;

/** Is told of each frame: `bytes` from `start` to `end`, until the next is told of. */
export type FrameTaker = (record: JournalRecord, bytes: Uint8Array, start: number, end: number) => void;

export class FrameReader {
  /** Where the frames that were given end: from here on nothing is known to be sound. */
  soundEnd = header.length;
  /** Of the last record that was given; 0 before the first. */
  lastSeq = 0;
  readonly #file: DiskFile;
  readonly #where: string;
  /** Nothing at or behind it is read. It may be moved on, and more is there. */
  bound: number;
  readonly #decoder = new RecordDecoder();
  #bytes = new Uint8Array(pieceSize);
  #view = new DataView(this.#bytes.buffer);
  /** What is held: the bytes of the file from {@link soundEnd} on. */
  #start = 0;
  #end = 0;
  #isDone = false;
  #damage: JournalDamagedError | undefined;

  /** `where` is the journal's name in errors. */
  constructor(file: DiskFile, where: string, bound = Number.POSITIVE_INFINITY) {
    this.#file = file;
    this.#where = where;
    this.bound = bound;
  }

  /** @throws {JournalFormatError} when the file is no journal that can be read */
  async open(): Promise<void> {
    const bytes = new Uint8Array(header.length);
    let length = 0;
    while (length < bytes.length) {
      const read = await this.#file.read(bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    assertHeader(bytes.subarray(0, length), this.#where);
  }

  /**
   * Tells of the frames of the next piece; `false` when there are no more.
   *
   * @throws {JournalDamagedError}
   */
  async next(take: FrameTaker): Promise<boolean> {
    this.#isDone = false;
    while (!this.#isDone) {
      if (this.#damage !== undefined) throw this.#damage;
      if (this.#takeWhole(take)) return true;
      if (this.#damage === undefined) await this.#fill();
    }
    this.#decoder.release();
    return false;
  }

  /** Whether the file holds something behind the sound records, which a crash has left. */
  async hasTail(): Promise<boolean> {
    return (await this.#size()) > this.soundEnd;
  }

  /** Takes the frames that are held whole; whether there was one. */
  #takeWhole(take: FrameTaker): boolean {
    let found = false;
    while (this.#end - this.#start >= frameHead) {
      const length = this.#view.getUint32(this.#start, true);
      const recordStart = this.#start + frameHead;
      const frameEnd = recordStart + length;
      if (length === 0 || frameEnd > this.#end) break;
      if (crc32c(this.#bytes, recordStart, frameEnd) !== this.#view.getUint32(this.#start + 4, true)) break;
      const record = this.#record(recordStart, frameEnd);
      if (record === undefined) break;
      take(record, this.#bytes, this.#start, frameEnd);
      found = true;
      this.lastSeq = record.seq;
      this.soundEnd += frameEnd - this.#start;
      this.#start = frameEnd;
    }
    return found;
  }

  #record(start: number, end: number): JournalRecord | undefined {
    try {
      const record = this.#decoder.read(this.#bytes, start, end);
      if (record.seq > this.lastSeq) return record;
      this.#damaged(`expected a seq above ${this.lastSeq}, found ${record.seq}`);
    } catch (thrown) {
      if (!(thrown instanceof RecordFault)) throw thrown;
      this.#damaged(`the frame holds no record: ${thrown.problem}`);
    }
    return undefined;
  }

  /** Reads on; where the frame at hand is not to be had, finds out why. */
  async #fill(): Promise<void> {
    const held = this.#end - this.#start;
    const size = await this.#size();
    const rest = size - this.soundEnd;
    if (rest === 0) {
      this.#isDone = true;
      return;
    }
    if (held >= frameHead) {
      const length = this.#view.getUint32(this.#start, true);
      const frameEnd = this.soundEnd + frameHead + length;
      if (frameEnd > size || length > longestRecord) return this.#endsBehind(length, size);
      if (held >= frameHead + length) return this.#isBroken(length, frameEnd, size);
      await this.#read(Math.max(pieceSize, frameHead + length), size);
    } else if (rest < frameHead) {
      this.#isDone = true;
    } else await this.#read(pieceSize, size);
  }

  /** A frame that ends behind the file: cut off, or its length is damaged, which shows in sound frames behind it. */
  async #endsBehind(length: number, size: number): Promise<void> {
    if (await hasFrameBehind(this.#file, this.soundEnd + 1, size, this.lastSeq)) {
      this.#damaged(`the frame says that its record has ${length} bytes, and sound records stand in these`);
    } else this.#isDone = true;
  }

  /** A frame that is whole, and is none. At the very end it is what a power cut leaves. */
  async #isBroken(length: number, frameEnd: number, size: number): Promise<void> {
    const from = length === 0 ? this.soundEnd : frameEnd;
    if (await isZeroFrom(this.#file, from, size)) this.#isDone = true;
    else this.#damaged(length === 0 ? 'expected a record, found a frame without one' : 'the checksum is wrong');
  }

  #damaged(problem: string): void {
    this.#damage = new JournalDamagedError(this.#where, this.soundEnd, problem);
  }

  async #size(): Promise<number> {
    return Math.min(await this.#file.size(), this.bound);
  }

  /** Makes `room` for bytes from {@link soundEnd} on, and reads into what is free of it. */
  async #read(room: number, size: number): Promise<void> {
    const held = this.#end - this.#start;
    if (this.#bytes.length < room || this.#bytes.length > Math.max(room, pieceSize) * 2) {
      const bytes = new Uint8Array(room);
      bytes.set(this.#bytes.subarray(this.#start, this.#end));
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer);
    } else this.#bytes.copyWithin(0, this.#start, this.#end);
    this.#start = 0;
    this.#end = held;
    const position = this.soundEnd + held;
    const length = Math.min(this.#bytes.length - held, size - position);
    const read = await this.#file.read(this.#bytes, held, length, position);
    // the file has become shorter than it was said to be
    if (read === 0) this.#isDone = true;
    this.#end += read;
  }
}
