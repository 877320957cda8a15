import { JournalDamagedError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { RecordDecoder } from './decoder.js';
import { RecordFault } from './fault.js';

/**
 * The record in these bytes, which are a `commitpoint.journal.v1.Record`.
 *
 * @throws {JournalDamagedError} when they hold none; its `offset` is a place in them
 */
export function decodeRecord(bytes: Uint8Array): JournalRecord {
  try {
    return new RecordDecoder().read(bytes, 0, bytes.length);
  } catch (thrown) {
    if (thrown instanceof RecordFault) throw new JournalDamagedError('record', thrown.at, thrown.problem);
    throw thrown;
  }
}
