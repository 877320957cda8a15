/**
 * Makes a journal smaller: what stays is written to a file beside it, which
 * takes its place when it is whole and on the disk. Until then the journal is as
 * it was, whatever happens.
 */
import type { CompactionRule } from '../../journal/compaction.js';
import { type DiskFile, writeAll } from './disk.js';
import { header } from './format.js';
import { FrameReader } from './frame-reader.js';

/** The name of a file that is being made, to take the place of the one at `path`. */
export function makingOf(path: string): string {
  return `${path}.making`;
}

/** What `isCancelled` has stopped. */
export class Cancelled {}

const pieceSize = 256 * 1024;

/** From one file to another, frame by frame. */
export class FileCompaction {
  kept = 0;
  dropped = 0;
  /** Where the last frame ends that was copied. */
  end = header.length;
  readonly #from: DiskFile;
  readonly #where: string;
  readonly #to: DiskFile;
  readonly #rule: CompactionRule;
  readonly #isCancelled: () => boolean;
  readonly #reader: FrameReader;
  #bytes = new Uint8Array(pieceSize);
  #length = 0;

  /** `where`: the journal's name in errors. `isCancelled` is asked before each piece. */
  constructor(from: DiskFile, where: string, to: DiskFile, rule: CompactionRule, isCancelled: () => boolean) {
    this.#from = from;
    this.#where = where;
    this.#to = to;
    this.#rule = rule;
    this.#isCancelled = isCancelled;
    this.#reader = new FrameReader(from, where, header.length);
  }

  /** The first pass, over what stands before `end`, and the header of the new file. */
  async look(end: number): Promise<void> {
    const reader = new FrameReader(this.#from, this.#where, end);
    await reader.open();
    do this.#assertWanted();
    while (await reader.next((record) => this.#rule.look(record)));
    this.#rule.looked();
    await writeAll(this.#to, header, 0, header.length, 0);
  }

  /** Copies what stays of what stands before `end`, and was not copied before. */
  async copy(end: number): Promise<void> {
    this.#reader.bound = end;
    for (;;) {
      this.#assertWanted();
      const found = await this.#reader.next((record, bytes, start, frameEnd) => {
        if (this.#rule.keeps(record)) {
          this.kept++;
          this.#put(bytes, start, frameEnd);
        } else this.dropped++;
      });
      await this.#write();
      if (!found) return;
    }
  }

  #assertWanted(): void {
    if (this.#isCancelled()) throw new Cancelled();
  }

  #put(bytes: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes.subarray(start, end), this.#length);
    this.#length = length;
  }

  async #write(): Promise<void> {
    await writeAll(this.#to, this.#bytes, 0, this.#length, this.end);
    this.end += this.#length;
    this.#length = 0;
    // one long record is no reason to hold its room
    if (this.#bytes.length > pieceSize * 2) this.#bytes = new Uint8Array(pieceSize);
  }
}
