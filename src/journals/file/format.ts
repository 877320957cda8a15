/**
 * How a journal stands in a file; docs/design/journal.md, *Files*. Eight bytes
 * that say what it is, then frames: four bytes of length, four of checksum, the
 * record.
 */
import { JournalFormatError } from '../../contract/errors.js';
import type { JournalEntry } from '../../contract/journal.js';
import type { ByteSink } from '../../journal/codec/byte-sink.js';
import { writeRecord } from '../../journal/codec/encoder.js';
import { crc32c } from './crc32c.js';

const name = 'CPJOURN';
const format = 1;

/** What a file begins with. */
export const header: Uint8Array = new Uint8Array([...new TextEncoder().encode(name), format]);

/** Of a frame, before the record. */
export const frameHead = 8;

/** @throws {JournalFormatError} when these first bytes of a file are not those of a journal that this version reads */
export function assertHeader(bytes: Uint8Array, where: string): void {
  const expected = `a file that begins with ${name} and the format ${format}`;
  if (bytes.length === 0) throw new JournalFormatError(where, expected, 'an empty file');
  const isNamed =
    bytes.length === header.length && bytes.subarray(0, name.length).every((byte, i) => byte === header[i]);
  if (!isNamed) throw new JournalFormatError(where, expected, 'something else');
  const found = bytes[name.length] as number;
  if (found !== format) throw new JournalFormatError(where, expected, `the format ${found}`);
}

/**
 * Writes a frame to the end of a sink.
 *
 * @throws {InvalidInputError} when the record cannot be written; the sink is as it was
 */
export function writeFrame(sink: ByteSink, seq: number, entry: JournalEntry): void {
  const start = sink.length;
  sink.reserve(frameHead);
  sink.length = start + frameHead;
  try {
    writeRecord(sink, seq, entry);
  } catch (thrown) {
    sink.length = start;
    throw thrown;
  }
  const recordStart = start + frameHead;
  sink.setFixed32(start, sink.length - recordStart);
  sink.setFixed32(start + 4, crc32c(sink.bytes, recordStart, sink.length));
}
