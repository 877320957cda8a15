/** Looks at what stands at the end of a file, behind its last sound frame. */
import { longestRecord } from '../options.js';
import { crc32c } from './crc32c.js';
import type { DiskFile } from './disk.js';
import { frameHead } from './format.js';

const pieceSize = 256 * 1024;
/** The tag of a record's first field, `seq`. */
const seqTag = 0x08;
const longestSeq = 8;
/** Of a frame: its head, the tag, and a seq. */
const beginning = frameHead + 1 + longestSeq;

/** Whether there are nothing but zeros from `start` to `end`. */
export async function isZeroFrom(file: DiskFile, start: number, end: number): Promise<boolean> {
  const bytes = new Uint8Array(Math.min(pieceSize, end - start));
  for (let at = start; at < end; ) {
    const read = await file.read(bytes, 0, Math.min(bytes.length, end - at), at);
    if (read === 0) return true;
    for (let i = 0; i < read; i++) if (bytes[i] !== 0) return false;
    at += read;
  }
  return true;
}

/**
 * Whether a sound frame begins at `start` or behind it, of a record that comes after `lastSeq`. What a crash has cut off is
 * followed by none; a length that is damaged is.
 */
export async function hasFrameBehind(file: DiskFile, start: number, end: number, lastSeq: number): Promise<boolean> {
  const bytes = new Uint8Array(pieceSize);
  const view = new DataView(bytes.buffer);
  for (let position = start; position < end; ) {
    const held = await readFully(file, bytes, 0, Math.min(bytes.length, end - position), position);
    // the last piece is looked at to its end
    const isLast = position + held >= end || held < bytes.length;
    const last = isLast ? held - frameHead - 2 : held - beginning;
    for (let at = 0; at <= last; at++) {
      if (bytes[at + frameHead] !== seqTag) continue;
      const length = view.getUint32(at, true);
      const frameEnd = position + at + frameHead + length;
      if (length < 2 || length > longestRecord || frameEnd > end) continue;
      if (seqAt(bytes, at + frameHead + 1, held) <= lastSeq) continue;
      if (await hasChecksum(file, position + at + frameHead, frameEnd, view.getUint32(at + 4, true))) return true;
    }
    if (isLast) return false;
    position += Math.max(1, last + 1);
  }
  return false;
}

function seqAt(bytes: Uint8Array, start: number, end: number): number {
  let seq = 0;
  let scale = 1;
  for (let at = start; at < Math.min(end, start + longestSeq); at++) {
    const byte = bytes[at] as number;
    seq += (byte & 0x7f) * scale;
    if (byte < 0x80) return seq;
    scale *= 128;
  }
  return 0;
}

async function hasChecksum(file: DiskFile, start: number, end: number, expected: number): Promise<boolean> {
  const record = new Uint8Array(end - start);
  const held = await readFully(file, record, 0, record.length, start);
  return held === record.length && crc32c(record, 0, held) === expected;
}

async function readFully(
  file: DiskFile,
  bytes: Uint8Array,
  offset: number,
  length: number,
  position: number,
): Promise<number> {
  let held = 0;
  while (held < length) {
    const read = await file.read(bytes, offset + held, length - held, position + held);
    if (read === 0) break;
    held += read;
  }
  return held;
}
