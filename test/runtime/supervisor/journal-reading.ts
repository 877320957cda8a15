import type { Journal, JournalRecord } from '../../../src/contract/journal.js';

/** All that a journal holds. */
export async function decodeJournal(journal: Journal): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  for await (const record of journal.read()) records.push(record);
  return records;
}
