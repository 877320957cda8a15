/**
 * Wherever a process is killed, what it leaves is sound: as it is, with another
 * run behind it, and without its beginning.
 */
import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../src/contract/journal.js';
import { createConversation } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { type Verdict, verify } from '../../src/verify/index.js';
import { actions, begin, commit, done, failing, init, rollback, task } from '../conversation/events.js';
import { ComposedSession, Pages, writeSession } from './composed.js';

/** Two sessions and two conversations at once, with groups of many records. */
function run(): readonly JournalRecord[] {
  const pages = new Pages();
  const journal = { durable: false, append: (entry: Omit<JournalRecord, 'seq'>) => pages.append(entry) };
  const noMore = { flush: async () => {}, read: async function* () {} };
  const effects = () => [() => {}];
  const one = createConversation({ journal: { ...journal, ...noMore }, effects });
  const two = createConversation({ journal: { ...journal, ...noMore }, mode: 'strict' });
  const session = new ComposedSession(pages, 'ses_one').happens('connected');
  one.apply(init());
  two.apply(init());
  for (const id of ['a', 'b', 'c', 'd', 'e']) session.calls(id);
  session.call('a', 'input_accepted').call('b', 'approval_required').call('c', 'input_accepted');
  one.apply(actions(task('root'), begin, task('t', 'root')));
  two.apply(actions(begin, task('root')));
  session.call('d', 'input_accepted').happens('interrupted');
  one.apply(actions(rollback));
  one.apply(actions(begin, task('u', 'root'), failing));
  one.apply(actions(commit, begin, task('v', 'root'), commit, begin));
  try {
    two.apply(actions(failing));
  } catch {
    // strict
  }
  const three = createConversation({ journal: { ...journal, ...noMore }, mode: 'strict', effects });
  for (const input of [init(), actions(begin, task('root')), done]) {
    try {
      three.apply(input);
    } catch {
      // a transaction is open: strict once more
    }
  }
  const four = createConversation({ journal: { ...journal, ...noMore }, mode: 'strict' });
  four.apply(init());
  try {
    four.apply(actions(rollback));
  } catch {
    // what only the machines tell of, and no action
  }
  writeSession(pages, 'ses_two');
  one.apply(done);
  session.calls('f').call('f', 'input_accepted').happens('closed').call('a', 'code_resolved');
  return pages.records;
}

const whole = run();
const places = whole.map((_, place) => place + 1);
const next = memoryJournal();
createConversation({ journal: next }).apply(init());

function after(records: readonly JournalRecord[], others: readonly JournalRecord[]): readonly JournalRecord[] {
  const last = records.at(-1)?.seq ?? 0;
  const moved = others.map((record) => ({
    ...record,
    seq: record.seq + last,
    cause: record.cause === 0 ? 0 : record.cause + last,
  }));
  return [...records, ...moved];
}

const foundIn = ({ findings }: Verdict) =>
  findings.map(({ invariant, seq, what }) => `${invariant} at ${seq}: ${what}`);

test('as a whole it is sound, and has groups of many records', async () => {
  expect(foundIn(await verify(whole))).toEqual([]);
  expect(whole.filter(({ cause }) => cause !== 0).length).toBeGreaterThan(25);
});

describe.each([true, false])('with a replay: %s', (replays) => {
  test('cut off anywhere it is sound', async () => {
    for (const place of places) expect(foundIn(await verify(whole.slice(0, place), { replays }))).toEqual([]);
  });

  test('cut off anywhere, and followed by another run, it is sound', async () => {
    for (const place of places) {
      const records = after(whole.slice(0, place), next.records);
      expect(foundIn(await verify(records, { replays })), `behind record ${place}`).toEqual([]);
    }
  });

  test('without its beginning it is not judged, and not held to be at fault', async () => {
    for (const place of places) {
      const { unjudged, ...verdict } = await verify(whole.slice(place), { replays });
      expect(foundIn(verdict as Verdict), `from behind record ${place}`).toEqual([]);
      if (whole[place]?.event !== '') expect(unjudged).toBeGreaterThanOrEqual(place < whole.length ? 1 : 0);
    }
  });
});
