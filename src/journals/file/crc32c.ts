/** CRC-32C (Castagnoli), eight bytes at a time. */

const polynomial = 0x82f63b78;
const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];

for (let byte = 0; byte < 256; byte++) {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
  t0[byte] = rest;
}
for (let byte = 0; byte < 256; byte++) {
  let rest = t0[byte] as number;
  for (const table of tables.slice(1)) {
    rest = (rest >>> 8) ^ (t0[rest & 0xff] as number);
    table[byte] = rest;
  }
}

/** The checksum of `bytes` from `start` to `end`. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  return extendCrc32c(0, bytes, start, end);
}

/** The checksum of what `before` is the checksum of, with these bytes behind it. */
export function extendCrc32c(before: number, bytes: Uint8Array, start: number, end: number): number {
  let crc = ~before;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
