import { InvalidInputError } from '../contract/errors.js';
import type { Journal, JournalRecord } from '../contract/journal.js';
import { Bench } from './bench.js';
import type { Verdict, VerifyOptions } from './verdict.js';

/** What can be checked: a journal, or records from anywhere. */
export type Verifiable = Pick<Journal, 'read'> | AsyncIterable<JournalRecord> | Iterable<JournalRecord>;

/**
 * Checks a journal: every invariant that records can show, and every step taken again by the machines. Reads it once, in memory that
 * is bounded by what is under way at a time.
 *
 * Rejects as the journal does where it cannot be read, with a `JournalDamagedError` for one; with an `InvalidInputError` for what is
 * no journal, or no number.
 */
export async function verify(journal: Verifiable, options: VerifyOptions = {}): Promise<Verdict> {
  const { maxFindings = 100, replays = true } = options;
  assertCount('maxFindings', maxFindings);
  const bench = new Bench({ maxFindings, replays, keepsState: false });
  const records = recordsOf(journal);
  if (Symbol.iterator in records) for (const record of records) bench.take(record);
  else for await (const record of records) bench.take(record);
  return bench.finish();
}

/** The records of what is to be checked. @throws {InvalidInputError} for what has none */
export function recordsOf(journal: Verifiable): AsyncIterable<JournalRecord> | Iterable<JournalRecord> {
  if (typeof journal === 'object' && journal !== null) {
    const records = 'read' in journal ? journal.read() : journal;
    if (typeof records === 'object' && records !== null) {
      if (Symbol.iterator in records || Symbol.asyncIterator in records) return records;
    }
  }
  throw new InvalidInputError('journal', 'a journal, or records that can be iterated', journal);
}

/** @throws {InvalidInputError} for what is no number of things */
export function assertCount(what: string, value: unknown): void {
  const isCount = typeof value === 'number' && (value === Number.POSITIVE_INFINITY || Number.isInteger(value));
  if (!isCount || value < 0) throw new InvalidInputError(what, 'an integer from 0', value);
}
