/** Supervisors in `verify` and `replay` (supervision.md: S1, S11, S12, S16; V2–V4 of the machine): what a sound journal shows, and that every change of it is noticed. */
import { describe, expect, test } from 'vitest';
import { supervisorEvents } from '../../machines/index.js';
import { recordInWords } from '../../src/cli/journal-words.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { replay, verify } from '../../src/verify/index.js';
import { type Draft, draftOf, renumbered } from './edits.js';
import { supervisedRecords } from './supervised.js';

const records = await supervisedRecords;
const numbersOf = async (changed: readonly JournalRecord[], replays = true) => [
  ...new Set((await verify(changed, { replays })).findings.map(({ invariant }) => invariant)),
];
const places = records.flatMap(({ kind }, at) => (kind === 'supervisor' ? [at] : []));
const word = (at: number) => recordInWords(records[at] as JournalRecord);

test('the journal of a supervisor that restarts, gives up, refuses and stops is sound', async () => {
  expect(await verify(records)).toMatchObject({
    findings: [],
    supervisors: 1,
    unfinished: { supervisors: 0, sessions: 0 },
  });
  const words = places.map(word);
  for (const event of ['restart_due', 'session_failed', 'over_limit', 'shutdown', 'conversation_ended', 'emptied']) {
    expect(
      words.some((line) => line.includes(`supervisor: ${event},`)),
      event,
    ).toBe(true);
  }
});

describe('at any record', () => {
  test('a journal that is cut off there is sound, and says that the supervisor has no end', async () => {
    for (let length = 1; length < records.length; length++) {
      const { findings, unfinished } = await verify(records.slice(0, length));
      expect(findings).toEqual([]);
      expect(unfinished.supervisors).toBe(1);
    }
  });

  test('a replay has the supervisor and the children that live', async () => {
    const at = (event: string) => records.findLast((record) => record.event === event)?.seq ?? 0;
    const before = await replay(records, { at: at('shutdown') - 1 });
    expect(before.supervisors).toMatchObject([
      {
        id: 'sup_one',
        state: 'running',
        children: [
          { kind: 'session', id: 'one', sessionId: /^ses_/, isRestarting: true },
          { kind: 'conversation', id: 'con_one' },
          { kind: 'session', id: 'two' },
        ].map((child) => ({
          ...child,
          ...('sessionId' in child ? { sessionId: expect.stringMatching(/^ses_/) } : {}),
        })),
      },
    ]);
    const after = await replay(records);
    expect(after.supervisors).toEqual([{ id: 'sup_one', state: 'stopped', children: [] }]);
    expect(after.findings).toEqual([]);
  });
});

describe('a change of a record of the supervisor is noticed', () => {
  /** Every journal in which the record at a place is another one. */
  type Change = (record: JournalRecord) => readonly Partial<Draft[number]>[];
  const changes: Readonly<Record<string, Change>> = {
    'another state was reached': ({ to }) =>
      ['running', 'draining', 'stopped'].filter((other) => other !== to).map((other) => ({ to: other })),
    'another state was left': ({ from }) =>
      ['running', 'draining', 'stopped'].filter((other) => other !== from).map((other) => ({ from: other })),
    'an effect is gone': ({ did, event }) =>
      // without a limit nothing is held against it
      event === '' ? [] : did.map((_, at) => ({ did: did.toSpliced(at, 1) })),
    'there is an effect more': ({ did, event }) =>
      event === ''
        ? []
        : [{ did: [...did, { effect: 'refuseStart' }] }, { did: [{ effect: 'releaseChild', detail: 'one' }, ...did] }],
    'effects change places': ({ did, event }) => (event === '' || did.length < 2 ? [] : [{ did: did.toReversed() }]),
    'something else happened': ({ event, did }) =>
      supervisorEvents
        .filter(
          (other) =>
            event !== '' &&
            other !== event &&
            !isAlike(
              other,
              event,
              did.map(({ effect }) => effect),
            ),
        )
        .map((other) => ({ event: other })),
    'it was about another child': ({ did }) =>
      did.flatMap(({ effect, detail = '' }, at) =>
        isAboutChild(effect) ? [{ did: did.with(at, { effect, detail: detail.replace(/^\S+/, 'nobody') }) }] : [],
      ),
    'it was about another incarnation': ({ did }) =>
      did.flatMap(({ effect, detail = '' }, at) =>
        detail.includes(' ses_')
          ? [{ did: did.with(at, { effect, detail: detail.replace(/ses_\S+/, 'ses_none') }) }]
          : [],
      ),
    'an incarnation ended for another reason': ({ did }) =>
      did.flatMap(({ effect, detail = '' }, at) =>
        effect === 'armRestart' ? [{ did: did.with(at, { effect, detail: detail.replace(/\S+$/, 'overflow') }) }] : [],
      ),
    'its limits were smaller': ({ did, event }) =>
      event === '' ? did.map(({ effect }, at) => ({ did: did.with(at, { effect, detail: '0' }) })) : [],
  };
  /** A child whose failure or start is all that the detail tells of. */
  const isAboutChild = (effect: string) =>
    ['openIncarnation', 'announceIncarnation', 'armRestart', 'releaseChild'].includes(effect);
  /** The machine does the same at both, and nothing tells them apart. */
  const isAlike = (one: string, other: string, did: readonly string[]) =>
    [
      ['session_ended', 'conversation_ended', 'incarnation_ended'],
      ['over_limit', 'start_session', 'start_conversation'],
    ].some((alike) => alike.includes(one) && alike.includes(other)) &&
    ['releaseChild', 'refuseStart', ''].includes(did.join());

  test.each(Object.keys(changes))('%s', async (title) => {
    let tried = 0;
    for (const at of places) {
      for (const change of (changes[title] as Change)(records[at] as JournalRecord)) {
        const draft = draftOf(records);
        draft[at] = { ...(draft[at] as Draft[number]), ...change };
        tried++;
        expect(await numbersOf(draft), `${word(at)} → ${JSON.stringify(change)}`).not.toEqual([]);
      }
    }
    expect(tried).toBeGreaterThan(0);
  });

  test('a record is gone', async () => {
    for (const at of places) {
      // that somebody was refused, or reached again, changes nothing that comes later; nor does the end, where it is the last
      if (/refuseStart|announceIncarnation|resolveShutdown/.test(word(at))) continue;
      // one that was to begin again may have been closed at the last moment instead
      const session = / armRestart\(one (ses_\S+) /.exec(word(at))?.[1];
      if (session !== undefined && places.some((place) => word(place).includes(`releaseChild(one ${session}`)))
        continue;
      expect(await numbersOf(renumbered(draftOf(records).toSpliced(at, 1))), word(at)).not.toEqual([]);
    }
  });

  test('a record stands twice', async () => {
    for (const at of places) {
      if (/refuseStart|announceIncarnation|begins/.test(word(at))) continue;
      const record = records[at] as JournalRecord;
      const twice = draftOf(records)
        .toSpliced(at, 0, structuredClone(record) as Draft[number])
        .map((one, index) => ({ ...one, seq: index + 1, cause: one.cause > record.seq ? one.cause + 1 : one.cause }));
      expect(await numbersOf(twice), word(at)).not.toEqual([]);
    }
  });
});
