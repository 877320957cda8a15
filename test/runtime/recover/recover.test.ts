/** `recover`, row by row of the table in docs/design/journal.md, and what it leaves behind. */
import { describe, expect, it, test } from 'vitest';
import { JournalClosedError, JournalDamagedError, JournalFailedError } from '../../../src/contract/errors.js';
import type { JournalEntry, JournalRecord } from '../../../src/contract/journal.js';
import type { LateCall, LateOutcome, ToolDefinition } from '../../../src/contract/tool.js';
import { defineTool, type RecoveredCall, recover } from '../../../src/runtime/index.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { verify } from '../../../src/verify/verify.js';
import { expectNoHarm } from '../no-harm.js';
import { held, isSettled, quiet } from '../stage.js';
import { LeftJournal, World, type WorldTool } from './world.js';

expectNoHarm();

const interrupted = { type: 'interrupted' };

/** A session with one call `c` of the tool `t`, brought to where `steps` lead. */
async function left(steps: (world: World) => Promise<void>, tool: WorldTool = {}): Promise<LeftJournal> {
  const world = new World(true, { t: tool });
  await world.emit();
  await steps(world);
  return new LeftJournal(world.journal.records);
}

/** A tool of the name under which calls were made, and what its `onLate` was told. */
function listener(onLate?: ToolDefinition['onLate'], name = 't') {
  const told: [LateOutcome, LateCall][] = [];
  const tool = defineTool({
    name,
    description: '',
    input: {},
    execute: () => expect.unreachable('recovery runs no code'),
    onLate: (outcome, call) => {
      told.push([outcome, call]);
      return onLate?.(outcome, call);
    },
  });
  return { tools: [tool], told };
}

const executing = async (world: World) => {
  await world.call('c', 't');
  await world.flush();
};
const timedOut = async (world: World) => {
  await executing(world);
  await world.advance(10);
};
const committing = async (world: World) => {
  await executing(world);
  await world.settle('c');
};
const close = async (world: World) => {
  world.session.close().catch(() => {});
  await quiet();
};

type Row = [what: string, steps: (world: World) => Promise<void>, tool: WorldTool, expected: Partial<RecoveredCall>];

const rows: Row[] = [
  [
    'malformed, its error result being made durable',
    (world) => world.call('c', 't', 'no JSON'),
    {},
    { state: 'committing', outcome: 'publish_unknown', code: 'never_started', notice: 'none' },
  ],
  [
    'waiting for approval',
    (world) => world.call('c', 't'),
    { needsApproval: true },
    { state: 'awaiting_approval', outcome: 'not_started', code: 'never_started', notice: 'none' },
  ],
  [
    'of a tool that reads, waiting for approval: the approval may have been faster than the records',
    (world) => world.call('c', 't'),
    { needsApproval: true, effect: 'read' },
    { state: 'awaiting_approval', outcome: 'outcome_unknown', code: 'unknown', notice: 'none' },
  ],
  [
    'whose start is being made durable',
    (world) => world.call('c', 't'),
    {},
    { state: 'starting', outcome: 'outcome_unknown', code: 'unknown', notice: 'given' },
  ],
  ['executing', executing, {}, { state: 'executing', outcome: 'outcome_unknown', code: 'unknown', notice: 'given' }],
  [
    'whose code has resolved',
    committing,
    {},
    { state: 'committing', outcome: 'publish_unknown', code: 'resolved', notice: 'none' },
  ],
  [
    'whose code has run into its timeout, and runs on',
    timedOut,
    { timeoutMs: 10 },
    { state: 'committing', outcome: 'publish_unknown', code: 'unknown', notice: 'given' },
  ],
  [
    'timed out and accepted by the far side, while its code runs on',
    async (world) => {
      await timedOut(world);
      await world.flush();
      await world.answer('c', 'accepted');
    },
    { timeoutMs: 10 },
    { state: 'completed', outcome: 'delivered', code: 'unknown', notice: 'given' },
  ],
  [
    'timed out and accepted, and then its code has settled',
    async (world) => {
      await timedOut(world);
      await world.flush();
      await world.answer('c', 'accepted');
      await world.settle('c', new TypeError('late'));
    },
    { timeoutMs: 10 },
    { state: 'completed', outcome: 'delivered', code: 'rejected', notice: 'by_the_run' },
  ],
  [
    'being published',
    async (world) => {
      await committing(world);
      await world.flush();
    },
    {},
    { state: 'publishing', outcome: 'publish_unknown', code: 'resolved', notice: 'none' },
  ],
  [
    'accepted',
    async (world) => {
      await committing(world);
      await world.flush();
      await world.answer('c', 'accepted');
    },
    {},
    { state: 'completed', outcome: 'delivered', code: 'resolved', notice: 'none' },
  ],
  [
    'refused by the far side',
    async (world) => {
      await committing(world);
      await world.flush();
      await world.answer('c', 'refused');
    },
    {},
    { state: 'rejected', outcome: 'refused', code: 'resolved', notice: 'none' },
  ],
  [
    'not answered by the far side',
    async (world) => {
      await committing(world);
      await world.flush();
      await world.advance(40);
    },
    {},
    { state: 'unconfirmed', outcome: 'publish_unknown', code: 'resolved', notice: 'none' },
  ],
  [
    'abandoned before its code started',
    async (world) => {
      await world.call('c', 't');
      await world.emit(interrupted);
    },
    {},
    { state: 'abandoned.settled', outcome: 'abandoned', code: 'never_started', notice: 'none' },
  ],
  [
    'abandoned while its code ran',
    async (world) => {
      await executing(world);
      await world.emit(interrupted);
    },
    {},
    { state: 'abandoned.draining', outcome: 'outcome_unknown', code: 'unknown', notice: 'given' },
  ],
  [
    'abandoned, and then its code has settled',
    async (world) => {
      await executing(world);
      await world.emit(interrupted);
      await world.settle('c');
    },
    {},
    { state: 'abandoned.settled', outcome: 'abandoned', code: 'resolved', notice: 'by_the_run' },
  ],
  [
    'abandoned with its outcome at hand',
    async (world) => {
      await committing(world);
      await world.emit(interrupted);
    },
    {},
    { state: 'abandoned.settled', outcome: 'abandoned', code: 'resolved', notice: 'by_the_run' },
  ],
  [
    'timed out, then withdrawn, while its code runs on',
    async (world) => {
      await timedOut(world);
      await world.emit({ type: 'tool_call_cancelled', ids: ['c'] });
    },
    { timeoutMs: 10 },
    { state: 'abandoned.draining', outcome: 'outcome_unknown', code: 'unknown', notice: 'given' },
  ],
  [
    'cancelled before its code started',
    async (world) => {
      await world.call('c', 't');
      await close(world);
    },
    {},
    { state: 'cancelled', outcome: 'not_started', code: 'never_started', notice: 'none' },
  ],
  [
    'cancelled while its code ran',
    async (world) => {
      await executing(world);
      await close(world);
    },
    {},
    { state: 'cancelled', outcome: 'outcome_unknown', code: 'unknown', notice: 'given' },
  ],
  [
    'cancelled with its outcome at hand',
    async (world) => {
      await committing(world);
      await close(world);
    },
    {},
    { state: 'cancelled', outcome: 'abandoned', code: 'resolved', notice: 'by_the_run' },
  ],
];

describe('a call is told of by its last record', () => {
  it.each(rows)('%s', async (_, steps, tool, expected) => {
    const { tools, told } = listener();
    const { calls, counts } = await recover(await left(steps, tool), { tools, calls: 'all' });
    const effect = tool.effect ?? 'irreversible';
    expect(calls).toMatchObject([
      { id: 'c', name: 't', sessionId: 'ses_world', turnId: 'turn_world', effect, ...expected },
    ]);
    expect(counts).toMatchObject({ [expected.outcome as string]: 1 });
    const about = { id: 'c', name: 't', sessionId: 'ses_world', turnId: 'turn_world' };
    expect(told).toEqual(expected.notice === 'given' ? [[{ status: 'unknown' }, about]] : []);
  });

  test('its arguments are given back while something is open about it', async () => {
    const steps = async (world: World) => {
      await world.call('c', 't', '{"room":7}');
      await world.call('d', 't', '{"room":8}');
      await world.flush();
      await world.settle('d');
      await world.flush();
      await world.answer('d', 'accepted');
    };
    const { calls } = await recover(await left(steps), { tools: [] });
    expect(calls.map(({ id, arguments: args }) => [id, args])).toEqual([
      ['c', '{"room":7}'],
      ['d', undefined],
    ]);
  });

  test('a call whose admission was cut off behind its `tool_call` has not started, and stays in the next recovery', async () => {
    const whole = await left((world) => world.call('c', 't'));
    const admission = whole.records.findIndex(({ kind }) => kind === 'call');
    const cut = new LeftJournal(whole.records.slice(0, admission));
    for (let time = 0; time < 2; time++) {
      const { calls } = await recover(cut, { tools: [] });
      expect(calls).toMatchObject([{ id: 'c', state: 'admitted', outcome: 'not_started' }]);
    }
    // records that compaction took away are not taken for records that were cut off
    const compacted = new LeftJournal(whole.records.slice(0, admission));
    compacted.append({ ...(compacted.records[0] as JournalEntry), actor: 'ses_next' });
    expect((await recover(compacted, { tools: [] })).calls).toEqual([]);
  });

  test('the fence of its session decides it, where its own record of that was cut off', async () => {
    const cut = async (steps: (world: World) => Promise<void>) => {
      const { records } = await left(async (world) => {
        await steps(world);
        await world.emit({ type: 'closed' });
      });
      const fence = records.findIndex(({ to }) => to === 'closed');
      const { calls } = await recover(new LeftJournal(records.slice(0, fence + 1)), { ...listener(), calls: 'all' });
      return calls.map(({ state, outcome, code, notice }) => [state, outcome, code, notice]);
    };
    // a start that was to come would have left a record before
    expect(await cut((world) => world.call('c', 't'))).toEqual([['starting', 'not_started', 'never_started', 'none']]);
    expect(await cut(executing)).toEqual([['executing', 'outcome_unknown', 'unknown', 'given']]);
    expect(await cut(committing)).toEqual([['committing', 'abandoned', 'resolved', 'none']]);
  });

  test('a repeated id leaves the first call as it stood', async () => {
    const steps = async (world: World) => {
      await executing(world);
      await world.call('c', 't');
    };
    const { calls, sessions } = await recover(await left(steps), { tools: [], calls: 'all' });
    expect(calls).toMatchObject([{ id: 'c', state: 'cancelled', outcome: 'outcome_unknown' }]);
    expect(sessions).toMatchObject([{ state: 'closed', reason: 'protocol_failure' }]);
  });
});

describe('sessions', () => {
  test('say where they stood, and why they had ended or begun to', async () => {
    const states = async (steps: (world: World) => Promise<void>) => {
      const { sessions } = await recover(await left(steps), { tools: [], calls: 'all' });
      return sessions.map(({ id, turnId, provider, state, reason }) => [id, turnId, provider, state, reason]);
    };
    const session = ['ses_world', 'turn_world', 'scripted'];
    expect(await states(async () => {})).toEqual([[...session, 'open.waiting', undefined]]);
    expect(await states((world) => world.call('c', 't'))).toEqual([[...session, 'open.responding', undefined]]);
    expect(await states(close)).toEqual([[...session, 'closed', 'host']]);
    expect(await states((world) => world.emit({ type: 'closed' }))).toEqual([[...session, 'closed', 'far_side']]);
    const closing = await left(close);
    const cut = new LeftJournal(closing.records.slice(0, -1));
    expect((await recover(cut, { tools: [] })).sessions).toMatchObject([{ state: 'closing', reason: 'host' }]);
    expect((await recover(new LeftJournal([]), { tools: [] })).sessions).toEqual([]);
  });

  test('that had not ended get one record, and stand where they stood', async () => {
    const journal = await left(executing);
    const before = journal.records.length;
    await recover(journal, { tools: [], at: 17 });
    const recovered = { at: 17, actor: 'ses_world', kind: 'session', event: 'recovered', cause: 0, did: [] };
    const stood = { from: 'open.responding', to: 'open.responding', data: { recovery: { machines: 1 } } };
    expect(journal.records.slice(before)).toEqual([{ seq: before + 1, ...recovered, ...stood }]);
    await recover(journal, { tools: [] });
    expect(journal.records).toHaveLength(before + 1);
  });

  test("stand where output has led them that went by before the last record, a call's", async () => {
    const steps = async (world: World) => {
      await executing(world);
      await world.emit({ type: 'turn_complete' }, { type: 'text', text: 'still here' });
      await world.settle('c');
    };
    const journal = await left(steps);
    expect(journal.records.at(-1)).toMatchObject({ kind: 'call', passed: { text: [1, 1] } });
    expect((await recover(journal, { tools: [] })).sessions).toMatchObject([{ state: 'open.responding' }]);
    expect((await verify(journal)).findings).toEqual([]);
  });

  test('that have ended with everything settled are only counted, unless all are asked for', async () => {
    const steps = async (world: World) => {
      await committing(world);
      await world.flush();
      await world.answer('c', 'accepted');
      await close(world);
    };
    const journal = await left(steps);
    const before = journal.records.length;
    expect(await recover(journal, { tools: [] })).toMatchObject({ sessions: [], calls: [], counts: { delivered: 1 } });
    expect(journal.records).toHaveLength(before);
    const all = await recover(journal, { tools: [], calls: 'all' });
    expect(all).toMatchObject({ sessions: [{ state: 'closed' }], calls: [{ outcome: 'delivered' }] });
  });

  test('are found again by the next recovery, lest the host of this one was gone before it had looked', async () => {
    const journal = await left(executing);
    const { tools, told } = listener();
    expect(await recover(journal, { tools })).toMatchObject({
      sessions: [{ foundBefore: false }],
      calls: [{ outcome: 'outcome_unknown', notice: 'given' }],
    });
    expect(await recover(journal, { tools })).toMatchObject({
      sessions: [{ foundBefore: true }],
      calls: [{ outcome: 'outcome_unknown', notice: 'earlier' }],
    });
    expect(await recover(journal, { tools, calls: 'new' })).toMatchObject({ sessions: [], calls: [] });
    expect(told).toHaveLength(1);
  });

  test('whose id was given to another session are told of as they stood, and written about no more', async () => {
    const first = await left(executing);
    const second = await left((world) => world.call('d', 't'));
    const both = new LeftJournal([...first.records, ...second.records]);
    const { tools, told } = listener();
    const { calls } = await recover(both, { tools });
    expect(calls.map(({ id, notice }) => [id, notice])).toEqual([
      ['c', 'pending'],
      ['d', 'given'],
    ]);
    expect((await recover(both, { tools })).calls.map(({ id, notice }) => [id, notice])).toEqual([
      ['c', 'pending'],
      ['d', 'earlier'],
    ]);
    expect(told).toHaveLength(1);
  });
});

describe('notices', () => {
  test('are given when their record is durable, not before', async () => {
    const { tools, told } = listener();
    const flush = held<void>();
    class Slow extends LeftJournal {
      override flush = () => flush.promise;
    }
    const journal = new Slow((await left(executing)).records);
    const recovery = recover(journal, { tools });
    expect(await isSettled(recovery)).toBe(false);
    expect(journal.records.at(-1)).toMatchObject({
      actor: 'ses_world/c',
      kind: 'call',
      event: 'recovered',
      from: 'executing',
      to: 'executing',
      did: [{ effect: 'tellLate' }],
    });
    expect(told).toEqual([]);
    flush.resolve();
    expect((await recovery).calls).toMatchObject([{ notice: 'given' }]);
    expect(told).toHaveLength(1);
  });

  test('wait for a tool of their name, over recoveries', async () => {
    const journal = await left(executing);
    const stranger = listener(undefined, 'other');
    expect((await recover(journal, stranger)).calls).toMatchObject([{ notice: 'pending' }]);
    const { tools, told } = listener();
    expect((await recover(journal, { tools, calls: 'new' })).calls).toMatchObject([{ id: 'c', notice: 'given' }]);
    expect([stranger.told.length, told.length]).toEqual([0, 1]);
    expect((await recover(journal, { tools })).calls).toMatchObject([{ notice: 'earlier' }]);
    expect(told).toHaveLength(1);
  });

  test('go nowhere where the tool does not listen, and are not kept for later', async () => {
    const journal = await left(executing);
    const deaf = defineTool({ name: 't', description: '', input: {}, execute: () => '' });
    expect((await recover(journal, { tools: [deaf] })).calls).toMatchObject([{ notice: 'given' }]);
    expect((await recover(journal, listener())).calls).toMatchObject([{ notice: 'earlier' }]);
  });

  const failure = new TypeError('not now');
  const failing: [string, () => void][] = [
    [
      'throws',
      () => {
        throw failure;
      },
    ],
    ['rejects', () => Promise.reject(failure)],
  ];
  it.each(failing)('harm nobody where onLate %s, and are not repeated', async (_, onLate) => {
    const two = async (world: World) => {
      await world.call('c', 't');
      await world.call('d', 't');
    };
    const journal = await left(two);
    const { tools, told } = listener((_, { id }) => (id === 'c' ? onLate() : undefined));
    const { calls, failures } = await recover(journal, { tools });
    expect(calls.map(({ id, notice }) => [id, notice])).toEqual([
      ['c', 'failed'],
      ['d', 'given'],
    ]);
    expect(failures).toEqual([{ call: calls[0], error: failure }]);
    await recover(journal, { tools });
    expect(told).toHaveLength(2);
  });

  test('that are never done with are not waited for for ever', async () => {
    const clock = new VirtualClock();
    const { tools } = listener(() => new Promise(() => {}) as never);
    const recovery = recover(await left(executing), { tools, clock, noticeTimeoutMs: 100 });
    await quiet();
    await clock.advance(99, quiet);
    expect(await isSettled(recovery)).toBe(false);
    await clock.advance(1, quiet);
    expect((await recovery).calls).toMatchObject([{ notice: 'unsettled' }]);
    expect(clock.pending).toBe(0);
    // and leave no timer behind where they are
    await recover(await left(executing), { ...listener(), clock });
    expect(clock.pending).toBe(0);
  });

  test('of two recoveries at once: the second finds what the first has left', async () => {
    const journal = await left(executing);
    const { tools, told } = listener();
    const [first, second] = await Promise.all([recover(journal, { tools }), recover(journal, { tools })]);
    expect([first, second].map(({ calls }) => calls[0]?.notice)).toEqual(['given', 'earlier']);
    expect(told).toHaveLength(1);
  });
});

describe('a journal that cannot be', () => {
  const failed = new JournalFailedError('j', new TypeError('no space left'));
  class Full extends LeftJournal {
    isFull: 'append' | 'flush' | undefined;

    override append(entry: JournalEntry): number {
      if (this.isFull === 'append') throw failed;
      return super.append(entry);
    }

    override async flush(): Promise<void> {
      if (this.isFull === 'flush') throw failed;
    }
  }

  it.each(['append', 'flush'] as const)('written: says so, tells nothing, and all is found (%s)', async (isFull) => {
    const journal = new Full((await left(executing)).records);
    journal.isFull = isFull;
    const { tools, told } = listener();
    const { calls, failure } = await recover(journal, { tools });
    expect([calls[0]?.outcome, calls[0]?.notice, failure]).toEqual(['outcome_unknown', 'pending', failed]);
    expect(told).toEqual([]);
  });

  test('written, since it is closed: is read all the same', async () => {
    const journal = await left(executing);
    journal.close();
    const { calls, failure } = await recover(journal, listener());
    expect(calls).toMatchObject([{ outcome: 'outcome_unknown', notice: 'pending' }]);
    expect(failure).toBeInstanceOf(JournalClosedError);
  });

  test('read to its end: rejects, and nothing was run or written', async () => {
    const damage = new JournalDamagedError('j', 400, 'a checksum is wrong');
    class Damaged extends LeftJournal {
      override async *read(): AsyncGenerator<JournalRecord> {
        yield* super.read();
        throw damage;
      }
    }
    const journal = new Damaged((await left(executing)).records);
    const before = journal.records.length;
    const { tools, told } = listener();
    await expect(recover(journal, { tools })).rejects.toBe(damage);
    expect([told, journal.records.length]).toEqual([[], before]);
    // and whoever comes next is not held up by it
    await expect(recover(journal, { tools })).rejects.toBe(damage);
  });

  test('understood: rejects with the place', async () => {
    const { records } = await left(executing);
    const orphan = new LeftJournal(records.filter(({ kind, event }) => kind === 'session' || event !== ''));
    await expect(recover(orphan, { tools: [] })).rejects.toMatchObject({ code: 'journal_damaged', offset: 4 });
    const [began, ...rest] = records as [JournalRecord, ...JournalRecord[]];
    const session = { ...(began.data as { session: object }).session, machines: 1_000 };
    const newer = new LeftJournal([{ ...began, data: { session } } as JournalRecord, ...rest]);
    await expect(recover(newer, { tools: [] })).rejects.toMatchObject({ code: 'journal_format' });
  });
});

test('what is no option is refused, before anything is read', async () => {
  const journal = await left(executing);
  const { tools } = listener();
  const bad: object[] = [
    {},
    { tools: [...tools, ...tools] },
    { tools: [{}] },
    { tools, calls: 'some' },
    { tools, conversations: 1 },
  ];
  for (const options of bad) await expect(recover(journal, options as never)).rejects.toBeInstanceOf(TypeError);
  for (const options of [
    { tools, at: Number.NaN },
    { tools, noticeTimeoutMs: -1 },
  ]) {
    await expect(recover(journal, options)).rejects.toBeInstanceOf(RangeError);
  }
  await expect(recover(undefined as never, { tools })).rejects.toBeInstanceOf(TypeError);
  await expect(recover(journal, undefined as never)).rejects.toBeInstanceOf(TypeError);
});
