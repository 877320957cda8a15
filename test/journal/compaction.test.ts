/** Which records may go: O1–O6 (compaction.ts). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../src/contract/journal.js';
import { CompactionRule, type CompactOptions } from '../../src/journal/index.js';
import { property } from '../properties/property.js';
import { type Course, courses, interleaved, recordOf, steps } from './lives.js';

function kept(
  records: readonly JournalRecord[],
  options?: CompactOptions,
  later: readonly JournalRecord[] = [],
): JournalRecord[] {
  const rule = new CompactionRule(options);
  for (const record of records) rule.look(record);
  rule.looked();
  return [...records, ...later].filter((record) => rule.keeps(record));
}

const sessionIn = ({ actor }: JournalRecord) => actor.split('/')[0] as string;
const isAfterTheEnd = (record?: JournalRecord) => record?.from === 'closed';
const last = (records: readonly JournalRecord[]) => sessionIn(records.at(-1) as JournalRecord);

describe('a session', () => {
  test.each(courses.map(({ name, ...course }) => [name, course] as const))('%s', (_, { steps: all, stays }) => {
    const records = all.map((step, index) => recordOf(index + 1, 'session-1', step));
    // the last record is another's
    records.push(recordOf(records.length + 1, 'session-2', steps.began));
    const whole = (options?: CompactOptions) => kept(records, options).filter((one) => sessionIn(one) === 'session-1');
    expect(whole()).toEqual(stays === 'no' ? [] : records.slice(0, -1));
    expect(whole({ recovered: true })).toEqual(stays === 'always' ? records.slice(0, -1) : []);
  });

  test('whose id another one has, while its end is not known: both stay', () => {
    const both = [steps.began, steps.connected, steps.began, steps.connected, steps.closing, steps.closed];
    const records = [...both.map((step, i) => recordOf(i + 1, 'session-1', step)), recordOf(7, 'two', steps.began)];
    expect(kept(records)).toEqual(records);
  });

  test('whose id another one has, after its end: it goes, the other stays', () => {
    const both = [steps.began, steps.connected, steps.closing, steps.closed, steps.began, steps.connected];
    const records = [...both.map((step, i) => recordOf(i + 1, 'session-1', step)), recordOf(7, 'two', steps.began)];
    expect(kept(records)).toEqual(records.slice(4));
  });

  test('that the far side has closed goes with its calls, which end behind it in the same step (O1)', () => {
    const waits = { ...steps.cancelled, from: 'awaiting_approval', did: [] };
    const far = { ...steps.closed, event: 'closed', from: 'open.waiting' };
    const all = [steps.began, steps.connected, steps.toolCall, steps.admitted, far].map((step, index) =>
      recordOf(index + 1, 'session-1', step),
    );
    const calls = ['a', 'b'].map((call, index) => ({
      ...recordOf(6 + index, 'session-1', waits),
      actor: `session-1/${call}`,
      cause: 5,
    }));
    const behind = recordOf(8, 'session-2', steps.began);
    expect(kept([...all, ...calls, behind])).toEqual([behind]);
    // where they are the last records they stay, and all of the session with them (O4)
    expect(kept([...all, ...calls])).toEqual([...all, ...calls]);
  });

  test('of which an earlier compaction has left nothing: what came after its end goes, all else stays (O5)', () => {
    const records = [
      recordOf(11, 'gone', steps.refused),
      recordOf(12, 'strange', steps.closing),
      recordOf(13, 'strange', steps.closed),
      recordOf(14, 'another', steps.began),
    ];
    expect(kept(records).map(({ seq }) => seq)).toEqual([12, 13, 14]);
  });
});

property('sessions go or stay as wholes, whatever lives beside them (O1, O2, O3, O4)', interleaved, (lives) => {
  const { records } = lives;
  for (const recovered of [false, true]) {
    const goes = ({ stays }: Course) => stays === 'no' || (recovered && stays === 'until dealt with');
    const expected = records.filter((record) => {
      const course = lives.courses.get(sessionIn(record));
      if (course === undefined || !goes(course)) return true;
      // the last record, with its session, or alone where that had ended before it
      return record === records.at(-1) || (sessionIn(record) === last(records) && !isAfterTheEnd(records.at(-1)));
    });
    expect(kept(records, { recovered })).toEqual(expected);
  }
});

property('twice is as once, and the last seq is never lost (O4)', interleaved, ({ records }) => {
  const once = kept(records);
  expect(kept(once)).toEqual(once);
  expect(once.at(-1)).toEqual(records.at(-1));
});

const cut = interleaved.chain((lives) => fc.nat({ max: lives.records.length }).map((at) => ({ ...lives, at })));
property(
  'what comes between the passes and after them stays, but what belongs to a session that went',
  cut,
  (lives) => {
    const { records, at } = lives;
    const before = records.slice(0, at);
    const later = records.slice(at);
    const all = new Set(kept(before, {}, later));
    const went = new Set(before.filter((record) => !all.has(record)).map(sessionIn));
    for (const record of later) expect(all.has(record)).toBe(!went.has(sessionIn(record)));
  },
);
