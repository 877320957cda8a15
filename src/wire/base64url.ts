/** base64url with its padding (RFC 4648, section 5), strictly: one text for each sequence of bytes and no other. */
import { Fault } from './fault.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const padding = 0x3d;
/** In {@link values}, and in any value that has it in: no character of the alphabet. */
const stranger = 0x80;

const codes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));
const values = new Uint8Array(256).fill(stranger);
codes.forEach((code, value) => {
  values[code] = value;
});

/** How many characters `length` bytes become. */
export function encodedLength(length: number): number {
  return Math.ceil(length / 3) * 4;
}

/** How many bytes `length` characters hold, at most. */
export function decodedLength(length: number): number {
  return Math.ceil(length / 4) * 3;
}

/**
 * Decodes the characters of `text` from `start` to `end` into `target`, which is long enough.
 *
 * @returns how many bytes they are
 * @throws {Fault}
 */
export function decodeBase64url(text: Uint8Array, start: number, end: number, target: Uint8Array): number {
  const length = end - start;
  if (length === 0) return 0;
  if (length % 4 !== 0) throw wrongLength(text, start, end);
  let out = 0;
  let pos = start;
  for (const last = end - 4; pos < last; pos += 4) {
    const a = values[text[pos] as number] as number;
    const b = values[text[pos + 1] as number] as number;
    const c = values[text[pos + 2] as number] as number;
    const d = values[text[pos + 3] as number] as number;
    if (((a | b | c | d) & stranger) !== 0) throw strangerIn(text, start, end);
    target[out] = (a << 2) | (b >> 4);
    target[out + 1] = (b << 4) | (c >> 2);
    target[out + 2] = (c << 6) | d;
    out += 3;
  }
  // the last four, of which two may be padding
  const a = values[text[pos] as number] as number;
  const b = values[text[pos + 1] as number] as number;
  if (((a | b) & stranger) !== 0) throw strangerIn(text, start, end);
  target[out++] = (a << 2) | (b >> 4);
  if (text[pos + 3] === padding) {
    if (text[pos + 2] === padding) {
      if ((b & 0x0f) !== 0) throw looseBits(pos + 1 - start);
      return out;
    }
    const c = values[text[pos + 2] as number] as number;
    if (c === stranger) throw strangerIn(text, start, end);
    if ((c & 3) !== 0) throw looseBits(pos + 2 - start);
    target[out++] = (b << 4) | (c >> 2);
    return out;
  }
  const c = values[text[pos + 2] as number] as number;
  const d = values[text[pos + 3] as number] as number;
  if (((c | d) & stranger) !== 0) throw strangerIn(text, start, end);
  target[out++] = (b << 4) | (c >> 2);
  target[out++] = (c << 6) | d;
  return out;
}

/** Writes `bytes` into `target` from `start` on, as {@link encodedLength} characters. */
export function encodeBase64url(bytes: Uint8Array, target: Uint8Array, start: number): void {
  let out = start;
  const code = (value: number) => {
    target[out++] = codes[value & 63] as number;
  };
  const whole = bytes.length - (bytes.length % 3);
  for (let pos = 0; pos < whole; pos += 3) {
    const group = ((bytes[pos] as number) << 16) | ((bytes[pos + 1] as number) << 8) | (bytes[pos + 2] as number);
    code(group >> 18);
    code(group >> 12);
    code(group >> 6);
    code(group);
  }
  const left = bytes.length - whole;
  if (left === 0) return;
  const group = ((bytes[whole] as number) << 8) | (left === 2 ? (bytes[whole + 1] as number) : 0);
  code(group >> 10);
  code(group >> 4);
  if (left === 2) code(group << 2);
  else target[out++] = padding;
  target[out++] = padding;
}

const expected = 'base64url with its padding';

/** What is wrong with a text of which something is: the first character of another alphabet, or else padding before the end. */
function strangerIn(text: Uint8Array, start: number, end: number): Fault {
  let pos = start;
  while (pos < end && (values[text[pos] as number] !== stranger || text[pos] === padding)) pos++;
  if (pos === end) for (pos = start; pos < end && text[pos] !== padding; ) pos++;
  return new Fault(expected, `${nameOf(text[pos])} at character ${pos - start}`);
}

function wrongLength(text: Uint8Array, start: number, end: number): Fault {
  let content = end;
  while (content > start && end - content < 2 && text[content - 1] === padding) content--;
  for (let pos = start; pos < content; pos++) {
    if (values[text[pos] as number] === stranger) return strangerIn(text, start, end);
  }
  return new Fault(expected, `${end - start} characters, which is no multiple of four`);
}

function looseBits(position: number): Fault {
  return new Fault(expected, `bits that belong to no byte at character ${position}`);
}

function nameOf(code: number | undefined): string {
  if (code === undefined) return 'nothing';
  return code > 0x20 && code < 0x7f ? `'${String.fromCharCode(code)}'` : `byte 0x${code.toString(16).padStart(2, '0')}`;
}
