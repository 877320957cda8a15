/**
 * A record as a line of JSON, for people and their tools: the JSON that proto3
 * has for `commitpoint.journal.v1.Record`, so that whatever reads that reads
 * this. Payloads are base64; what is empty, zero or false is left out. No store
 * keeps it, and it is not fast.
 */
import { fromBinary, fromJsonString, toBinary, toJson } from '@bufbuild/protobuf';
import { RecordSchema } from '../../proto/gen/commitpoint/journal/v1/journal_pb.js';
import { JournalDamagedError, messageOf } from '../contract/errors.js';
import type { JournalRecord } from '../contract/journal.js';
import { RecordDecoder } from './codec/decoder.js';
import { encodeRecord } from './codec/encoder.js';
import { RecordFault } from './codec/fault.js';

/**
 * The line of a record, without a line feed.
 *
 * @throws {InvalidInputError} when a number of it fits in no field
 */
export function printRecord(record: JournalRecord): string {
  const json = toJson(RecordSchema, fromBinary(RecordSchema, encodeRecord(record))) as Json;
  withNumbers(json, 'seq', 'cause');
  for (const effect of (json['did'] ?? []) as Json[]) withNumbers(effect, 'version');
  withNumbers(json['passed'] as Json | undefined, 'textTaken', 'textDelivered', 'audioTaken', 'audioDelivered');
  withNumbers(json['folded'] as Json | undefined, 'version');
  return JSON.stringify(json);
}

type Json = { [name: string]: unknown };

/** proto3 prints these as texts, since others read numbers with less care; ours are never beyond 2^53. */
function withNumbers(json: Json | undefined, ...names: readonly string[]): void {
  if (json === undefined) return;
  for (const name of names) if (json[name] !== undefined) json[name] = Number(json[name]);
}

/**
 * The record in a line, with or without its line feed. Numbers may be texts, and names as they are in the schema.
 *
 * @param line which line it is, from 1: the `offset` of the error
 * @param where the journal's name in the error
 * @throws {JournalDamagedError} when it holds no record
 */
export function parseRecord(text: string, line = 1, where = 'in JSON lines'): JournalRecord {
  try {
    const bytes = toBinary(RecordSchema, fromJsonString(RecordSchema, text, { ignoreUnknownFields: true }));
    return new RecordDecoder().read(bytes, 0, bytes.length);
  } catch (thrown) {
    const problem =
      thrown instanceof RecordFault ? thrown.problem : `line ${line} holds no record: ${messageOf(thrown)}`;
    throw new JournalDamagedError(where, line, problem);
  }
}

/**
 * The records in the lines of a text, one after another; empty lines are passed over.
 *
 * @param where the journal's name in errors
 * @throws (when iterated) {@link JournalDamagedError} with the line, from 1: for a line that holds no record, and for a `seq` that is
 *   not greater than that before it
 */
export function* parseRecords(text: string, where = 'in JSON lines'): Generator<JournalRecord, void, undefined> {
  let last = 0;
  for (let start = 0, line = 1; start < text.length; line++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    const content = text.slice(start, end);
    start = end + 1;
    if (content.trim() === '') continue;
    const record = parseRecord(content, line, where);
    if (record.seq <= last) {
      throw new JournalDamagedError(where, line, `expected a seq above ${last}, found ${record.seq}`);
    }
    last = record.seq;
    yield record;
  }
}
