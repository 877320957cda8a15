/**
 * CRC-32C (Castagnoli), sixteen bytes at a time, read in fours: one table lies
 * behind the other, and small integers with a sign are what an engine works with
 * as it is.
 */

const polynomial = 0x82f63b78;
const strides = 16;
/** For each byte, and each number of bytes behind it (the table of 0 first), what it adds to the checksum. */
const table = new Int32Array(strides * 256);

for (let byte = 0; byte < 256; byte++) {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
  table[byte] = rest;
}
for (let at = 256; at < table.length; at++) {
  const before = table[at - 256] as number;
  table[at] = (before >>> 8) ^ (table[before & 0xff] as number);
}

const none = new Uint8Array();
/** Of the bytes that were looked at last, unless they are many: a journal looks at the same ones again and again. */
let seen: Uint8Array = none;
let seenView: DataView = new DataView(none.buffer);
const mostSeen = 1024 * 1024;

function viewOf(bytes: Uint8Array): DataView {
  if (bytes === seen) return seenView;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength <= mostSeen) {
    seen = bytes;
    seenView = view;
  }
  return view;
}

/** The checksum of `bytes` from `start` to `end`. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  return extendCrc32c(0, bytes, start, end);
}

/** The checksum of what `before` is the checksum of, with these bytes behind it. */
export function extendCrc32c(before: number, bytes: Uint8Array, start: number, end: number): number {
  const view = viewOf(bytes);
  let crc = ~before;
  let at = start;
  for (const last = end - strides; at <= last; at += strides) {
    const first = crc ^ view.getInt32(at, true);
    const second = view.getInt32(at + 4, true);
    const third = view.getInt32(at + 8, true);
    const fourth = view.getInt32(at + 12, true);
    crc =
      (table[3840 + (first & 0xff)] as number) ^
      (table[3584 + ((first >>> 8) & 0xff)] as number) ^
      (table[3328 + ((first >>> 16) & 0xff)] as number) ^
      (table[3072 + (first >>> 24)] as number) ^
      (table[2816 + (second & 0xff)] as number) ^
      (table[2560 + ((second >>> 8) & 0xff)] as number) ^
      (table[2304 + ((second >>> 16) & 0xff)] as number) ^
      (table[2048 + (second >>> 24)] as number) ^
      (table[1792 + (third & 0xff)] as number) ^
      (table[1536 + ((third >>> 8) & 0xff)] as number) ^
      (table[1280 + ((third >>> 16) & 0xff)] as number) ^
      (table[1024 + (third >>> 24)] as number) ^
      (table[768 + (fourth & 0xff)] as number) ^
      (table[512 + ((fourth >>> 8) & 0xff)] as number) ^
      (table[256 + ((fourth >>> 16) & 0xff)] as number) ^
      (table[fourth >>> 24] as number);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
