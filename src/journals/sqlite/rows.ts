import { JournalDamagedError, JournalFormatError, messageOf, UnreadableFileError } from '../../contract/errors.js';
import type { JournalRecord } from '../../contract/journal.js';
import { RecordDecoder } from '../../journal/codec/decoder.js';
import { RecordFault } from '../../journal/codec/fault.js';
import { type Database, errorOf, type Statement } from './database.js';

const rowsAtOnce = 500;

/** Reads the rows of a database in pages, in order of `seq`. */
export class RowReader {
  /** Of the last record that was given; 0 before the first. */
  lastSeq = 0;
  readonly #path: string;
  readonly #page: Statement;
  readonly #decoder = new RecordDecoder();

  /**
   * `path`: the journal's name in errors.
   *
   * @throws {JournalFormatError} when there is no table of records
   */
  constructor(database: Database, path: string) {
    this.#path = path;
    try {
      this.#page = database.prepare('SELECT seq, record FROM records WHERE seq > ? ORDER BY seq LIMIT ?');
    } catch (thrown) {
      throw errorOf(thrown, path, 0) ?? new JournalFormatError(path, 'a table of records', messageOf(thrown));
    }
  }

  /**
   * The records of the next page; none at the end.
   *
   * @throws {JournalDamagedError} whose `offset` is the row, at once; what is sound before it on the same page was given before
   */
  next(): JournalRecord[] {
    const records: JournalRecord[] = [];
    for (const row of this.#rows()) {
      const { seq, record: bytes } = row as { readonly seq: number; readonly record: Uint8Array };
      try {
        const record = this.#decoder.read(bytes, 0, bytes.length);
        if (record.seq !== seq) throw new RecordFault(`expected the record ${seq}, found ${record.seq}`, 0);
        records.push(record);
      } catch (thrown) {
        if (!(thrown instanceof RecordFault)) throw thrown;
        // those before it first
        if (records.length > 0) break;
        throw new JournalDamagedError(this.#path, seq, `the row holds no record: ${thrown.problem}`);
      }
      this.lastSeq = seq;
    }
    this.#decoder.release();
    return records;
  }

  #rows(): unknown[] {
    try {
      return this.#page.all(this.lastSeq, rowsAtOnce);
    } catch (thrown) {
      throw errorOf(thrown, this.#path, this.lastSeq + 1) ?? new UnreadableFileError(this.#path, thrown);
    }
  }
}
