/** What sessions write into a journal (docs/design/journal.md; J1–J4 of the recorder). */
import { describe, expect, it } from 'vitest';
import { JournalClosedError } from '../../src/contract/errors.js';
import type { Journal, JournalEntry, JournalRecord } from '../../src/contract/journal.js';
import type { Tool } from '../../src/contract/tool.js';
import { type MemoryJournal, memoryJournal } from '../../src/journal/index.js';
import { openSession } from '../../src/runtime/start-session.js';
import { HandJournal } from '../../src/testing/hand-journal.js';
import { VirtualClock } from '../../src/testing/index.js';
import { handTools } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { type Held, held, outcomeOf, quiet, readAll, type StageOptions, stage, toolCall } from './stage.js';

expectNoHarm();

const line = ({ actor, event, from, to, cause, did }: JournalRecord) =>
  `${actor} ${event}: ${from}>${to} /${cause} ${did.map(({ effect, detail }) => (detail ? `${effect}(${detail})` : effect)).join(' ')}`;

/** A session on a journal, with a tool in hand; its host reads. */
async function recorded({ journal = memoryJournal(), ...options }: StageOptions & { journal?: MemoryJournal } = {}) {
  const hand = handTools({ effect: 'irreversible' });
  const on = await stage({ ...hand, sessionId: 'ses_one', turnId: 'turn_one', ...options, journal });
  const reading = readAll(on.session);
  await quiet();
  return { ...on, hand, reading, journal };
}

describe('records of a session', () => {
  it('stand in groups: the cause first, what followed from it behind', async () => {
    const { emit, hand, session, journal } = await recorded();
    await emit(toolCall('c/1', 'hand'), { type: 'interrupted' });
    hand.code('c/1').resolve('late');
    await quiet();
    await session.close();
    expect(journal.records.map(line)).toEqual([
      'ses_one : >connecting /0 armConnectTimeout connectDriver',
      'ses_one connected: connecting>open.waiting /0 disarmConnectTimeout readEvents resolveStart',
      'ses_one tool_call: open.waiting>open.responding /0 ',
      'ses_one/c/1 : >admitted /3 reportStarted validate',
      'ses_one/c/1 input_accepted: admitted>queued /0 disarmTimeout',
      'ses_one/c/1 placed: queued>executing /5 execute armTimeout',
      'ses_one interrupted: open.responding>open.waiting /0 deliver resolveInterrupts',
      'ses_one/c/1 interrupted: executing>abandoned.draining /7 disarmTimeout reportAbandoned stub',
      'ses_one/c/1 code_resolved: abandoned.draining>abandoned.settled /0 noteSettledLate tellLate',
      'ses_one host_close: open.waiting>closing /0 discardUnread abortLifetime armCloseTimeout closeDriver',
      'ses_one close_settled: closing>closed /0 disarmCloseTimeout refusePending resolveClosed',
    ]);
    expect(journal.records.map(({ seq }) => seq)).toEqual(journal.records.map((_, index) => index + 1));
    expect(journal.records[0]?.data).toMatchObject({ session: { turnId: 'turn_one', durable: false } });
    expect(journal.records[2]?.data).toMatchObject({
      occurrence: { candidate: { id: 'c/1', effect: 'irreversible' } },
    });
  });

  it('say what happened where the machine was given something else', async () => {
    const { emit, journal } = await recorded();
    await emit(toolCall('c1', 'hand'), toolCall('c1', 'hand'));
    const repeat = journal.records.find(({ event }) => event === 'repeated_call');
    expect(repeat?.data).toMatchObject({ occurrence: { type: 'tool_call', candidate: { id: 'c1' } } });
  });

  it('say how much room there was, where the host is not reading', async () => {
    const journal = memoryJournal();
    const { emit } = await stage({ journal, maxBufferedEvents: 2 });
    await emit({ type: 'turn_complete' }, { type: 'turn_complete' }, { type: 'text', text: 'too much' });
    const rooms = journal.records.map(({ event, data }) => [event, data && 'occurrence' in data && data.occurrence]);
    expect(rooms.slice(2, 5)).toEqual([
      ['turn_complete', { room: 2 }],
      ['turn_complete', { room: 1 }],
      ['overflow', { type: 'text', room: 0 }],
    ]);
  });

  it('count data events at both ends and have none for them (J2)', async () => {
    const { emit, journal } = await recorded();
    const audio = { type: 'audio', data: 'AAAA', mediaType: 'audio/pcm' } as const;
    await emit({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, audio, { type: 'turn_complete' });
    await emit({ type: 'text', text: 'c' }, { type: 'interrupted' });
    expect(journal.records.slice(2).map(({ event, passed }) => [event, passed])).toEqual([
      ['turn_complete', { text: [2, 2], audio: [1, 1] }],
      ['interrupted', { text: [1, 1], audio: [0, 0] }],
    ]);
  });

  it('are there before what they tell of is done (J1)', async () => {
    const journal = memoryJournal();
    const before: string[][] = [];
    const look = () => before.push(journal.records.map(({ event, to }) => `${event}>${to}`));
    const hand = handTools();
    const [{ execute }] = hand.tools as [Tool];
    const tool: Tool = {
      ...(hand.tools[0] as Tool),
      execute: (input, context) => {
        look();
        return execute(input, context);
      },
    };
    const { emit } = await stage({ journal, tools: [tool] });
    await emit(toolCall('c1', 'hand'));
    expect(before[0]?.at(-1)).toBe('placed>executing');
  });

  it('of calls that do the same are one list, and another one where the result is an error (Q1)', async () => {
    const { emit, hand, journal } = await recorded();
    await emit(toolCall('c1', 'hand'), toolCall('c2', 'hand'), toolCall('c3', 'hand'), toolCall('c4', 'hand'));
    hand.code('c1').resolve('fine');
    hand.code('c2').reject(new TypeError('not fine'));
    hand.code('c3').resolve('fine as well');
    hand.code('c4').reject(new TypeError('not fine either'));
    await quiet();
    const doneBy = (asked: string) => journal.records.filter(({ event }) => event === asked).map(({ did }) => did);
    const [fine, error, fineToo, errorToo] = doneBy('publish_accepted');
    expect(fine).toEqual([{ effect: 'disarmPublishTimeout' }, { effect: 'reportCompleted' }]);
    expect(error).toEqual([{ effect: 'disarmPublishTimeout' }, { effect: 'reportCompleted', detail: 'error' }]);
    expect(fineToo).toBe(fine);
    expect(errorToo).toBe(error);
    const [first, second, failed] = [...doneBy('code_resolved'), ...doneBy('code_rejected')].map((did) =>
      did.find(({ effect }) => effect === 'publish'),
    );
    expect(first?.digest).toBeDefined();
    expect(new Set([first?.digest, second?.digest, failed?.digest]).size).toBe(3);
  });

  it('of two sessions share one journal, group by group', async () => {
    const journal = memoryJournal();
    const one = await recorded({ journal });
    const two = await recorded({ journal, sessionId: 'ses_two' });
    one.far.emit(toolCall('c1', 'hand'));
    two.far.emit(toolCall('c1', 'hand'));
    await quiet();
    const { records } = journal;
    expect(new Set(records.map(({ actor }) => actor))).toEqual(
      new Set(['ses_one', 'ses_two', 'ses_one/c1', 'ses_two/c1']),
    );
    for (const [index, { cause, seq }] of records.entries()) {
      expect(seq).toBe(index + 1);
      const before = records[index - 1];
      if (cause > 0) expect([before?.seq, before?.cause]).toContain(cause);
    }
  });
});

describe('payloads (J4)', () => {
  const policies = ['keep', 'hash', 'omit'] as const;
  for (const payloads of policies) {
    it(`${payloads}: of arguments, results and errors`, async () => {
      const journal = memoryJournal({ payloads });
      const { emit, hand } = await recorded({ journal });
      const secret = 'a word that nobody else says';
      const audio = { type: 'audio', data: 'c2VjcmV0', mediaType: 'audio/pcm' } as const;
      await emit(toolCall('c1', 'hand', { secret }), audio, { type: 'error', message: secret });
      hand.code('c1').resolve(secret);
      await quiet();
      const text = new TextDecoder();
      const candidate = journal.records.flatMap(({ data }) =>
        data && 'occurrence' in data && data.occurrence.candidate ? [data.occurrence.candidate] : [],
      )[0];
      const said = journal.records.flatMap(({ did }) => did.filter(({ digest, payload }) => digest ?? payload));
      expect(candidate?.digest).toMatch(payloads === 'omit' ? /^$/ : /\./);
      switch (payloads) {
        case 'keep':
          expect(text.decode(candidate?.arguments)).toBe(JSON.stringify({ secret }));
          expect(said.map(({ effect, payload }) => [effect, text.decode(payload)])).toEqual([
            ['deliver', secret],
            ['publish', secret],
          ]);
          break;
        case 'hash':
          expect(said.map(({ effect }) => effect)).toEqual(['deliver', 'publish']);
          expect(new Set(said.map(({ digest }) => digest)).size).toBe(1);
          break;
        case 'omit':
          expect(said).toEqual([]);
      }
      const everything = JSON.stringify(journal.records, (_, value) =>
        value instanceof Uint8Array ? text.decode(value) : value,
      );
      expect(everything.includes(secret)).toBe(payloads === 'keep');
      expect(everything).not.toContain('c2VjcmV0');
    });
  }
});

describe('a journal that gives no place', () => {
  it.each([
    ['later', () => Promise.reject(new TypeError('too late'))],
    ['never', () => undefined],
    ['twice', () => 1],
    ['as no number', () => Number.NaN],
  ])('%s ends the session with journal_failed', async (_, append) => {
    const none = { durable: false, flush: async () => {}, read: async function* () {} };
    let appended = 0;
    const journal = { ...none, append: () => (++appended === 1 ? 1 : append()) } as Journal;
    const { session } = await stage({ journal });
    expect(await session.closed).toMatchObject({
      reason: 'journal_failed',
      message: expect.stringContaining('expected a number above 1'),
    });
    expect(appended).toBe(2);
  });
});

describe('a journal that takes no more (J3)', () => {
  it('ends the session with journal_failed, and is asked for nothing more', async () => {
    let asked = 0;
    const journal: Journal = {
      durable: false,
      append: (_: JournalEntry) => {
        asked++;
        if (asked > 3) throw new JournalClosedError();
        return asked;
      },
      flush: () => Promise.resolve(),
      read: () => memoryJournal().read(),
    };
    const hand = handTools();
    const { session, emit } = await stage({ ...hand, journal });
    const { seen } = readAll(session);
    await emit(toolCall('c1', 'hand'), { type: 'text', text: 'unheard' });
    expect(await session.closed).toMatchObject({
      reason: 'journal_failed',
      message: expect.stringContaining('the journal is closed'),
      calls: [{ id: 'c1', state: 'cancelled' }],
    });
    expect(seen.filter(({ type }) => type === 'error')).toHaveLength(1);
    const then = asked;
    hand.code('c1')?.resolve('x');
    await quiet();
    expect(asked).toBe(then);
  });

  it('from the first record on: start rejects with its error, the driver is told', async () => {
    const journal = memoryJournal();
    journal.close();
    const clock = new VirtualClock();
    let signal: AbortSignal | undefined;
    const { started, session } = openSession({
      provider: {
        id: 'never',
        connect: (params) => {
          ({ signal } = params);
          return new Promise(() => {});
        },
      },
      connect: { model: 'm' },
      clock,
      journal,
    });
    expect(await outcomeOf(started)).toEqual({ error: expect.any(JournalClosedError) });
    expect(signal?.aborted).toBe(true);
    await clock.advance(5_000, quiet);
    expect(await session.closed).toMatchObject({ reason: 'journal_failed', calls: [] });
  });
});

describe('a durable journal', () => {
  it('delays no data event, however long a flush takes', async () => {
    const flushes: Held<void>[] = [];
    const journal = new HandJournal(true, () => {
      const flush = held<void>();
      flushes.push(flush);
      return flush.promise;
    });
    const { emit, reading, hand } = await recorded({ journal });
    await emit(
      toolCall('c1', 'hand'),
      { type: 'text', text: 'a' },
      { type: 'turn_complete' },
      { type: 'text', text: 'b' },
    );
    expect(hand.isRunning('c1')).toBe(false);
    expect(reading.seen.map(({ type }) => type)).toEqual(['tool_started', 'text', 'turn_complete', 'text']);
    expect(journal.records.at(-1)?.event).toBe('turn_complete');
    flushes[0]?.resolve();
    await quiet();
    expect(hand.isRunning('c1')).toBe(true);
  });
});
