/**
 * What is used of `node:sqlite`, which Node has from 22.13 on, and a journal's
 * tables in it. The module is loaded when a journal is opened, and never before.
 */
import { JournalDamagedError, JournalFormatError, NotSupportedError } from '../../contract/errors.js';

/** A `DatabaseSync` of Node. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** A `StatementSync` of Node. */
export interface Statement {
  run(...values: readonly (number | Uint8Array)[]): unknown;
  get(...values: readonly number[]): unknown;
  all(...values: readonly number[]): unknown[];
}

interface Sqlite {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => Database;
}

/** What tells a journal from other databases: `CPJN`, in ASCII. */
const applicationId = 0x43504a4e;
const format = 1;

/** @throws {NotSupportedError} where Node has no SQLite */
export function loadSqlite(): Sqlite {
  const sqlite: unknown = process.getBuiltinModule('node:sqlite');
  if (sqlite === undefined) {
    throw new NotSupportedError(
      'a journal in SQLite',
      `Node ${process.versions.node}: expected Node 22.13 or later, which has node:sqlite`,
    );
  }
  return sqlite as Sqlite;
}

/**
 * Opens the database of a journal to write it, or makes one.
 *
 * @throws {JournalFormatError} when it is another database
 */
export function openToWrite(path: string, durable: boolean): Database {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path);
  try {
    const isNew = pragma(database, 'application_id') === 0 && isEmpty(database);
    if (isNew) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
    else assertFormat(database, path);
    database.exec('PRAGMA busy_timeout = 1000');
    database.exec('PRAGMA journal_mode = WAL');
    // where the disk would say that it has what it has not
    database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    database.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    if (isNew) {
      database.exec(`BEGIN IMMEDIATE;
        CREATE TABLE records (seq INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT;
        PRAGMA application_id = ${applicationId};
        PRAGMA user_version = ${format};
        COMMIT`);
    }
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/**
 * Opens the database of a journal to read it as it is now, whoever writes it.
 *
 * @throws {JournalFormatError} when it is another database
 */
export function openToRead(path: string): Database {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    assertFormat(database, path);
    database.exec('BEGIN');
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** The value of a setting. */
export function pragma(database: Database, name: string): number {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() as { [name: string]: number })[0] as number;
}

const notADatabase = 26;
const corrupt = 11;

/** What an error of SQLite is for a journal, at the record of `seq`; `undefined` for one that is about something else. */
export function errorOf(
  thrown: unknown,
  path: string,
  seq: number,
): JournalFormatError | JournalDamagedError | undefined {
  const { code, errcode, message } = thrown as { code?: unknown; errcode?: unknown; message?: unknown };
  // a number that nobody of us has written
  if (code === 'ERR_OUT_OF_RANGE') return new JournalDamagedError(path, seq, String(message));
  // without what is added to the primary code
  const primary = typeof errcode === 'number' ? errcode & 0xff : undefined;
  if (primary === notADatabase) return new JournalFormatError(path, expected, 'no database');
  return primary === corrupt ? new JournalDamagedError(path, seq, String(message)) : undefined;
}

const expected = `a database of SQLite with a journal of format ${format} in it`;

function isEmpty(database: Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}

function assertFormat(database: Database, path: string): void {
  if (pragma(database, 'application_id') !== applicationId) {
    throw new JournalFormatError(path, expected, 'another database');
  }
  const found = pragma(database, 'user_version');
  if (found !== format) throw new JournalFormatError(path, expected, `the format ${found}`);
}
