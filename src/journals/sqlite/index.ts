/** A journal in SQLite, where Node has it: from 22.13 on. */
export type { Compaction, CompactOptions } from '../../journal/compaction.js';
export type { StoreOptions as SqliteJournalOptions } from '../options.js';
export { readSqliteJournal, sqliteJournal } from './open-sqlite.js';
export { SqliteJournal } from './sqlite-journal.js';
