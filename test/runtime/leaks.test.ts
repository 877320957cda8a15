/** No timer and no listener is left (D14); a finished call keeps next to nothing (D15). */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { CloseReason } from '../../src/contract/lifecycle.js';
import { defineTool, type Session, type SessionOptions } from '../../src/runtime/index.js';
import { openSession } from '../../src/runtime/start-session.js';
import { HandJournal } from '../../src/testing/hand-journal.js';
import { type DriverAnswer, type DriverCall, scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { runChild } from './child.js';
import { type Held, held, quiet, toolCall } from './stage.js';

/** A session with calls in every state there is, and what it holds of the host. */
async function busy(options: Partial<SessionOptions> & { hold?: DriverCall['method'][] } = {}) {
  const { hold = ['sendToolResult'], ...rest } = options;
  const clock = new VirtualClock();
  const host = new AbortController();
  const answers = new Map<string, DriverAnswer>();
  const code: Held<string>[] = [];
  const verdicts: Held<{ value: unknown }>[] = [];
  let returned = 0;
  const far = scriptedProvider({
    abandonToolCall: true,
    interrupt: true,
    onCall: (call, answer) => {
      if (hold.includes(call.method)) answers.set('id' in call ? call.id : call.method, answer);
      else if (call.method !== 'interrupt') answer.resolve();
    },
  });
  const tool = (name: string, more: object = {}) =>
    defineTool({
      name,
      description: '',
      input: {},
      timeoutMs: 1_000,
      ...more,
      execute: () => {
        const own = held<string>();
        code.push(own);
        return own.promise;
      },
    });
  const { session, started } = openSession({
    connect: { model: 'm' },
    maxConcurrentTools: 4,
    tools: [
      tool('runs'),
      tool('asks', { needsApproval: true }),
      tool('judged', {
        input: {
          '~standard': {
            version: 1,
            vendor: 'slow',
            validate: () => {
              const own = held<{ value: unknown }>();
              verdicts.push(own);
              return own.promise;
            },
          },
        },
        parameters: {},
      }),
    ],
    ...rest,
    provider: {
      id: 'counted',
      connect: async (params) => {
        const connection = await far.connect(params);
        const stream = connection.events()[Symbol.asyncIterator]();
        const counted = {
          next: () => stream.next(),
          return: () => {
            returned++;
            return Promise.resolve({ done: true as const, value: undefined });
          },
        };
        connection.events = () => ({ [Symbol.asyncIterator]: () => counted });
        return connection;
      },
    },
    clock,
    signal: host.signal,
  });
  started.catch(() => {});
  await quiet();
  const listeners = () => getEventListeners(host.signal, 'abort').length;
  return {
    session,
    far,
    clock,
    host,
    answers,
    code,
    verdicts,
    listeners,
    returned: () => returned,
    async fill() {
      far.emit(toolCall('drains', 'runs'));
      far.emit({ type: 'interrupted' });
      for (const id of ['publishes', 'runs', 'times out', 'runs too', 'queued']) far.emit(toolCall(id, 'runs'));
      far.emit(toolCall('waits', 'asks'));
      far.emit(toolCall('judged', 'judged'));
      await quiet();
      code[1]?.resolve('');
      session.interrupt();
      session.send({ type: 'text', text: 'x' });
      await quiet();
    },
  };
}

type Busy = Awaited<ReturnType<typeof busy>>;

/** Lets all that is still under way come to its own end. */
async function settleAll({ code, verdicts, answers }: Busy): Promise<void> {
  for (const own of code) own.resolve('late');
  for (const own of verdicts) own.resolve({ value: {} });
  for (const answer of answers.values()) answer.resolve();
  await quiet();
}

describe('timers and listeners', () => {
  const ends: [CloseReason, (on: Busy) => unknown][] = [
    ['host', ({ session }) => session.close()],
    ['aborted', ({ host }) => host.abort()],
    ['far_side', ({ far }) => far.emit({ type: 'closed' })],
    ['protocol_failure', ({ far }) => far.emit(toolCall('runs', 'runs'))],
    ['stream_ended', ({ far }) => far.end()],
    ['stream_failed', ({ far }) => far.fail(new TypeError('cut'))],
    [
      'overflow',
      async ({ far }) => {
        for (let i = 0; i < 40; i++) far.emit({ type: 'turn_complete' });
        await quiet();
      },
    ],
  ];

  it.each(ends)('%s: none is left, while closing one timer', async (reason, end) => {
    const on = await busy({ maxBufferedEvents: 30, hold: ['sendToolResult', 'close'] });
    await on.fill();
    expect(on.session.calls().map(({ state }) => state)).toEqual(
      'abandoned publishing executing executing executing executing awaiting_approval admitted'.split(' '),
    );
    // four that run, one that is judged, one that waits for the far side
    expect(on.clock.pending).toBe(6);
    expect(on.listeners()).toBe(1);
    end(on);
    await quiet();
    if (reason !== 'far_side') {
      expect(on.session.actor.getSnapshot().value).toBe('closing');
      expect(on.clock.pending).toBe(1);
      on.answers.get('close')?.resolve();
    }
    expect(await on.session.closed).toMatchObject({ reason });
    expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
    await settleAll(on);
    expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
    expect(on.returned()).toBe(1);
  });

  it.each(ends.filter(([reason]) => reason !== 'far_side'))(
    '%s, and the driver does not close: none is left once closeTimeoutMs has passed',
    async (reason, end) => {
      const on = await busy({ maxBufferedEvents: 30, hold: ['sendToolResult', 'close'] });
      await on.fill();
      end(on);
      await quiet();
      await on.clock.advance(5_000, quiet);
      expect(await on.session.closed).toMatchObject({ reason });
      expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
      await settleAll(on);
      expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
    },
  );

  it('journal_failed: none is left', async () => {
    const flushes: Held<void>[] = [];
    const journal = new HandJournal(true, () => {
      const own = held<void>();
      flushes.push(own);
      return own.promise;
    });
    const on = await busy({ journal });
    on.far.emit(toolCall('a', 'runs'));
    on.far.emit(toolCall('b', 'runs'));
    await quiet();
    flushes[0]?.resolve();
    await quiet();
    expect(on.session.calls().map(({ state }) => state)).toEqual(['executing', 'starting']);
    flushes[1]?.reject(new TypeError('disk full'));
    expect(await on.session.closed).toMatchObject({ reason: 'journal_failed' });
    expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
    await settleAll(on);
    expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
  });

  describe('while connecting', () => {
    it.each<[string, (on: Busy) => unknown]>([
      ['the connect fails', ({ answers }) => answers.get('connect')?.reject(new TypeError('down'))],
      ['the connect takes too long', ({ clock }) => clock.advance(30_000, quiet)],
      [
        'the host closes, the connect never settles',
        async ({ session, clock }) => {
          session.close();
          await clock.advance(5_000, quiet);
        },
      ],
      [
        'the host aborts, then there is a connection',
        async ({ host, answers }) => {
          host.abort();
          await quiet();
          answers.get('connect')?.resolve();
        },
      ],
    ])('%s: none is left', async (_, end) => {
      const on = await busy({ hold: ['connect'] });
      expect([on.clock.pending, on.listeners()]).toEqual([1, 1]);
      end(on);
      await quiet();
      await on.session.closed;
      expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
      on.answers.get('connect')?.resolve();
      await quiet();
      expect([on.clock.pending, on.listeners()]).toEqual([0, 0]);
    });

    it('and then open: the timer of the connect is gone', async () => {
      const on = await busy({ hold: ['connect'] });
      on.answers.get('connect')?.resolve();
      await quiet();
      expect([on.clock.pending, on.listeners()]).toEqual([0, 1]);
      await on.session.close();
      expect(on.listeners()).toBe(0);
    });
  });

  it.each<[string, (on: Busy) => unknown]>([
    ['settles', ({ code }) => code.map((own) => own.resolve(''))],
    ['is interrupted', ({ far }) => far.emit({ type: 'interrupted' })],
    ['is withdrawn', ({ far }) => far.emit({ type: 'tool_call_cancelled', ids: ['a', 'b'] })],
    ['times out', ({ clock }) => clock.advance(1_000, quiet)],
  ])('a call that %s gives its timer back, and the session holds none', async (_, end) => {
    const on = await busy({ hold: [] });
    on.far.emit(toolCall('a', 'runs'));
    on.far.emit(toolCall('b', 'judged'));
    await quiet();
    on.verdicts[0]?.resolve({ value: {} });
    await quiet();
    expect(on.clock.pending).toBe(2);
    end(on);
    await quiet();
    expect(on.clock.pending).toBe(0);
    await on.session.close();
  });

  it('a result that is answered, refused or given up gives its timer back', async () => {
    const on = await busy();
    for (const id of ['accepted', 'refused', 'given up']) on.far.emit(toolCall(id, 'runs'));
    await quiet();
    for (const own of on.code) own.resolve('');
    await quiet();
    expect(on.clock.pending).toBe(3);
    on.answers.get('accepted')?.resolve();
    on.answers.get('refused')?.reject(new TypeError('no'));
    await quiet();
    expect(on.clock.pending).toBe(1);
    await on.clock.advance(30_000, quiet);
    expect(on.clock.pending).toBe(0);
    expect(on.session.calls().map(({ state }) => state)).toEqual(['completed', 'rejected', 'unconfirmed']);
    await on.session.close();
  });

  it('a signal of the host that many sessions share collects no listeners', async () => {
    const host = new AbortController();
    const sessions: Session[] = [];
    for (let i = 0; i < 30; i++) {
      const { session, started } = openSession({
        provider: scriptedProvider(),
        connect: { model: 'm' },
        signal: host.signal,
        clock: new VirtualClock(),
      });
      await started;
      sessions.push(session);
    }
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(1);
    await Promise.all(sessions.map((session) => session.close()));
    expect(getEventListeners(host.signal, 'abort')).toHaveLength(0);
  });
});

describe('ten thousand calls in one session', () => {
  it('keep an id, a name, an outcome and a digest; an ended session keeps nothing', async () => {
    const { code, stdout, stderr } = await runChild('heap-of-calls', ['--expose-gc']);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { many, few, payload, bytes, plain, inspected, kept } = JSON.parse(stdout);
    // an interruption abandons whatever runs at the time, so how many there are of each is chance
    expect(Object.keys(bytes.states).sort()).toEqual(['abandoned', 'completed']);
    expect(bytes.states.abandoned).toBeGreaterThanOrEqual(many / 5);
    expect(bytes.states.completed).toBeGreaterThanOrEqual(many / 5);
    // two payloads went through for each call
    expect(bytes.living / (many * 2 * payload)).toBeLessThan(0.25);
    expect(bytes.gone / (many * 2 * payload)).toBeLessThan(0.025);
    // the ids are known, nothing of what was said is; an inspector changes nothing of that
    for (const { living, gone } of [plain, inspected]) {
      expect(living).toEqual({ id: few, args: 0, output: 0, events: 0 });
      expect(gone).toEqual({ id: 0, args: 0, output: 0, events: 0 });
    }
    expect(kept).toBe(0);
  }, 120_000);
});
