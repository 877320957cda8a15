import { isCommitpointError, UnreadableFileError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { type Database, errorOf, openToRead } from './database.js';
import { RowReader } from './rows.js';

/** The records of a journal as they stand, from the first on. */
export async function* recordsOf(path: string): AsyncGenerator<JournalRecord> {
  let database: Database;
  try {
    database = openToRead(path);
  } catch (thrown) {
    throw isCommitpointError(thrown) ? thrown : (errorOf(thrown, path, 0) ?? new UnreadableFileError(path, thrown));
  }
  try {
    const reader = new RowReader(database, path);
    for (let records = reader.next(); records.length > 0; records = reader.next()) yield* records;
  } finally {
    database.close();
  }
}
