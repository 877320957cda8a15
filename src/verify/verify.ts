import type { Journal, JournalRecord } from '../contract/journal.js';
import { Bench } from './bench.js';
import type { Verdict, VerifyOptions } from './verdict.js';

/** What can be checked: a journal, or records from anywhere. */
export type Verifiable = Pick<Journal, 'read'> | AsyncIterable<JournalRecord> | Iterable<JournalRecord>;

/**
 * Checks a journal: every invariant that records can show, and every step taken again by the machines. Reads it once, in memory that
 * is bounded by what is under way at a time.
 *
 * Rejects as the journal does where it cannot be read, with a `JournalDamagedError` for one.
 */
export async function verify(journal: Verifiable, options: VerifyOptions = {}): Promise<Verdict> {
  const { maxFindings = 100, replays = true } = options;
  const bench = new Bench({ maxFindings, replays, keepsState: false });
  const records = recordsOf(journal);
  if (Symbol.iterator in records) for (const record of records) bench.take(record);
  else for await (const record of records) bench.take(record);
  return bench.finish();
}

/** The records of what is to be checked. */
export function recordsOf(journal: Verifiable): AsyncIterable<JournalRecord> | Iterable<JournalRecord> {
  return 'read' in journal ? journal.read() : journal;
}
