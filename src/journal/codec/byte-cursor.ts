/**
 * Reads protobuf fields in place.
 *
 * Invariants kept here:
 *
 * R1. Nothing is read at or behind the end that was said; what would be is a
 *     fault with its place.
 * R2. A number that JavaScript cannot hold exactly, or that its field cannot,
 *     is a fault.
 * R3. An unknown field is passed over, whatever its wire type, groups included.
 */
import { RecordFault } from './fault.js';

const nothing = new Uint8Array();
const longestVarint = 10;
const deepestGroup = 100;

const bit64 = 1;
const delimited = 2;
const startGroup = 3;
const endGroup = 4;
const bit32 = 5;

export class ByteCursor {
  bytes: Uint8Array = nothing;
  at = 0;
  #view: DataView = new DataView(nothing.buffer);

  /** The bytes that are read from here on. */
  open(bytes: Uint8Array, at: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.at = at;
  }

  /** Nothing of the bytes is held any more. */
  close(): void {
    this.open(nothing, 0);
  }

  /** A number up to 2^53 - 1. */
  uint64(end: number): number {
    const first = this.bytes[this.at] as number;
    if (first < 0x80 && this.at < end) {
      this.at++;
      return first;
    }
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < longestVarint; i++) {
      if (this.at >= end) throw new RecordFault('expected a whole number, found the end of the bytes', start);
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) {
          throw new RecordFault(`expected a number up to 2^53 - 1, found ${BigInt(value)} or one near it`, start);
        }
        return value;
      }
      scale *= 128;
    }
    throw new RecordFault('expected a number of at most ten bytes, found a longer one', start);
  }

  uint32(end: number): number {
    const start = this.at;
    const value = this.uint64(end);
    if (value > 0xffffffff) throw new RecordFault(`expected a number up to 2^32 - 1, found ${value}`, start);
    return value;
  }

  flag(end: number): boolean {
    return this.uint64(end) !== 0;
  }

  double(end: number): number {
    if (this.at + 8 > end) throw new RecordFault('expected eight bytes, found the end of the bytes', this.at);
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  /** The end of a delimited value, whose length is read; the cursor stands at its beginning then. */
  delimited(end: number): number {
    const start = this.at;
    const length = this.uint64(end);
    const valueEnd = this.at + length;
    if (valueEnd > end) {
      throw new RecordFault(`expected ${length} bytes, found the end of the bytes after ${end - this.at}`, start);
    }
    return valueEnd;
  }

  /** A copy of the value that ends at `valueEnd`. */
  copy(valueEnd: number): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(valueEnd - this.at);
    copy.set(this.bytes.subarray(this.at, valueEnd));
    this.at = valueEnd;
    return copy;
  }

  /** Passes over an unknown field, whose tag was read. */
  skip(tag: number, end: number): void {
    const start = this.at;
    // the fields of the groups that are open, the innermost last
    const groups: number[] = [];
    let next = tag;
    do {
      const field = Math.floor(next / 8);
      if (field === 0) throw new RecordFault('expected a field, found the number 0', start);
      switch (next & 7) {
        case 0:
          this.#skipVarint(end);
          break;
        case bit64:
          this.#skipBytes(8, end);
          break;
        case delimited:
          this.at = this.delimited(end);
          break;
        case startGroup:
          groups.push(field);
          if (groups.length > deepestGroup) throw new RecordFault('expected groups less deep in one another', start);
          break;
        case endGroup:
          if (groups.pop() !== field) throw new RecordFault('expected a field, found the end of another group', start);
          break;
        case bit32:
          this.#skipBytes(4, end);
          break;
        default:
          throw new RecordFault(`expected a wire type, found ${next & 7}`, start);
      }
      if (groups.length > 0) next = this.uint32(end);
    } while (groups.length > 0);
  }

  #skipBytes(count: number, end: number): void {
    if (this.at + count > end) throw new RecordFault(`expected ${count} bytes, found the end of the bytes`, this.at);
    this.at += count;
  }

  #skipVarint(end: number): void {
    const start = this.at;
    for (let i = 0; i < longestVarint; i++) {
      if (this.at >= end) throw new RecordFault('expected a whole number, found the end of the bytes', start);
      if ((this.bytes[this.at++] as number) < 0x80) return;
    }
    throw new RecordFault('expected a number of at most ten bytes, found a longer one', start);
  }
}
