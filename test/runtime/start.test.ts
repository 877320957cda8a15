/** The start: options that are refused, and a connection that is late, fails or is given up (duplex page, §1, §5). */
import { describe, expect, it } from 'vitest';
import {
  ConnectAbortedError,
  ConnectTimeoutError,
  InvalidIdError,
  NotSupportedError,
} from '../../src/contract/errors.js';
import { defineTool, type SessionOptions, startSession } from '../../src/runtime/index.js';
import { openSession } from '../../src/runtime/start-session.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { expectNoHarm } from './no-harm.js';
import { outcomeOf, quiet, stage } from './stage.js';

expectNoHarm();

describe('the start', () => {
  const good: SessionOptions = { provider: scriptedProvider(), connect: { model: 'm' } };
  const tool = defineTool({ name: 'a', description: '', input: {}, execute: () => '' });
  let connects = 0;
  const counting = {
    id: 'counting',
    connect: () => {
      connects++;
      return new Promise<never>(() => {});
    },
  };

  it.each<[string, Record<string, unknown>, new (...args: never[]) => Error, string]>([
    ['no provider', { provider: undefined }, TypeError, 'provider'],
    ['a provider without connect', { provider: {} }, TypeError, 'provider'],
    ['no connect', { connect: undefined }, TypeError, 'connect'],
    ['no model', { connect: {} }, TypeError, 'model'],
    ['tools that are none', { tools: [{ name: 'x' }] }, TypeError, 'defineTool'],
    ['two tools of one name', { tools: [tool, tool] }, TypeError, 'a'],
    ['a session id that is none', { sessionId: 'sess-1' }, InvalidIdError, 'ses_'],
    ['a turn id that is none', { turnId: '' }, InvalidIdError, 'turn_'],
    ['a signal that is none', { signal: {} }, TypeError, 'signal'],
    ['a clock that is none', { clock: { now: () => 0 } }, TypeError, 'clock'],
    ['an inspector that is none', { inspect: 'console' }, TypeError, 'inspect'],
    ['a flag that is none', { dropUnreadAudio: 1 }, TypeError, 'dropUnreadAudio'],
    ['a negative time', { closeTimeoutMs: -1 }, RangeError, 'closeTimeoutMs'],
    ['a time beyond timers', { connectTimeoutMs: 2 ** 31 }, RangeError, 'connectTimeoutMs'],
    ['half a millisecond', { publishTimeoutMs: 0.5 }, RangeError, 'publishTimeoutMs'],
    ['a time that is no number', { closeTimeoutMs: '5' }, RangeError, 'closeTimeoutMs'],
    ['no places', { maxConcurrentTools: 0 }, RangeError, 'maxConcurrentTools'],
    ['no open calls', { maxOpenCalls: 0 }, RangeError, 'maxOpenCalls'],
    ['no buffer', { maxBufferedEvents: 0 }, RangeError, 'maxBufferedEvents'],
    ['a buffer that is no number', { maxBufferedEvents: Number.NaN }, RangeError, 'maxBufferedEvents'],
  ])('%s: rejects, and nothing was connected', async (_, wrong, error, words) => {
    connects = 0;
    const options = { ...good, ...('provider' in wrong ? {} : { provider: counting }), ...wrong };
    const outcome = await outcomeOf(startSession(options as never));
    expect(outcome).toEqual({ error: expect.any(error) });
    expect(String((outcome as { error: unknown }).error)).toContain(words);
    expect(connects).toBe(0);
  });

  it.each([undefined, null, 1, 'options'])('%s instead of options rejects with a TypeError', async (options) => {
    expect(await outcomeOf(startSession(options as never))).toEqual({ error: expect.any(TypeError) });
  });

  it('a signal that is aborted already: rejects with its exact reason, connect is not called', async () => {
    connects = 0;
    const reason = { because: 'too late' };
    const outcome = await outcomeOf(startSession({ ...good, provider: counting, signal: AbortSignal.abort(reason) }));
    expect((outcome as { error: unknown }).error).toBe(reason);
    expect(connects).toBe(0);
  });

  /** A session whose connection waits. */
  function connecting(options: Partial<SessionOptions> = {}) {
    const clock = new VirtualClock();
    const methods: string[] = [];
    const answers: { resolve(): void; reject(error: unknown): void }[] = [];
    const provider = scriptedProvider({
      onCall: (call, answer) => {
        methods.push(call.method);
        if (call.method === 'connect') answers.push(answer);
        else answer.resolve();
      },
    });
    const { session, started } = openSession({ connect: { model: 'm' }, ...options, provider, clock });
    const outcome = outcomeOf(started);
    return { session, started: outcome, clock, methods, connect: answers[0] as (typeof answers)[number] };
  }

  it('an abort while connecting: start rejects at once with the exact reason; a late session is closed', async () => {
    const abort = new AbortController();
    const { session, started, methods, connect } = connecting({ signal: abort.signal });
    const reason = new TypeError('changed my mind');
    abort.abort(reason);
    expect(await started).toEqual({ error: reason });
    expect(session.actor.getSnapshot().value).toBe('closing');
    connect.resolve();
    expect(await session.closed).toEqual({ reason: 'aborted', calls: [] });
    expect(methods).toEqual(['connect', 'close']);
  });

  it('a close while connecting: start rejects with a ConnectAbortedError', async () => {
    const { session, started, methods, connect } = connecting();
    const closing = outcomeOf(session.close());
    const outcome = await started;
    expect(outcome).toEqual({ error: expect.any(ConnectAbortedError) });
    expect(outcome).toMatchObject({ error: { code: 'connect_aborted' } });
    connect.reject(new TypeError('down'));
    expect(await closing).toEqual({ value: undefined });
    expect(await session.closed).toEqual({ reason: 'host', calls: [] });
    expect(methods).toEqual(['connect']);
  });

  it('a connect that takes too long: ConnectTimeoutError, closed with connect_failed, a late session is closed', async () => {
    const { session, started, clock, methods, connect } = connecting({ connectTimeoutMs: 100 });
    await clock.advance(100, quiet);
    const outcome = await started;
    expect(outcome).toEqual({ error: expect.any(ConnectTimeoutError) });
    expect(outcome).toMatchObject({ error: { code: 'connect_timeout', timeoutMs: 100 } });
    expect(await session.closed).toMatchObject({ reason: 'connect_failed' });
    connect.resolve();
    await quiet();
    expect(methods).toEqual(['connect', 'close']);
  });

  it('a connect that fails: the lifetime signal ends as at every end', async () => {
    let signal: AbortSignal | undefined;
    const { session, started } = openSession({
      connect: { model: 'm' },
      provider: {
        id: 'refusing',
        connect: async (params) => {
          ({ signal } = params);
          throw new TypeError('down');
        },
      },
    });
    await outcomeOf(started);
    await session.closed;
    expect(signal?.reason).toMatchObject({ code: 'session_ended', reason: 'connect_failed' });
  });

  it('a connect that fails: start rejects with the driver’s own error, closed with connect_failed', async () => {
    const { session, started, connect } = connecting();
    const error = new TypeError('refused');
    connect.reject(error);
    expect(await started).toEqual({ error });
    expect(await session.closed).toEqual({ reason: 'connect_failed', message: 'refused', calls: [] });
  });

  it('acts while connecting are refused; nothing reaches the driver', async () => {
    const { session, methods, connect } = connecting();
    for (const act of [session.send({ type: 'text', text: 'a' }), session.interrupt(), session.approve('c')]) {
      expect(await outcomeOf(act)).toEqual({ error: expect.any(NotSupportedError) });
    }
    connect.resolve();
    await quiet();
    expect(methods).toEqual(['connect']);
    await session.close();
  });

  it('mints ids of the right shape, each once', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => stage()));
    const ids = sessions.flatMap(({ session }) => [session.sessionId, session.turnId]);
    expect(new Set(ids).size).toBe(40);
    for (const id of ids) expect(id).toMatch(/^(ses|turn)_[A-Za-z0-9_-]+$/);
  });
});
