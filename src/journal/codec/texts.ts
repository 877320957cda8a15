/**
 * Short texts of a journal come again and again: names, states, ids. Each is
 * made once and found by its bytes, which costs a third of making it, and a
 * reader that keeps records keeps each text once.
 *
 * Invariants kept here:
 *
 * T1. What is found is what decoding gives, to the byte.
 * T2. Memory is bounded: a table has a fixed number of places, and a text that
 *     needs a place that is taken has it.
 */
import type { ByteCursor } from './byte-cursor.js';
import { RecordFault } from './fault.js';

const longestKept = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** For each length a list to collect characters in, since a list of just that length is what makes a text. */
const characters = Array.from({ length: longestKept + 1 }, (_, length) => new Array<number>(length).fill(0));

/** @throws {RecordFault} when it is no UTF-8 */
export function readText(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length <= longestKept) {
    const codes = characters[length] as number[];
    let at = 0;
    while (at < length) {
      const byte = bytes[start + at] as number;
      if (byte > 0x7f) break;
      codes[at++] = byte;
    }
    if (at === length) return String.fromCharCode.apply(undefined, codes);
  }
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch {
    throw new RecordFault('expected a text in UTF-8, found bytes that are none', start);
  }
}

/** A number that is the same for the same bytes, from some of them. */
export function mixed(bytes: Uint8Array, start: number, end: number): number {
  const last = end - 1;
  let mix = end - start;
  mix = Math.imul(mix ^ (bytes[last] as number), 0x01000193);
  mix = Math.imul(mix ^ (bytes[Math.max(start, last - 1)] as number), 0x01000193);
  mix = Math.imul(mix ^ (bytes[Math.max(start, last - 2)] as number), 0x01000193);
  mix = Math.imul(mix ^ (bytes[Math.max(start, last - 3)] as number), 0x01000193);
  mix = Math.imul(mix ^ (bytes[start] as number), 0x01000193);
  mix = Math.imul(mix ^ (bytes[(start + end) >>> 1] as number), 0x01000193);
  return (mix ^ (mix >>> 15)) >>> 0;
}

/** A table of texts. Only ASCII is kept in it, whose characters are its bytes. */
export class TextTable {
  readonly #mask: number;
  readonly #places: (string | undefined)[];

  /** `places`: a power of two. */
  constructor(places: number) {
    this.#mask = places - 1;
    this.#places = new Array<string | undefined>(places).fill(undefined);
  }

  /** @throws {RecordFault} when it is no UTF-8 */
  read(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return '';
    if (length > longestKept) return readText(bytes, start, end);
    const place = mixed(bytes, start, end) & this.#mask;
    const known = this.#places[place];
    if (known !== undefined && known.length === length) {
      let at = 0;
      while (at < length && bytes[start + at] === known.charCodeAt(at)) at++;
      if (at === length) return known;
    }
    const text = readText(bytes, start, end);
    if (text.length === length) this.#places[place] = text;
    return text;
  }
}

/**
 * The delimited text at a cursor, which moves behind it. One that comes again is looked for among the `words`.
 *
 * @throws {RecordFault} when there is none
 */
export function text(cursor: ByteCursor, end: number, words?: TextTable): string {
  const textEnd = cursor.delimited(end);
  const { bytes, at } = cursor;
  const read = words === undefined ? readText(bytes, at, textEnd) : words.read(bytes, at, textEnd);
  cursor.at = textEnd;
  return read;
}
