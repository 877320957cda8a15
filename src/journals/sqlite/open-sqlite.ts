import { isCommitpointError, JournalFailedError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { assertOptions, type StoreOptions } from '../options.js';
import { realPathOf } from '../real-path.js';
import { WriterLock } from '../writer-lock.js';
import { type Database, errorOf, loadSqlite, openToWrite } from './database.js';
import { recordsOf } from './records-of.js';
import { RowReader } from './rows.js';
import { SqliteJournal } from './sqlite-journal.js';

/**
 * Opens a journal in a database of SQLite, or makes one, to write it. It is read through once, and `seq` goes on. Its lock is a file
 * of the same name with `.lock` behind it. Close it when the process ends by itself.
 *
 * @throws {NotSupportedError} where Node has no SQLite: it has from 22.13 on
 * @throws {JournalLockedError} when another has it open to write
 * @throws {JournalFormatError} when it is another file or database, or one of a newer format
 * @throws {JournalDamagedError} when a row holds no record; its `offset` is the row
 * @throws {JournalFailedError} when it cannot be opened, made or written
 * @throws {InvalidInputError} when an option is not what its type says
 */
export async function sqliteJournal(path: string, options: StoreOptions = {}): Promise<SqliteJournal> {
  loadSqlite();
  assertOptions(options);
  try {
    const real = await realPathOf(path);
    const lock = await WriterLock.acquire(real);
    let database: Database | undefined;
    try {
      database = openToWrite(real, options.durable ?? true);
      const reader = new RowReader(database, real);
      while (reader.next().length > 0) await new Promise((resolve) => setImmediate(resolve));
      return new SqliteJournal(real, lock, database, reader.lastSeq, options);
    } catch (thrown) {
      database?.close();
      await lock.release();
      throw errorOf(thrown, path, 0) ?? thrown;
    }
  } catch (thrown) {
    throw isCommitpointError(thrown) ? thrown : new JournalFailedError(path, thrown);
  }
}

/**
 * The records of a journal in a database of SQLite, from the first on, as they stand when it is first asked. No lock is needed.
 *
 * @throws (when iterated) {@link NotSupportedError}, {@link JournalDamagedError}, {@link JournalFormatError} as
 *   {@link sqliteJournal}; {@link UnreadableFileError} when it cannot be opened
 */
export function readSqliteJournal(path: string): AsyncGenerator<JournalRecord> {
  return recordsOf(path);
}
