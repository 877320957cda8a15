/** The third part of `commitpoint demo`: the journal of the first two, written to a file, verified, and looked back into. */
import type { JournalRecord } from '../contract/journal.js';
import { type FileJournal, fileJournal, readJournalFile } from '../journals/file/index.js';
import { type Replayed, replay, type Verdict, verify } from '../verify/index.js';

/** Begins the journal with what a session has recorded. It keeps what was asked and answered, for whoever looks. */
export async function beginJournal(path: string, records: readonly JournalRecord[]): Promise<FileJournal> {
  const journal = await fileJournal(path, { payloads: 'keep' });
  for (const record of records) journal.append(record);
  return journal;
}

/** What became of the demo's journal. */
export interface CheckedJournal {
  readonly verdict: Verdict;
  /** How things stood when the first result entered its commit point. */
  readonly atTheCommitPoint: Replayed;
}

/** Reads the file back, checks it, and replays it up to the first commit point. */
export async function checkJournal(path: string): Promise<CheckedJournal> {
  const verdict = await verify(readJournalFile(path));
  const atTheCommitPoint = await replay(readJournalFile(path), { at: await firstCommitPoint(path) });
  return { verdict, atTheCommitPoint };
}

async function firstCommitPoint(path: string): Promise<number> {
  for await (const { seq, to } of readJournalFile(path)) if (to === 'publishing') return seq;
  return 0;
}

/** What there is to say of it, line by line. */
export function wordsOf({ verdict, atTheCommitPoint }: CheckedJournal): readonly string[] {
  const { records, sessions, calls, conversations, transactions, findings } = verdict;
  const counted = [
    counts(sessions, 'session'),
    counts(calls, 'call'),
    counts(conversations, 'conversation'),
    counts(transactions, 'transaction'),
  ].join(', ');
  const judged = findings.length === 0 ? 'no invariant is broken, and the machines take every step again' : 'broken:';
  const { at, sessions: standing } = atTheCommitPoint;
  return [
    `${records} records: ${counted}`,
    `verified: ${judged}`,
    ...findings.map(({ invariant, seq, actor, what }) => `  ${invariant} at record ${seq} (${actor}): ${what}`),
    ...standing.flatMap(({ state, calls }) => [
      `replayed to record ${at}, where the first result enters its commit point:`,
      `  session  ${state}`,
      ...calls.map(({ id, name, state }) => `  ${id}       ${name.padEnd(10)}  ${state}`),
    ]),
  ];
}

function counts(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
