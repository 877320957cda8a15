/** What a host or a driver does at a moment, or in a way, that nobody expects (§7; numbers of docs/design/supervision.md). */
import { describe, expect, test } from 'vitest';
import { memoryJournal } from '../../../src/journal/index.js';
import type { SupervisedSession, SupervisedSessionOptions } from '../../../src/runtime/index.js';
import { verify } from '../../../src/verify/index.js';
import { expectNoHarm } from '../no-harm.js';
import { outcomeOf, quiet } from '../stage.js';
import { decodeJournal } from './journal-reading.js';
import { FarSide, stage, watch } from './stage.js';

expectNoHarm();

/** A function of the host's, by mistake one that promises. */
const promising = (async () => {
  throw new Error('nobody waits');
}) as never;

const cut = ({ far }: FarSide['last']) => far.fail(new Error('cut'));

describe('a signal that is aborted while nobody listens', () => {
  test('ends the start in which `prepare` aborts it, and nothing is connected (S7)', async () => {
    const { start, supervisor } = stage();
    const far = new FarSide();
    const host = new AbortController();
    let prepared: SupervisedSession | undefined;
    const starting = start(far, {
      signal: host.signal,
      prepare: (session) => {
        prepared = session;
        host.abort(new RangeError('no more'));
      },
    });
    await expect(starting).rejects.toThrow('no more');
    expect((await prepared?.closed)?.reason).toBe('aborted');
    expect(far.log).toEqual([]);
    expect(supervisor.list()).toEqual([]);
  });

  test('ends the session whose next incarnation `provider` gives, and aborts', async () => {
    const { supervisor, pass } = stage();
    const far = new FarSide();
    const host = new AbortController();
    const session = await supervisor.startSession({
      provider: ({ attempt }) => {
        if (attempt > 0) host.abort(new RangeError('no more'));
        return far;
      },
      connect: { model: 'scripted' },
      signal: host.signal,
      restart: { type: 'permanent', backoff: () => 100 },
    });
    const { ended } = watch(session);
    far.last.far.emit({ type: 'closed' });
    await pass(100);
    await ended;
    expect((await session.closed).reason).toBe('aborted');
    expect(far.log).toEqual(['1 connect']);
  });

  test('while a start waits for its turn, refuses it', async () => {
    const { start, supervisor } = stage();
    const far = new FarSide();
    const first = await start(far);
    let starting: Promise<unknown> | undefined;
    // told within a step of the supervisor: what is asked for here waits for the next
    first.lifecycle$.subscribe({
      complete: () => {
        const host = new AbortController();
        starting = outcomeOf(start(far, { signal: host.signal }));
        host.abort(new RangeError('no more'));
      },
    });
    await first.close();
    expect(await starting).toMatchObject({ error: { message: 'no more' } });
    expect(supervisor.list()).toEqual([]);
  });

  test('while an incarnation closes, lets nobody expect another one (S4)', async () => {
    const { start, pass } = stage();
    const far = new FarSide({ hold: ['close'] });
    const host = new AbortController();
    const session = await start(far, { signal: host.signal, restart: { type: 'permanent' } });
    const { notes } = watch(session);
    cut(far.last);
    await quiet();
    host.abort(new RangeError('no more'));
    far.last.held[0]?.resolve();
    await pass(1000);
    expect((await session.closed).reason).toBe('aborted');
    expect(notes.map(({ type }) => type)).toEqual([]);
  });
});

describe('a close', () => {
  test('of a session whose start waits for its turn refuses the start (S7)', async () => {
    const { start, supervisor } = stage();
    const far = new FarSide();
    const first = await start(far);
    let starting: Promise<unknown> | undefined;
    first.lifecycle$.subscribe({
      complete: () => {
        let early: SupervisedSession | undefined;
        const prepare = (session: SupervisedSession) => {
          early = session;
        };
        starting = outcomeOf(start(far, { prepare }));
        early?.close();
      },
    });
    await first.close();
    expect(await starting).toMatchObject({ error: { code: 'connect_aborted' } });
    expect(far.log).toEqual(['1 connect', '1 close']);
    expect(supervisor.stats).toMatchObject({ sessions: 0, started: 2, ended: 2 });
  });

  test('on the way to being given up is what ended the session: all say the same (S8, S9)', async () => {
    const { start, supervisor, pass } = stage();
    const far = new FarSide({ hold: ['close'] });
    const session = await start(far, { restart: { type: 'permanent', intensity: 0 } });
    const { notes } = watch(session);
    cut(far.last);
    await quiet();
    const closing = session.close();
    far.last.held[0]?.resolve();
    await closing;
    await pass(1000);
    expect(notes).toEqual([]);
    expect(supervisor.stats.failures).toBe(0);
    expect((await session.closed).failed).toBe(false);
  });
});

describe('a promise where none is waited for', () => {
  test('is no driver and nothing to connect with, and what it rejects with reaches nobody (S13)', async () => {
    const { supervisor } = stage();
    const options: SupervisedSessionOptions = { provider: new FarSide(), connect: { model: 'scripted' } };
    const wrong = { provider: promising, connect: promising, prepare: promising };
    for (const [option, value] of Object.entries(wrong)) {
      const starting = supervisor.startSession({ ...options, [option]: value });
      await expect(starting, option).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(starting, option).rejects.toThrow(`what \`${option}\` gave`);
    }
    expect(supervisor.list()).toEqual([]);
  });

  test('is no delay: the default stands in (S10)', async () => {
    const { start, pass } = stage();
    const far = new FarSide();
    const session = await start(far, { restart: { type: 'permanent', backoff: promising } });
    const { notes } = watch(session);
    far.last.far.emit({ type: 'closed' });
    await pass(500);
    expect(notes).toMatchObject([
      { type: 'diagnostic', code: 'host_callback_threw' },
      { type: 'restarting', inMs: 500 },
      { type: 'restarted' },
    ]);
  });

  test('is no handle (S5)', async () => {
    const { start, pass } = stage();
    const far = new FarSide({ handle: promising });
    const session = await start(far, { restart: { type: 'permanent' } });
    const { notes } = watch(session);
    far.last.far.emit({ type: 'closed' });
    await pass(100);
    expect(notes).toMatchObject([
      { type: 'diagnostic', code: 'host_callback_threw' },
      { type: 'restarting' },
      { type: 'restarted', resumed: false },
    ]);
    expect(far.last.params.resume).toBeUndefined();
  });
});

test('a backoff of nothing is nothing, however often it is multiplied (S10)', async () => {
  const { start, pass } = stage();
  const far = new FarSide();
  const backoff = { baseMs: 0, factor: 1000 };
  const session = await start(far, { restart: { type: 'permanent', intensity: 1000, backoff } });
  const delays = new Set<number>();
  session.lifecycle$.subscribe((event) => {
    if (event.type === 'restarting') delays.add(event.inMs);
  });
  // the factor of the last is more than a number can be
  for (let n = 0; n < 110; n++) {
    far.last.far.emit({ type: 'closed' });
    await pass(0);
  }
  expect(far.lines).toHaveLength(111);
  expect([...delays]).toEqual([0]);
});

describe('what is asked for in the middle of a step', () => {
  test('is taken once, at the end of the supervisor too (S16)', async () => {
    const journal = memoryJournal();
    const { start, supervisor, pass } = stage({ journal });
    const far = new FarSide();
    const late: Promise<unknown>[] = [];
    const session = await start(far, { restart: { type: 'permanent' } });
    // the shutdown ends it, between two incarnations, within its own step
    session.events$.subscribe({
      complete: () => {
        late.push(outcomeOf(start(far)));
      },
    });
    far.last.far.emit({ type: 'closed' });
    await pass(0);
    await supervisor.shutdown();
    expect(late).toHaveLength(1);
    expect(await late[0]).toMatchObject({ error: { code: 'supervisor_stopping' } });
    expect(supervisor.stats.refused).toBe(1);
    const records = await decodeJournal(journal);
    expect(records.filter(({ event }) => event === 'start_session')).toHaveLength(2);
    expect((await verify(records)).findings).toEqual([]);
  });

  test('by an observer who makes a conversation is recorded behind that step (S22)', async () => {
    const journal = memoryJournal();
    const { start, supervisor } = stage({ journal });
    await start(new FarSide());
    let refusal: unknown;
    supervisor.inspect((event) => {
      if (refusal !== undefined || event.type !== '@xstate.snapshot' || event.event.type !== 'shutdown') return;
      try {
        supervisor.createConversation();
      } catch (thrown) {
        refusal = thrown;
      }
    });
    await supervisor.shutdown();
    expect(refusal).toMatchObject({ code: 'supervisor_stopping' });
    const records = await decodeJournal(journal);
    expect((await verify(records)).findings).toEqual([]);
  });
});
