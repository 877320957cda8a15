/** What `verify` and `replay` make of journals that are not whole, of recoveries, of ids that come again, and of too much. */
import { describe, expect, test } from 'vitest';
import { createComposition } from '../../machines/index.js';
import type { JournalEntry, JournalRecord } from '../../src/contract/journal.js';
import { createConversation } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { Bench } from '../../src/verify/bench.js';
import { replay, verify } from '../../src/verify/index.js';
import { ConversationJudge, firstGroupOf, groupOf, SessionJudge } from '../../src/verify/invariants/index.js';
import { actions, begin, done, failing, init, task } from '../conversation/events.js';
import { ComposedSession, Pages, rules, writeSession } from './composed.js';
import { changed, draftOf, renumbered } from './edits.js';

const numbersOf = ({ findings }: { findings: readonly { invariant: string }[] }) =>
  findings.map(({ invariant }) => invariant);

function told(tell: (session: ComposedSession) => void): readonly JournalRecord[] {
  const pages = new Pages();
  tell(new ComposedSession(pages).happens('connected'));
  return pages.records;
}

/** Three calls that wait, and an interruption that abandons them. */
const interrupted = told((session) => {
  for (const id of ['a', 'b', 'c']) session.calls(id).call(id, 'approval_required');
  session.happens('interrupted');
});

function recovered(actor: string, state: string, seq: number, did: readonly string[] = []): JournalRecord {
  const kind = actor.includes('/') ? 'call' : 'session';
  const data = kind === 'session' ? { data: { recovery: { machines: 1 } } } : {};
  const effects = did.map((effect) => ({ effect }));
  return { seq, at: 0, actor, kind, event: 'recovered', from: state, to: state, cause: 0, did: effects, ...data };
}

describe('a journal that is cut off', () => {
  test.each(interrupted.map((_, length) => length))('after record %i is sound', async (length) => {
    const { findings, unfinished } = await verify(interrupted.slice(0, length));
    expect(findings).toEqual([]);
    expect(unfinished.sessions).toBe(length === 0 ? 0 : 1);
  });

  test('in the middle of a group, and recovered, is sound: calls of which there is no record stand where they stood', async () => {
    const cut = interrupted.slice(0, -1);
    const records = [...cut, recovered('ses_one', 'open.waiting', cut.length + 1)];
    expect(await verify(records)).toMatchObject({ findings: [], unfinished: { sessions: 1, calls: 1 } });
    const { sessions } = await replay(records);
    expect(sessions[0]?.calls.map(({ state }) => state)).toEqual(['abandoned', 'abandoned', 'awaiting_approval']);
  });

  test('in the middle of an end that leaves nothing to do, and recovered, is sound', async () => {
    const ends = told((session) => session.calls('a').call('a', 'approval_required').happens('closed'));
    const cut = ends.slice(0, -1);
    const found = recovered('ses_one', 'closed', cut.length + 1);
    expect(await verify([...cut, found, { ...(told(() => {})[0] as JournalRecord), seq: 99 }])).toMatchObject({
      findings: [],
    });
  });

  test('in the middle of a group, and gone on with by others, is sound: its session has no end', async () => {
    const pages = new Pages();
    for (const { seq: _, ...record } of interrupted.slice(0, -1)) pages.append(record);
    writeSession(pages, 'ses_two');
    for (const replays of [true, false]) {
      expect(await verify(pages.records, { replays })).toMatchObject({
        findings: [],
        unfinished: { sessions: 1, calls: 1 },
      });
    }
  });

  test('in the middle of a group whose session goes on is not, and the group is what is told of (V3)', async () => {
    const records = told((session) => {
      for (const id of ['a', 'b', 'c']) session.calls(id).call(id, 'approval_required');
      session.happens('interrupted').happens('error').happens('turn_complete');
    });
    const last = records.findLastIndex(({ event }) => event === 'interrupted');
    const pages = new Pages();
    for (const { seq: _, ...record } of records.toSpliced(last, 1)) {
      if (record.event === 'error') writeSession(pages, 'ses_two');
      pages.append(record);
    }
    const [found, ...others] = (await verify(pages.records)).findings;
    expect(found).toMatchObject({ invariant: 'D3', seq: last, actor: 'ses_one/b' });
    expect(others).toMatchObject([{ invariant: 'divergent', seq: last }]);
    expect(numbersOf(await verify(pages.records, { replays: false }))).toEqual(['D3']);
    expect(await verify(pages.records, { maxFindings: 1 })).toMatchObject({ findings: [found], findingsBeyond: 1 });
    expect(await verify(pages.records, { maxFindings: 0 })).toMatchObject({ findings: [], findingsBeyond: 2 });
  });

  test('does not excuse a last group that says something else than the machines', async () => {
    const records = told((session) => session.calls('a').call('a', 'approval_required').calls('a'));
    const at = records.findIndex(({ event }) => event === 'repeated_call');
    const { from, ...repeated } = records[at] as JournalRecord;
    const unheeded = [...records.slice(0, at), { ...repeated, from, to: from, did: [] }];
    expect(numbersOf(await verify(unheeded))).toEqual(['D13', 'divergent']);
  });

  test('in the middle of the end of a session leaves one that has no end', async () => {
    const pages = new Pages();
    new ComposedSession(pages).happens('connected').calls('a').call('a', 'approval_required').happens('closed');
    pages.records.pop();
    expect(await verify(pages.records)).toMatchObject({ findings: [], unfinished: { sessions: 1, calls: 1 } });
  });
});

describe('after a recovery', () => {
  const runs = told((session) => session.calls('a').call('a', 'input_accepted'));
  const next = runs.length + 1;

  test('onLate is told once, and nothing follows', async () => {
    const notice = recovered('ses_one/a', 'executing', next, ['tellLate']);
    const found = recovered('ses_one', 'open.responding', next + 1);
    expect(await verify([...runs, notice, found])).toMatchObject({
      findings: [],
      unfinished: { sessions: 1, calls: 1 },
    });
    expect(await verify([...runs, { ...found, seq: next }, { ...notice, seq: next + 1 }])).toMatchObject({
      findings: [],
    });
    const again = await verify([...runs, notice, found, { ...notice, seq: next + 2 }]);
    expect(numbersOf(again)).toContain('T8');
    const goesOn = { ...(runs.at(-1) as JournalRecord), seq: next + 2, cause: 0, event: 'code_resolved' };
    expect(numbersOf(await verify([...runs, notice, found, goesOn]))).toContain('D9');
  });
});

describe('records that are missing', () => {
  test('of a session as a whole, which has ended, are no fault, nor what its host was refused', async () => {
    const pages = new Pages();
    writeSession(pages, 'ses_gone');
    const gone = pages.records.length;
    new ComposedSession(pages, 'ses_two').happens('connected');
    const refused: JournalEntry = {
      at: 0,
      actor: 'ses_gone',
      kind: 'session',
      event: 'host_act',
      from: 'closed',
      to: 'closed',
      cause: 0,
      did: [{ effect: 'refuseAct' }],
      data: { occurrence: { act: 'send' } },
    };
    pages.append(refused);
    const verdict = await verify(pages.records.slice(gone));
    expect(verdict).toMatchObject({ findings: [], sessions: 1, unjudged: 0, unfinished: { sessions: 1 } });
    expect((await verify(pages.records)).findings).toEqual([]);
  });

  test('of the beginning leave what cannot be judged, which is counted', async () => {
    expect(await verify(interrupted.slice(4))).toMatchObject({ findings: [], unjudged: interrupted.length - 4 });
    // without a gap it is no journal that lacks something
    expect(numbersOf(await verify(renumbered(draftOf(interrupted.slice(4)))))).toContain('D9');
  });
});

describe('an id that comes again', () => {
  test('after a crash belongs to another session', async () => {
    const pages = new Pages();
    new ComposedSession(pages).happens('connected').calls('a');
    writeSession(pages, 'ses_one');
    expect(await verify(pages.records)).toMatchObject({
      findings: [],
      sessions: 2,
      calls: 3,
      unfinished: { sessions: 1, calls: 1 },
    });
  });
});

describe('too much', () => {
  test('of findings is counted', async () => {
    const spoiled = draftOf(interrupted).map((record) => ({ ...record, from: record.from && 'nowhere' }));
    const all = await verify(spoiled, { replays: false });
    expect(all.findings.length).toBeGreaterThan(5);
    const some = await verify(spoiled, { replays: false, maxFindings: 3 });
    expect(some.findings).toEqual(all.findings.slice(0, 3));
    expect(some.findingsBeyond).toBe(all.findings.length - 3);
  });

  const judged = (records: readonly JournalRecord[], maxLingering: number) => {
    const bench = new Bench({ maxFindings: 9, replays: true, keepsState: false, maxLingering });
    for (const record of records) bench.take(record);
    return bench.finish();
  };

  test('of sessions that have ended with code running is forgotten, and not held against them', () => {
    const pages = new Pages();
    const sessions = Array.from({ length: 4 }, (_, number) => {
      const session = new ComposedSession(pages, `ses_${number}`).happens('connected').calls('a');
      return session.call('a', 'input_accepted').happens('closed');
    });
    for (const session of sessions) session.call('a', 'code_resolved');
    expect(judged(pages.records, 4)).toMatchObject({ findings: [], sessions: 4, unjudged: 0 });
    expect(judged(pages.records, 3)).toMatchObject({ findings: [], sessions: 4, unjudged: 1 });
  });

  test('of conversations that wait for another request is forgotten, too', () => {
    const journal = memoryJournal();
    const conversations = Array.from({ length: 4 }, () => createConversation({ journal }));
    for (const conversation of conversations) conversation.apply(done);
    for (const conversation of conversations) conversation.apply(init());
    expect(judged(journal.records, 4)).toMatchObject({ findings: [], conversations: 4, unjudged: 0 });
    expect(judged(journal.records, 3)).toMatchObject({ findings: [], conversations: 4, unjudged: 1 });
  });
});

test('what older machines wrote is told apart', async () => {
  const older = changed(['session', ''], (record) => {
    record.data = { session: { ...rules, machines: 0 } };
  })(draftOf(interrupted));
  expect(await verify(older)).toMatchObject({ findings: [], machines: [0] });
  const divergent = changed(['a', 'interrupted'], (record) => {
    record.did = [...record.did, { effect: 'disarmTimeout' }];
  })(older);
  const [finding] = (await verify(divergent)).findings;
  expect(finding?.what).toContain('written by version 0 of the machines');
});

test('journals, lists and streams of records are read alike', async () => {
  const journal = memoryJournal();
  for (const { seq: _, ...entry } of interrupted) journal.append(entry);
  const fromList = await verify(interrupted);
  expect(await verify(journal)).toEqual(fromList);
  expect(await verify(journal.read())).toEqual(fromList);
  expect(fromList.records).toBe(interrupted.length);
});

test('what is no journal, and what is no number, is refused', async () => {
  const no = { code: 'invalid_input' };
  for (const journal of [undefined, null, 7, 'run.journal', {}, { read: () => null }] as never[]) {
    await expect(verify(journal)).rejects.toMatchObject(no);
    await expect(replay(journal)).rejects.toMatchObject(no);
  }
  for (const number of [Number.NaN, -1, 1.5, '3', null] as never[]) {
    await expect(verify([], { maxFindings: number })).rejects.toMatchObject(no);
    for (const option of ['at', 'maxFindings', 'maxEnded']) {
      await expect(replay([], { [option]: number })).rejects.toMatchObject(no);
    }
  }
});

describe('a judge can go two ways', () => {
  test('of a session', () => {
    const composition = createComposition(rules);
    const judge = new SessionJudge(rules);
    judge.take(firstGroupOf(composition.begin()));
    const fork = judge.clone();
    expect(fork.key()).toBe(judge.key());
    const connected = { at: 'session', type: 'connected' } as const;
    const group = groupOf(connected, 9, 0, composition.take(connected, 9, 0));
    expect(judge.take(group)).toEqual([]);
    expect(fork.key()).not.toBe(judge.key());
    expect(fork.take(group)).toEqual([]);
    expect(fork.key()).toBe(judge.key());
    // the fork has seen the connection already
    expect(fork.take(group).map(({ of }) => of)).toContain('structure');
  });

  test('of a conversation', () => {
    const judge = new ConversationJudge({ phase: 'streaming', version: 1, lastVersion: 1, lastTransaction: 0 });
    const fork = judge.clone();
    const step = (version: number) => ({
      steps: [
        {
          transaction: undefined,
          event: 'actions',
          from: 'streaming',
          to: 'streaming',
          did: [{ effect: 'apply', detail: 'createTask', version }],
          stream: 0,
          version,
        },
      ],
    });
    expect(judge.take(step(2))).toEqual([]);
    // versions count by which of them are the same
    expect(fork.key()).toBe(judge.key());
    expect(fork.take(step(5))).toEqual([]);
    expect(fork.take(step(2)).map(({ of }) => of)).toEqual(['C2']);
  });
});

test('a conversation that was recovered goes on', async () => {
  const journal = memoryJournal({ payloads: 'keep' });
  const conversation = createConversation({ journal });
  for (const input of [init(), actions(task('t')), actions(begin, failing)]) conversation.apply(input);
  expect(await verify(journal)).toMatchObject({
    findings: [],
    conversations: 1,
    transactions: 1,
    unfinished: { conversations: 1, transactions: 1 },
  });
  const { conversations } = await replay(journal);
  expect(conversations[0]).toMatchObject({ phase: 'streaming', transaction: 'doomed' });
});
