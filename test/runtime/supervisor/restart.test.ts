import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConnectFailedError, ConnectTimeoutError } from '../../../src/contract/errors.js';
import type { RestartAttempt } from '../../../src/runtime/index.js';
import { defineTool } from '../../../src/runtime/index.js';
import { expectLegal } from '../../../src/testing/index.js';
import { held, isSettled, outcomeOf, quiet, toolCall, watchProcess } from '../stage.js';
import { FarSide, type Line, stage, text, watch } from './stage.js';

let processWatch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  processWatch = watchProcess();
});
afterEach(async () => {
  expect(await processWatch.stop()).toEqual([]);
});

/** What ends an incarnation, by the reason that it gives; `host` and `aborted` are the host's own. */
const ends = {
  far_side: ({ far }: Line) => far.emit({ type: 'closed', reason: 'tired' }),
  stream_ended: ({ far }: Line) => far.end(),
  stream_failed: ({ far }: Line) => far.fail(new Error('cut')),
  overflow: ({ far }: Line) => {
    for (const word of ['1', '2', '3']) far.emit(text(word));
  },
  protocol_failure: ({ far }: Line) => far.emit({ type: 'text' }),
};
const mishaps = ['far_side', 'stream_ended', 'stream_failed', 'overflow'] as const;

describe('a temporary session', () => {
  test.each(Object.keys(ends) as (keyof typeof ends)[])('is not begun again after %s', async (reason) => {
    const far = new FarSide();
    const { start, pass, supervisor, clock } = stage();
    const session = await start(far, { maxBufferedEvents: 2 });
    ends[reason](far.last);
    await pass(100_000);
    expect(far.lines).toHaveLength(1);
    expect(await session.closed).toMatchObject({ reason, incarnations: 1, failed: false });
    expect(supervisor.list()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('ends its events with its only incarnation, before the driver has closed', async () => {
    const far = new FarSide({ hold: ['close'] });
    const { start } = stage();
    const session = await start(far);
    const { words, ended } = watch(session);
    far.last.far.end();
    await ended;
    expect(words).toEqual(['error']);
    expect(await isSettled(session.closed)).toBe(false);
    expect(await outcomeOf(session.send({ type: 'text', text: 'x' }))).toMatchObject({
      error: { code: 'session_ended', reason: 'stream_ended' },
    });
    far.last.held[0]?.resolve();
    await session.closed;
  });
});

describe('a transient session', () => {
  test.each(mishaps)('is begun again after %s, and goes on for whoever reads', async (reason) => {
    const far = new FarSide();
    const { start, pass, supervisor } = stage();
    const session = await start(far, { restart: { type: 'transient' }, maxBufferedEvents: 2 });
    ends[reason](far.last);
    await quiet();
    expect(session.current).toBeUndefined();
    expect(supervisor.stats).toMatchObject({ sessions: 1, restarting: 1 });
    const { seen, words, ended } = watch(session);
    await pass(100);
    far.last.far.emit(text('again'));
    await quiet();
    expect(words.slice(-2)).toEqual(['restarted', 'again']);
    expect(far.lines).toHaveLength(2);
    expect(session.current?.sessionId).toBe(seen.at(-1)?.sessionId);
    expect(new Set(seen.map(({ sessionId }) => sessionId)).size).toBe(2);
    expect(new Set(seen.map(({ turnId }) => turnId)).size).toBe(2);
    expect(supervisor.stats).toMatchObject({ sessions: 1, restarting: 0, restarts: 1 });
    await session.close();
    await ended;
    expect(await session.closed).toMatchObject({
      reason: 'host',
      incarnations: 2,
      ends: [{ reason }, { reason: 'host' }],
    });
  });

  test('is not begun again after a protocol failure', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    ends.protocol_failure(far.last);
    await pass(100_000);
    expect(far.lines).toHaveLength(1);
    expect((await session.closed).reason).toBe('protocol_failure');
  });

  test('is not begun again when its incarnation was closed by the host, nor after an abort', async () => {
    const abort = new AbortController();
    const far = new FarSide();
    const { start, pass } = stage();
    const closed = await start(far, { restart: { type: 'transient' } });
    const aborted = await start(far, { restart: { type: 'transient' }, signal: abort.signal });
    await closed.current?.close();
    abort.abort(new Error('enough'));
    await pass(100_000);
    expect(far.lines).toHaveLength(2);
    expect((await closed.closed).reason).toBe('host');
    expect((await aborted.closed).reason).toBe('aborted');
  });

  test('tries a connect that fails again, but not its first', async () => {
    const far = new FarSide({ refuse: (line) => (line === 2 || line === 4 ? new Error('busy') : undefined) });
    const { start, pass, supervisor } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    const { words } = watch(session);
    ends.far_side(far.last);
    await pass(100);
    expect(far.lines).toHaveLength(2);
    expect(session.current).toBeUndefined();
    expect(await outcomeOf(session.send({ type: 'text', text: 'x' }))).toMatchObject({
      error: { code: 'session_restarting', reason: 'connect_failed' },
    });
    await pass(100);
    expect(far.lines).toHaveLength(3);
    expect(session.current).toBeDefined();
    expect(words).toEqual(['restarting', 'closed', 'restarting', 'restarted']);
    await expect(start(far, { restart: { type: 'permanent' } })).rejects.toThrow('busy');
    await pass(100_000);
    expect(far.lines).toHaveLength(4);
    expect(supervisor.list()).toEqual([session]);
  });
});

describe('a permanent session', () => {
  test.each([...mishaps, 'protocol_failure'] as const)('is begun again after %s', async (reason) => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent' }, maxBufferedEvents: 2 });
    ends[reason](far.last);
    await quiet();
    watch(session);
    await pass(100);
    expect(far.lines).toHaveLength(2);
    expect(session.current).toBeDefined();
  });

  test('is begun again when the host closes an incarnation, and what is unread waits', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent' } });
    far.last.far.emit(text('unread'));
    await quiet();
    await session.current?.close();
    await pass(100);
    const { words } = watch(session);
    await quiet();
    expect(words).toEqual(['unread']);
    expect(far.lines).toHaveLength(2);
  });

  test('is not begun again after its own close, nor after an abort of its signal', async () => {
    const abort = new AbortController();
    const far = new FarSide();
    const { start, pass } = stage();
    const closed = await start(far, { restart: { type: 'permanent' } });
    const aborted = await start(far, { restart: { type: 'permanent' }, signal: abort.signal });
    await closed.close();
    abort.abort(new Error('enough'));
    await pass(100_000);
    expect(far.lines).toHaveLength(2);
    expect((await aborted.closed).reason).toBe('aborted');
    expect(await outcomeOf(aborted.send({ type: 'text', text: 'x' }))).toEqual({ error: new Error('enough') });
  });
});

describe('the intensity', () => {
  test('is how many restarts fall into the period: one more, and the session is given up and reported', async () => {
    const far = new FarSide();
    const { start, pass, supervisor } = stage();
    const session = await start(far, { restart: { type: 'permanent', intensity: 2, periodMs: 1000 } });
    const { words, ended } = watch(session);
    for (let time = 0; time < 3; time++) {
      ends.far_side(far.last);
      await pass(100);
    }
    await ended;
    expect(words).toEqual([
      ...['restarting', 'closed', 'restarted', 'restarting', 'closed', 'restarted'],
      // the loop of the reader comes to the last event after what is told at once
      ...['failed', 'closed'],
    ]);
    expect(far.lines).toHaveLength(3);
    expect(await session.closed).toMatchObject({ reason: 'far_side', incarnations: 3, failed: true });
    expect(supervisor.stats).toMatchObject({ sessions: 0, failures: 1, ended: 1 });
  });

  test('counts only what falls into the last period', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent', intensity: 2, periodMs: 1000 } });
    watch(session);
    for (let time = 0; time < 20; time++) {
      ends.far_side(far.last);
      await pass(501);
    }
    expect(far.lines).toHaveLength(21);
    expect(session.current).toBeDefined();
  });

  test('counts connects that fail', async () => {
    const far = new FarSide({ refuse: (line) => (line > 1 ? new Error('away') : undefined) });
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient', intensity: 3 } });
    const { notes } = watch(session);
    ends.far_side(far.last);
    await pass(10_000);
    expect(far.lines).toHaveLength(4);
    expect(notes.at(-1)).toEqual({ type: 'failed', restarts: 3, reason: 'connect_failed' });
    expect(await session.closed).toMatchObject({ reason: 'connect_failed', message: 'away', failed: true });
  });

  test('of 0 allows none', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent', intensity: 0 } });
    ends.far_side(far.last);
    await pass(10_000);
    expect(await session.closed).toMatchObject({ incarnations: 1, failed: true });
  });
});

describe('the backoff', () => {
  const delays = async (restart: object, random?: () => number) => {
    const far = new FarSide({ refuse: (line) => (line > 1 ? new Error('away') : undefined) });
    const { start, pass } = stage(random === undefined ? {} : { random });
    const session = await start(far, { restart: { type: 'transient', ...restart } });
    const { notes } = watch(session);
    ends.far_side(far.last);
    await pass(1_000_000);
    return {
      waits: notes.flatMap((note) => (note.type === 'restarting' ? [note.inMs] : [])),
      diagnostics: notes.filter(({ type }) => type === 'diagnostic').length,
    };
  };

  test('doubles from half a second unless told, up to its bound', async () => {
    expect((await delays({ backoff: undefined })).waits).toEqual([500, 1000, 2000, 4000, 8000]);
    const backoff = { baseMs: 10, factor: 3, maxMs: 100 };
    expect((await delays({ backoff })).waits).toEqual([10, 30, 90, 100, 100]);
  });

  test('leaves its jitter to the numbers that were handed in', async () => {
    const numbers = [0, 0.5, 1];
    let next = 0;
    const random = () => numbers[next++] as number;
    const { waits } = await delays({ intensity: 3, backoff: { baseMs: 1000, factor: 1, jitter: 0.5 } }, random);
    expect(waits).toEqual([1000, 750, 500]);
  });

  test('of the host is told which restart it is for', async () => {
    const asked: RestartAttempt[] = [];
    const backoff = (attempt: RestartAttempt) => {
      asked.push(attempt);
      return attempt.recent * 7;
    };
    expect((await delays({ intensity: 2, backoff })).waits).toEqual([7, 14]);
    expect(asked).toEqual([
      { attempt: 1, recent: 1, reason: 'far_side' },
      { attempt: 2, recent: 2, reason: 'connect_failed' },
    ]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no idea');
      },
    ],
    ['gives nonsense', () => Number.NaN],
    ['gives a promise', async () => 5],
  ])('of a host that %s is told of, and the usual one stands in', async (_, backoff) => {
    expect(await delays({ intensity: 2, backoff })).toEqual({ waits: [500, 1000], diagnostics: 2 });
  });
});

describe('resumption', () => {
  test('is claimed only where the far side connected with the handle of the incarnation before', async () => {
    const far = new FarSide({ handle: (line) => (line === 2 ? undefined : `handle-${line}`) });
    const { start, pass } = stage();
    const session = await start(far, {
      restart: { type: 'transient' },
      connect: { model: 'm', resume: 'of the host' },
    });
    const { notes } = watch(session);
    for (let time = 0; time < 3; time++) {
      ends.far_side(far.last);
      await pass(100);
    }
    expect(far.lines.map(({ params }) => params.resume)).toEqual(['of the host', 'handle-1', undefined, 'handle-3']);
    expect(notes.flatMap((note) => (note.type === 'restarted' ? [[note.attempt, note.resumed]] : []))).toEqual([
      [1, true],
      [2, false],
      [3, true],
    ]);
  });

  test.each([
    ['refused', new ConnectFailedError('service', 'the handle is unknown'), undefined],
    ['silent', new ConnectTimeoutError(1), 'handle-1'],
  ])('by a far side that was %s is not tried again, or is', async (_, refusal, expected) => {
    const far = new FarSide({
      handle: (line) => `handle-${line}`,
      refuse: (line) => (line === 2 ? refusal : undefined),
    });
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    const { notes } = watch(session);
    ends.far_side(far.last);
    await pass(200);
    expect(far.lines.map(({ params }) => params.resume)).toEqual([undefined, 'handle-1', expected]);
    expect(notes.at(-1)).toMatchObject({ type: 'restarted', attempt: 2, resumed: expected !== undefined });
  });

  test('of a driver that throws when it is asked is told of, and is none', async () => {
    const far = new FarSide({
      handle: () => {
        throw new Error('no handle');
      },
    });
    const { start, pass } = stage();
    const { notes } = watch(await start(far, { restart: { type: 'transient' } }));
    ends.far_side(far.last);
    await pass(100);
    expect(notes).toMatchObject([
      { type: 'diagnostic', code: 'host_callback_threw', detail: 'no handle' },
      { type: 'restarting' },
      { type: 'restarted', resumed: false },
    ]);
  });

  test('can be the word of the host, who is told which incarnation begins', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const asked: unknown[] = [];
    const { notes } = watch(
      await start(far, {
        restart: { type: 'transient' },
        connect: (incarnation) => {
          asked.push(incarnation);
          return incarnation.attempt === 0 ? { model: 'm' } : { model: 'm', resume: 'kept elsewhere' };
        },
      }),
    );
    ends.far_side(far.last);
    await pass(100);
    expect(asked).toEqual([
      { attempt: 0 },
      { attempt: 1, previous: { reason: 'far_side', message: 'tired', calls: [] } },
    ]);
    expect(notes.at(-1)).toMatchObject({ type: 'restarted', resumed: true });
  });
});

describe('between two incarnations', () => {
  test('the last event is passed on, what is unread waits, and the stream does not end', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    far.last.far.emit(text('one'));
    ends.far_side(far.last);
    await pass(100);
    far.last.far.emit(text('two'));
    await quiet();
    const { seen, words } = watch(session);
    await quiet();
    expect(words).toEqual(['one', 'closed', 'two']);
    for (const id of new Set(seen.map(({ sessionId }) => sessionId))) {
      expectLegal(seen.filter(({ sessionId }) => sessionId === id));
    }
  });

  test('open calls are settled before the restart is told, and their ids are free again', async () => {
    const code = held<string>();
    const tool = defineTool({
      name: 'slow',
      description: '',
      input: { type: 'object' },
      effect: 'read',
      execute: () => code.promise,
    });
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' }, tools: [tool] });
    const { words } = watch(session);
    far.last.far.emit(toolCall('a', 'slow'));
    await quiet();
    ends.stream_failed(far.last);
    await quiet();
    expect(session.calls()).toMatchObject([{ id: 'a', state: 'cancelled' }]);
    expect(words.indexOf('a cancelled')).toBeGreaterThan(0);
    expect(words.indexOf('a cancelled')).toBeLessThan(words.indexOf('restarting'));
    await pass(100);
    expect(session.calls()).toEqual([]);
    // late, and nothing of it is written to the line that there is now
    code.resolve('late');
    far.last.far.emit(toolCall('a', 'slow'));
    await quiet();
    expect(session.calls()).toMatchObject([{ id: 'a', state: 'completed' }]);
    expect(far.log).toEqual(['1 connect', '1 close', '2 connect', '2 sendToolResult']);
  });

  test('what a superseded far side still emits reaches nobody', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    const { words } = watch(session);
    ends.far_side(far.last);
    await pass(100);
    far.lines[0]?.far.emit(text('from beyond'));
    far.lines[0]?.far.fail(new Error('from beyond'));
    await quiet();
    expect(words).toEqual(['restarting', 'closed', 'restarted']);
    expect(session.current).toBeDefined();
  });

  test('acts are refused with an error of their own, and work again afterwards', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    ends.far_side(far.last);
    await quiet();
    const acts = [
      session.send({ type: 'text', text: 'x' }),
      session.interrupt(),
      session.played(1),
      session.approve('a'),
      session.deny('a'),
    ];
    for (const act of acts) expect(await outcomeOf(act)).toMatchObject({ error: { code: 'session_restarting' } });
    await pass(100);
    await session.send({ type: 'text', text: 'x' });
    expect(far.log.slice(-1)).toEqual(['2 send']);
  });

  test('the gap begins with the end, not with the close of the driver', async () => {
    const far = new FarSide({ hold: ['close'] });
    const { start } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    ends.stream_failed(far.last);
    await quiet();
    expect(session.current).toBeUndefined();
    expect(await outcomeOf(session.send({ type: 'text', text: 'x' }))).toMatchObject({
      error: { code: 'session_restarting', reason: 'stream_failed' },
    });
  });

  test('a close ends it for good, at once', async () => {
    const far = new FarSide();
    const { start, pass, clock, supervisor } = stage();
    const session = await start(far, { restart: { type: 'permanent' } });
    const { ended } = watch(session);
    ends.far_side(far.last);
    await quiet();
    await session.close();
    await ended;
    expect(clock.pending).toBe(0);
    await pass(100_000);
    expect(far.lines).toHaveLength(1);
    expect(await session.closed).toMatchObject({ reason: 'host', incarnations: 1, ends: [{ reason: 'far_side' }] });
    expect(supervisor.stats).toMatchObject({ sessions: 0, restarting: 0, ended: 1 });
    expect(await outcomeOf(session.send({ type: 'text', text: 'x' }))).toMatchObject({
      error: { code: 'session_ended' },
    });
    await session.close();
  });

  test('so does an abort of its signal', async () => {
    const abort = new AbortController();
    const far = new FarSide();
    const { start, clock } = stage();
    const session = await start(far, { restart: { type: 'permanent' }, signal: abort.signal });
    ends.far_side(far.last);
    await quiet();
    abort.abort(new Error('enough'));
    expect((await session.closed).reason).toBe('aborted');
    expect(clock.pending).toBe(0);
  });

  test('a close while the last incarnation is on its way out overrules the restart', async () => {
    const far = new FarSide({ hold: ['close'] });
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent' } });
    ends.stream_failed(far.last);
    await quiet();
    const closing = session.close();
    const { words, ended } = watch(session);
    await ended;
    expect(words).toEqual([]);
    far.last.held[0]?.resolve();
    await closing;
    await pass(100_000);
    expect(far.lines).toHaveLength(1);
    expect((await session.closed).reason).toBe('host');
  });

  test('a close while the next one connects closes what comes of it', async () => {
    const far = new FarSide({ hold: ['connect'] });
    const { start, pass } = stage();
    const starting = start(far, { restart: { type: 'permanent' } });
    await quiet();
    far.last.held[0]?.resolve();
    const session = await starting;
    ends.far_side(far.last);
    await pass(100);
    const closing = session.close();
    far.last.held[0]?.resolve();
    await closing;
    expect(far.log).toEqual(['1 connect', '2 connect', '2 close']);
    expect((await session.closed).reason).toBe('host');
  });

  test('a full buffer lets no incarnation begin, and holds no more than it may', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent', intensity: 5 }, maxBufferedEvents: 2 });
    ends.overflow(far.last);
    await pass(1000);
    expect(far.lines).toHaveLength(1);
    const { words, ended } = watch(session);
    await ended;
    expect(words).toEqual(['1', '2', 'error']);
    expect(await session.closed).toMatchObject({ reason: 'overflow', failed: true });
  });

  test('a provider or a connect of the host that throws is a connect that failed', async () => {
    const far = new FarSide();
    const { start, pass, supervisor } = stage();
    const session = await supervisor.startSession({
      provider: ({ attempt }) => {
        if (attempt === 1) throw new Error('no provider');
        return far;
      },
      connect: ({ attempt }) => (attempt === 2 ? (undefined as never) : { model: 'm' }),
      restart: { type: 'transient', backoff: () => 100 },
    });
    ends.far_side(far.last);
    await pass(300);
    expect(far.lines).toHaveLength(2);
    await session.close();
    expect((await session.closed).ends.map(({ reason, message }) => [reason, message])).toEqual([
      ['far_side', 'tired'],
      ['connect_failed', 'no provider'],
      ['connect_failed', 'connect: expected an object with a string `model`'],
      ['host', undefined],
    ]);
    await expect(start(far, { id: 'no id' })).rejects.toMatchObject({ code: 'invalid_id' });
  });
});
