/**
 * A buffer that grows as protobuf fields are written to its end, and is used
 * again when it was emptied.
 *
 * Invariants kept here:
 *
 * B1. What does not fit in the field (a number that is no integer from 0 to its
 *     bound) is refused, never written as something else. Half of a character
 *     that stands alone becomes U+FFFD, as in all UTF-8.
 * B2. As proto3 has it, what is empty, zero or false is not written, except by
 *     the methods that say so.
 */
import { InvalidInputError } from '../../contract/errors.js';

const utf8 = new TextEncoder();
const largest32 = 2 ** 32 - 1;
const longestVarint = 10;

export class ByteSink {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  #view: DataView;

  constructor(capacity = 4096) {
    this.bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.bytes.buffer);
  }

  /** What was written, in place: valid until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    bytes.set(this.written);
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }

  /** A fixed number of four bytes, little-endian, at a place that was written before. */
  setFixed32(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  /** Written also where it is 0. */
  varint(value: number): void {
    this.reserve(longestVarint);
    const { bytes } = this;
    let at = this.length;
    let rest = value;
    while (rest > 0x7fffffff) {
      bytes[at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.length = at;
  }

  uint64(tag: number, value: number): void {
    if (value === 0) return;
    if (!(Number.isSafeInteger(value) && value > 0)) throw outOfBounds(value, '2^53 - 1');
    this.#number(tag, value);
  }

  uint32(tag: number, value: number): void {
    if (value !== 0) this.presentUint32(tag, value);
  }

  /** Written also where it is 0. */
  presentUint32(tag: number, value: number): void {
    if (!(Number.isInteger(value) && value >= 0 && value <= largest32)) throw outOfBounds(value, '2^32 - 1');
    this.#number(tag, value);
  }

  flag(tag: number, value: boolean): void {
    if (value) this.#number(tag, 1);
  }

  double(tag: number, value: number): void {
    if (Object.is(value, 0)) return;
    this.reserve(9);
    this.bytes[this.length] = tag;
    this.#view.setFloat64(this.length + 1, value, true);
    this.length += 9;
  }

  text(tag: number, text: string): void {
    if (text !== '') this.presentText(tag, text);
  }

  /** Written also where it is empty. */
  presentText(tag: number, text: string): void {
    const { length } = text;
    // the native encoder costs more to call than these few characters do
    if (length > 0x7f) {
      this.#anyText(tag, text);
      return;
    }
    this.reserve(length + 2);
    const { bytes } = this;
    const start = this.length + 2;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) {
        this.#anyText(tag, text);
        return;
      }
      bytes[start + i] = unit;
    }
    bytes[start - 2] = tag;
    bytes[start - 1] = length;
    this.length = start + length;
  }

  raw(tag: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#number(tag, bytes.length);
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Fields that were written elsewhere, as they are. */
  copy(fields: Uint8Array): void {
    const { length } = fields;
    this.reserve(length);
    this.bytes.set(fields, this.length);
    this.length += length;
  }

  /** Begins a message within the message. What it gives is handed to {@link end}, when the fields of it are written. */
  begin(tag: number): number {
    this.reserve(2);
    this.bytes[this.length] = tag;
    this.length += 2;
    return this.length;
  }

  /** Ends the message that began at `start`. */
  end(start: number): void {
    const length = this.length - start;
    if (length < 0x80) {
      this.bytes[start - 1] = length;
      return;
    }
    // one byte was left for the length: what is longer moves up
    const extra = varintLength(length) - 1;
    this.reserve(extra);
    this.bytes.copyWithin(start + extra, start, this.length);
    this.length = start - 1;
    this.varint(length);
    this.length += length;
  }

  #number(tag: number, value: number): void {
    this.reserve(longestVarint + 1);
    this.bytes[this.length++] = tag;
    if (value < 0x80) this.bytes[this.length++] = value;
    else this.varint(value);
  }

  #anyText(tag: number, text: string): void {
    const start = this.begin(tag);
    this.reserve(text.length * 3);
    this.length += utf8.encodeInto(text, this.bytes.subarray(start)).written;
    this.end(start);
  }
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}

function outOfBounds(found: number, largest: string): InvalidInputError {
  return new InvalidInputError('number of a journal record', `an integer from 0 to ${largest}`, found);
}
