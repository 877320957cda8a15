/** Drivers whose connection and methods break every promise: the outcome is typed, nothing hangs, nothing reaches the process. */
import { describe, expect, it } from 'vitest';
import { DriverContractError, NotSupportedError, SessionCloseTimeoutError } from '../../src/contract/errors.js';
import type { BidiEvent } from '../../src/contract/provider.js';
import { defineTool, startSession } from '../../src/runtime/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import {
  boom,
  disguised,
  driver,
  over,
  play,
  revoked,
  thenable,
  throwing,
  twice,
  unadoptable,
} from './hostile-parts.js';
import { expectNoHarm } from './no-harm.js';
import { held, outcomeOf, quiet, readAll, toolCall } from './stage.js';

expectNoHarm();

describe('connect', () => {
  const start = (connect: () => unknown) =>
    outcomeOf(startSession({ provider: over(connect), connect: { model: 'm' }, clock: new VirtualClock() }));

  it.each([
    ['throws', throwing(boom), boom],
    ['throws null', throwing(null), null],
    ['rejects', () => Promise.reject(boom), boom],
    ['rejects with nothing', () => Promise.reject(undefined), undefined],
    ['gives a thenable that throws', () => thenable(throwing(boom)), boom],
    [
      'gives a thenable whose `then` cannot be read',
      () => Object.defineProperty({}, 'then', { get: throwing(boom) }),
      boom,
    ],
    ['gives a promise that cannot be adopted', () => unadoptable(1), boom],
    ['gives a revoked proxy in a promise', async () => revoked(), expect.any(TypeError)],
  ])('%s: start rejects with just that', async (_, connect, error) => {
    expect(await start(connect)).toEqual({ error });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 1],
    ['a text', 'session'],
    ['an empty object', {}],
    ['a list', []],
    ['a function', () => {}],
    ['a session without close', { ...driver({}), close: undefined }],
    ['a session without send', { ...driver({}), send: 1 }],
    ['a session without sendToolResult', { ...driver({}), sendToolResult: null }],
    ['a session without events', { ...driver({}), events: {} }],
    ['a session whose fields cannot be read', driver(Object.defineProperty({}, 'send', { get: throwing(boom) }))],
  ])('gives %s: start rejects with a DriverContractError', async (_, garbage) => {
    for (const connect of [() => garbage, async () => garbage]) {
      const outcome = await start(connect);
      expect(outcome).toHaveProperty('error', expect.any(DriverContractError));
      const { error } = outcome as { error: DriverContractError };
      expect(error.message).toMatch(/expected .*connect\(\).*found/);
    }
  });

  it.each([
    ['a thenable', twice],
    ['a promise in disguise', disguised],
  ])('resolves twice, as %s: the first session counts, and it alone is closed', async (_, promised) => {
    const closed: string[] = [];
    const named = (name: string) =>
      driver({
        close: async () => {
          closed.push(name);
        },
      });
    const provider = over(() => promised(named('first'), named('second')));
    const session = await startSession({ provider, connect: { model: 'm' } });
    await quiet();
    await session.close();
    expect(closed).toEqual(['first']);
  });
});

describe('methods of the driver', () => {
  const failures: [string, () => unknown][] = [
    ['throws', throwing(boom)],
    ['rejects', () => Promise.reject(boom)],
    ['gives a thenable that throws', () => thenable(throwing(boom))],
    ['gives a promise that cannot be adopted', () => unadoptable(1)],
  ];
  const successes: [string, () => unknown][] = [
    ['gives nothing', () => undefined],
    ['gives a number', () => 5],
    ['gives null', () => null],
    ['gives a thenable that settles twice', () => twice(undefined)],
    ['gives a promise in disguise', () => disguised(undefined)],
  ];
  const echo = defineTool({ name: 'echo', description: '', input: {}, execute: () => 'echo' });

  it.each(failures)('send %s: the caller is told, the session goes on', async (_, send) => {
    const { session } = await play(driver({ send }));
    expect(await outcomeOf(session.send({ type: 'text', text: 'a' }))).toEqual({ error: boom });
    expect(session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    await session.close();
  });

  it.each(successes)('send %s: it resolves', async (_, send) => {
    const { session } = await play(driver({ send }));
    expect(await outcomeOf(session.send({ type: 'text', text: 'a' }))).toEqual({ value: undefined });
    await session.close();
  });

  it.each(failures)('sendToolResult %s: the call is rejected, told once', async (_, sendToolResult) => {
    const { session } = await play(driver({ sendToolResult }, [toolCall('c1', 'echo')]), { tools: [echo] });
    const { seen } = readAll(session);
    await quiet();
    expect(session.calls()).toEqual([{ id: 'c1', name: 'echo', state: 'rejected' }]);
    expect(seen).toMatchObject([{ type: 'tool_started' }, { type: 'error', message: expect.stringContaining('c1') }]);
    await session.close();
  });

  it.each(successes)('sendToolResult %s: the call is completed, once', async (_, sendToolResult) => {
    const { session } = await play(driver({ sendToolResult }, [toolCall('c1', 'echo')]), { tools: [echo] });
    const { seen } = readAll(session);
    await quiet();
    expect(session.calls()).toEqual([{ id: 'c1', name: 'echo', state: 'completed' }]);
    expect(seen.map(({ type }) => type)).toEqual(['tool_started', 'tool_completed']);
    await session.close();
  });

  it.each(failures)('close %s: close() rejects, `closed` resolves', async (what, close) => {
    const { session, closes } = await play(driver({ close }));
    const first = outcomeOf(session.close());
    const second = outcomeOf(session.close());
    expect(await first).toEqual({ error: boom });
    // a driver that throws at once has ended the session when the second is called
    expect(await second).toEqual(what === 'throws' ? { value: undefined } : { error: boom });
    expect(await session.closed).toMatchObject({ reason: 'host' });
    expect(await outcomeOf(session.close())).toEqual({ value: undefined });
    expect(closes()).toBe(1);
  });

  it.each(successes)('close %s: close() resolves', async (_, close) => {
    const { session, closes } = await play(driver({ close }));
    expect(await outcomeOf(session.close())).toEqual({ value: undefined });
    expect(closes()).toBe(1);
  });

  it.each<[string, () => unknown]>([
    ['hangs', () => new Promise(() => {})],
    ['gives a thenable that never settles', () => thenable(() => {})],
  ])('close %s: the session ends at closeTimeoutMs all the same', async (_, close) => {
    const { session, clock } = await play(driver({ close }));
    const closing = outcomeOf(session.close());
    await clock.advance(4_999, quiet);
    expect(session.actor.getSnapshot().value).toBe('closing');
    await clock.advance(1, quiet);
    expect(await closing).toEqual({ error: expect.any(SessionCloseTimeoutError) });
    expect(await session.closed).toMatchObject({ reason: 'host' });
    expect(clock.pending).toBe(0);
  });

  it('close cannot be read: close() rejects, `closed` resolves', async () => {
    let isOpen = true;
    const { session } = await play(
      driver({
        get close() {
          if (isOpen) return async () => {};
          throw boom;
        },
      }),
    );
    isOpen = false;
    expect(await outcomeOf(session.close())).toEqual({ error: boom });
    expect(await session.closed).toMatchObject({ reason: 'host' });
  });

  it.each(failures)('interrupt and played that %s: the caller is told', async (_, fails) => {
    const { session } = await play(driver({ interrupt: fails, played: fails }));
    expect(await outcomeOf(session.interrupt())).toEqual({ error: boom });
    expect(await outcomeOf(session.played(1))).toEqual({ error: boom });
    await session.close();
  });

  it('interrupt and played that cannot be read: the caller is told', async () => {
    const { session } = await play(
      driver({
        get interrupt() {
          throw boom;
        },
        get played() {
          throw boom;
        },
      }),
    );
    expect(await outcomeOf(session.interrupt())).toEqual({ error: boom });
    expect(await outcomeOf(session.played(1))).toEqual({ error: boom });
    await session.close();
  });

  it('interrupt and played that are no functions are not supported, or not wanted', async () => {
    const { session } = await play(driver({ interrupt: 1, played: {} }));
    expect(await outcomeOf(session.interrupt())).toEqual({ error: expect.any(NotSupportedError) });
    expect(await outcomeOf(session.played(1))).toEqual({ value: undefined });
    await session.close();
  });

  it.each<[string, object]>([
    ...failures.map(([name, abandonToolCall]): [string, object] => [name, { abandonToolCall }]),
    ['cannot be read', Object.defineProperty({}, 'abandonToolCall', { get: throwing(boom) })],
  ])('abandonToolCall %s: it is noted and the session goes on', async (_, parts) => {
    const release = held<BidiEvent>();
    const session = driver(parts);
    session.events = async function* () {
      yield toolCall('c1', 'never');
      yield await release.promise;
      await new Promise(() => {});
    };
    const never = defineTool({ name: 'never', description: '', input: {}, execute: () => new Promise(() => {}) });
    const played = await play(session, { tools: [never] });
    const notes: unknown[] = [];
    played.session.lifecycle$.subscribe((event) => notes.push(event));
    await quiet();
    release.resolve({ type: 'interrupted' });
    await quiet();
    expect(played.session.calls()).toEqual([{ id: 'c1', name: 'never', state: 'abandoned' }]);
    expect(notes).toContainEqual({
      type: 'diagnostic',
      code: 'abandon_failed',
      detail: expect.stringContaining('boom'),
    });
    expect(played.session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    await played.session.close();
  });

  it('every method throws at once: a session still ends as it should', async () => {
    const { session, closes } = await play(
      driver({
        send: throwing(null),
        sendToolResult: throwing(null),
        close: throwing(null),
        abandonToolCall: throwing(null),
        interrupt: throwing(null),
        played: throwing(null),
      }),
    );
    expect(await outcomeOf(session.send({ type: 'text', text: 'a' }))).toEqual({ error: null });
    expect(await outcomeOf(session.interrupt())).toEqual({ error: null });
    expect(await outcomeOf(session.close())).toEqual({ error: null });
    expect(await session.closed).toEqual({ reason: 'host', calls: [] });
    expect(closes()).toBe(1);
  });
});
