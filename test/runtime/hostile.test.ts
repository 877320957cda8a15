/** Drivers and tools that break every promise they made: the outcome is typed, nothing hangs, nothing reaches the process. */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DriverContractError,
  isCommitpointError,
  NotSupportedError,
  SessionCloseTimeoutError,
} from '../../src/contract/errors.js';
import type { BidiEvent, BidiProvider, BidiSession } from '../../src/contract/provider.js';
import { defineTool, type Session, startSession } from '../../src/runtime/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { held, outcomeOf, quiet, readAll, stage, toolCall, watchProcess } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** Throws whatever it is given. */
const throwing = (thrown: unknown) => () => {
  throw thrown;
};

class Boom extends Error {
  override readonly name = 'Boom';
}
const boom = new Boom('boom');

/** What cannot be looked at without a throw. */
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
/** An object whose every property throws. */
const thorny = (thrown: unknown = boom): object => new Proxy({}, { get: throwing(thrown), has: throwing(thrown) });
/** What cannot even be printed. */
const unprintable = (): object => ({
  get message() {
    throw boom;
  },
  toString: throwing(boom),
});

/** A thenable that behaves as it is told. */
const thenable = (then: unknown): object => Object.fromEntries([['then', then]]);

/** Settles twice and thrice: first `value`, then other things. */
const twice = <Value>(value: Value, other?: Value): PromiseLike<Value> =>
  thenable((resolve: (value: Value) => void, reject: (error: unknown) => void) => {
    resolve(value);
    resolve(other ?? value);
    reject(boom);
    throw boom;
  }) as PromiseLike<Value>;

/** A promise of the platform whose `then` was replaced: it, too, settles as often as it likes. */
const disguised = <Value>(value: Value, other?: Value): Promise<Value> => {
  const promise = Promise.resolve(value);
  Object.defineProperty(promise, 'then', { value: twice(value, other).then });
  return promise;
};

/** A promise of the platform that cannot be adopted without a throw. */
const unadoptable = <Value>(value: Value): Promise<Value> =>
  Object.defineProperty(Promise.resolve(value), 'constructor', { get: throwing(boom) });

interface Played {
  readonly session: Session;
  readonly clock: VirtualClock;
  readonly closes: () => number;
}

/** A driver of plain parts, each of which can be replaced. */
function driver(over: Partial<Record<keyof BidiSession, unknown>>, events: BidiEvent[] = []): BidiSession {
  const parts = {
    send: async () => {},
    sendToolResult: async () => {},
    events: async function* () {
      yield* events;
      await new Promise(() => {});
    },
    close: async () => {},
  };
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(parts), ...Object.getOwnPropertyDescriptors(over) },
  ) as BidiSession;
}

const over = (connect: () => unknown): BidiProvider => ({ id: 'hostile', connect: connect as BidiProvider['connect'] });

async function play(session: BidiSession, options: { tools?: ReturnType<typeof defineTool>[] } = {}): Promise<Played> {
  const clock = new VirtualClock();
  let closes = 0;
  const close = session.close;
  if (Object.getOwnPropertyDescriptor(session, 'close')?.get === undefined) {
    session.close = () => {
      closes++;
      return close.call(session);
    };
  }
  const started = await startSession({
    provider: over(async () => session),
    connect: { model: 'm' },
    clock,
    ...options,
  });
  return { session: started, clock, closes: () => closes };
}

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

describe('the event stream', () => {
  const iterating = (next: unknown, rest: object = {}) => ({ [Symbol.asyncIterator]: () => ({ next, ...rest }) });
  const result = (get: PropertyDescriptor) => Object.defineProperty({ done: false, value: 1 }, 'done', get);

  it.each<[string, () => unknown]>([
    ['events() throws', throwing(boom)],
    ['events() throws null', throwing(null)],
    ['events() throws what cannot be printed', throwing(unprintable())],
    ['events() gives nothing', () => undefined],
    ['events() gives no iterable', () => ({})],
    ['events() gives a synchronous iterable', () => []],
    ['events() gives a proxy that throws', () => thorny()],
    ['the iterator cannot be made', () => ({ [Symbol.asyncIterator]: throwing(boom) })],
    ['the iterator is nothing', () => ({ [Symbol.asyncIterator]: () => undefined })],
    ['the iterator is null', () => ({ [Symbol.asyncIterator]: () => null })],
    ['the iterator is a number', () => ({ [Symbol.asyncIterator]: () => 1 })],
    ['the iterator has no next', () => iterating(undefined)],
    ['next throws', () => iterating(throwing(boom))],
    ['next rejects', () => iterating(() => Promise.reject(boom))],
    ['next rejects with nothing', () => iterating(() => Promise.reject(undefined))],
    ['next rejects with what cannot be printed', () => iterating(() => Promise.reject(unprintable()))],
    ['next gives nothing', () => iterating(() => undefined)],
    ['next resolves with null', () => iterating(async () => null)],
    ['next resolves with a number', () => iterating(async () => 7)],
    ['next gives a thenable that throws', () => iterating(() => thenable(throwing(boom)))],
    ['next gives a promise that cannot be adopted', () => iterating(() => unadoptable(1))],
    ['`done` cannot be read', () => iterating(async () => result({ get: throwing(boom) }))],
    [
      '`value` cannot be read',
      () => iterating(async () => Object.defineProperty({ done: false }, 'value', { get: throwing(boom) })),
    ],
    ['return throws', () => iterating(throwing(boom), { return: throwing(boom) })],
    ['return cannot be read', () => iterating(throwing(boom), Object.defineProperty({}, 'x', { get: throwing(boom) }))],
  ])('%s: the session ends with stream_failed, one error, one close', async (_, events) => {
    const { session, closes } = await play(driver({ events }));
    const { seen, ended } = readAll(session);
    const report = await session.closed;
    await ended;
    expect(report).toMatchObject({ reason: 'stream_failed', message: expect.stringContaining('event stream') });
    expect(seen).toMatchObject([{ type: 'error', message: report.message }]);
    expect(closes()).toBe(1);
  });

  it.each<[string, object]>([
    ['is not there', {}],
    ['is no function', { return: 1 }],
    ['throws', { return: throwing(boom) }],
    ['rejects', { return: () => Promise.reject(boom) }],
    ['never settles', { return: () => new Promise(() => {}) }],
    ['cannot be read', Object.defineProperty({}, 'return', { get: throwing(boom) })],
    ['gives a thenable that settles twice', { return: () => twice({ done: true, value: undefined }) }],
  ])('an iterator whose return %s ends with the session', async (_, iterator) => {
    let asked = 0;
    Object.defineProperty(iterator, 'next', {
      value: () => {
        asked++;
        return new Promise(() => {});
      },
    });
    const { session, closes } = await play(driver({ events: () => ({ [Symbol.asyncIterator]: () => iterator }) }));
    await session.close();
    await quiet();
    expect(await session.closed).toMatchObject({ reason: 'host' });
    expect([asked, closes()]).toEqual([1, 1]);
  });

  it('may give results that are no promises, thenables and promises in disguise', async () => {
    const results = [
      { done: false, value: { type: 'text', text: 'plain' } },
      twice({ done: false, value: { type: 'text', text: 'thenable' } }),
      disguised({ done: false, value: { type: 'text', text: 'disguised' } }),
      { done: false, value: { type: 'closed' } },
    ];
    const { session, closes } = await play(
      driver({ events: () => ({ [Symbol.asyncIterator]: () => ({ next: () => results.shift() }) }) }),
    );
    const { seen, ended } = readAll(session);
    await ended;
    expect(seen.map((event) => ('text' in event ? event.text : event.type))).toEqual([
      'plain',
      'thenable',
      'disguised',
      'closed',
    ]);
    expect(closes()).toBe(0);
  });

  it('is not asked again after the end, and what it still gives is not read', async () => {
    const second = held<IteratorResult<BidiEvent>>();
    let asked = 0;
    const next = () => {
      asked++;
      return asked === 1 ? Promise.resolve({ done: false, value: { type: 'text', text: 'a' } }) : second.promise;
    };
    const { session } = await play(driver({ events: () => iterating(next) }));
    const { seen, ended } = readAll(session);
    await quiet();
    await session.close();
    let reads = 0;
    second.resolve({
      done: false,
      get value(): BidiEvent {
        reads++;
        throw boom;
      },
    });
    await ended;
    await quiet();
    expect([asked, seen.length, reads]).toEqual([2, 1, 0]);
  });
});

describe('far-side events', () => {
  const only = async (event: unknown) => {
    // a generator would look at what it yields
    const results = [{ done: false, value: event }];
    const next = () => results.pop() ?? new Promise(() => {});
    const { session, closes } = await play(driver({ events: () => ({ [Symbol.asyncIterator]: () => ({ next }) }) }));
    const { seen, ended } = readAll(session);
    await quiet();
    return { session, seen, ended, closes };
  };

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'text'],
    ['a function', () => {}],
    ['a list', []],
    ['an object without a type', {}],
    ['a type that is no text', { type: Symbol('text') }],
    ['a proxy that throws', thorny()],
    ['a proxy that throws null', thorny(null)],
    ['a proxy that throws what cannot be printed', thorny(unprintable())],
    ['a revoked proxy', revoked()],
    ['a text whose text throws', Object.defineProperty({ type: 'text' }, 'text', { get: throwing(unprintable()) })],
    ['an audio without data', { type: 'audio', mediaType: 'audio/pcm' }],
    ['a call without id', { type: 'tool_call', id: '', name: 'n', arguments: '{}' }],
    ['a call with arguments that are no text', { type: 'tool_call', id: 'c', name: 'n', arguments: {} }],
    ['a withdrawal of nothing', { type: 'tool_call_cancelled' }],
    ['a withdrawal with holes', { type: 'tool_call_cancelled', ids: new Array(2) }],
    ['a withdrawal of a proxy that throws', { type: 'tool_call_cancelled', ids: thorny() }],
    ['a withdrawal of an empty id', { type: 'tool_call_cancelled', ids: ['a', ''] }],
    ['a closed with a reason that is no text', { type: 'closed', reason: 1 }],
    ['an error without message', { type: 'error' }],
  ])('%s is a protocol failure', async (_, event) => {
    const { session, seen, ended, closes } = await only(event);
    await ended;
    const report = await session.closed;
    expect(report).toMatchObject({ reason: 'protocol_failure', message: expect.stringContaining('malformed') });
    expect(seen).toMatchObject([{ type: 'error', message: report.message }]);
    expect(closes()).toBe(1);
  });

  it.each<[string, unknown]>([
    ['an unknown type', { type: 'telepathy' }],
    ['an unknown type of inherited name', { type: '__proto__' }],
    ['an unknown type that is long', { type: 'x'.repeat(100_000) }],
    ['an ill-formed usage', { type: 'usage', inputTokens: Number.NaN }],
    ['an ill-formed input_text', { type: 'input_text', text: 'a' }],
    ['an ill-formed expiring', { type: 'expiring', inMs: -1 }],
  ])('%s is noted and ignored', async (_, event) => {
    const { session, seen } = await only(event);
    expect(session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    expect(seen).toEqual([]);
    await session.close();
  });

  it('a proxy that behaves is an event like any other, read once and copied', async () => {
    const reads: PropertyKey[] = [];
    const target = { type: 'text', text: 'once', secret: 'not passed on' };
    const { seen, session } = await only(
      new Proxy(target, {
        get(object, key) {
          reads.push(key);
          return Reflect.get(object, key);
        },
      }),
    );
    target.text = 'changed later';
    expect(seen).toEqual([{ type: 'text', sessionId: session.sessionId, turnId: session.turnId, text: 'once' }]);
    await session.close();
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

describe('the code of a tool', () => {
  /** Runs one call of `execute` and gives what was sent for it. */
  async function sentBy(execute: () => unknown) {
    const { session, driverCalls, emit } = await stage({
      tools: [defineTool({ name: 'bad', description: '', input: {}, execute })],
    });
    const { seen } = readAll(session);
    await emit(toolCall('c1', 'bad'), { type: 'text', text: 'the conversation goes on' });
    expect(seen.map(({ type }) => type).sort()).toEqual(['text', 'tool_completed', 'tool_started']);
    const results = driverCalls.filter(({ method }) => method === 'sendToolResult');
    expect(results).toHaveLength(1);
    const [sent] = results as [Extract<(typeof results)[number], { method: 'sendToolResult' }>];
    expect(typeof sent.output).toBe('string');
    expect(seen.find(({ type }) => type === 'tool_completed')).toMatchObject({
      output: sent.output,
      isError: sent.isError,
    });
    await session.close();
    return { output: sent.output, isError: sent.isError };
  }

  const thrown: [string, unknown, unknown][] = [
    ['an error', boom, 'boom'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['a text', 'plain words', 'plain words'],
    ['a number', 42, '42'],
    ['a symbol', Symbol('why'), expect.stringContaining('why')],
    ['an object', { message: 'an object says' }, 'an object says'],
    ['an object with a message that is no text', { message: { a: 1 } }, expect.any(String)],
    ['an object without a prototype', Object.create(null), expect.any(String)],
    ['what cannot be printed', unprintable(), expect.any(String)],
    ['a proxy that throws', thorny(), expect.any(String)],
    ['a revoked proxy', revoked(), expect.any(String)],
    ['a function', () => {}, expect.any(String)],
  ];

  it.each(thrown)('throws %s: one error result that says what there is to say', async (_, error, output) => {
    expect(await sentBy(throwing(error))).toEqual({ output, isError: true });
    expect(await sentBy(() => Promise.reject(error))).toEqual({ output, isError: true });
    expect(await sentBy(() => thenable(throwing(error)))).toEqual({ output, isError: true });
  });

  it.each<[string, () => unknown, string]>([
    ['a thenable', () => twice('first', 'second'), 'first'],
    ['a promise in disguise', () => disguised('first', 'second'), 'first'],
    ['a function with a `then`', () => Object.assign(() => {}, thenable(twice('first', 'second').then)), 'first'],
  ])('settles twice, as %s: the first counts', async (_, execute, output) => {
    expect(await sentBy(execute)).toEqual({ output, isError: false });
  });

  it.each<[string, unknown]>([
    ['a BigInt', 1n],
    ['a function', () => {}],
    ['a symbol', Symbol('a')],
    ['what throws when it is written', { toJSON: throwing(boom) }],
    ['what throws what cannot be printed', { toJSON: throwing(unprintable()) }],
    ['what has no JSON', { toJSON: () => undefined }],
    ['a proxy that throws when it is written', new Proxy({}, { ownKeys: throwing(boom) })],
  ])('gives %s: one error result', async (_, value) => {
    expect(await sentBy(async () => value)).toMatchObject({ isError: true });
  });

  // how deep JSON.stringify goes is the engine's affair: Node 26 has no bound
  it('gives something nested beyond reason: one result, its JSON or an error', async () => {
    const { output, isError } = await sentBy(async () => nest(50_000));
    if (isError) expect(output).toContain('JSON cannot hold');
    else expect(output.length).toBeGreaterThan(50_000);
  });

  it('gives a promise that cannot be adopted: one error result', async () => {
    expect(await sentBy(() => unadoptable('x'))).toEqual({ output: 'boom', isError: true });
  });

  it('tells onLate once, however often the code settles', async () => {
    const told: unknown[] = [];
    let settle: ((value: unknown) => void)[] = [];
    const { session, emit } = await stage({
      tools: [
        defineTool({
          name: 'bad',
          description: '',
          input: {},
          execute: () =>
            thenable((...callbacks: ((value: unknown) => void)[]) => {
              settle = callbacks;
            }),
          onLate: (outcome) => {
            told.push(outcome);
          },
        }),
      ],
    });
    await emit(toolCall('c1', 'bad'), { type: 'interrupted' });
    const [resolve, reject] = settle as [(value: unknown) => void, (error: unknown) => void];
    resolve('a');
    resolve('b');
    reject(boom);
    await quiet();
    expect(told).toEqual([{ status: 'resolved', value: 'a' }]);
    await session.close();
  });
});

function nest(depth: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

describe('what stands beside the code of a tool', () => {
  it.each<[string, () => unknown, unknown]>([
    ['throws', throwing(boom), 'boom'],
    ['throws what cannot be printed', throwing(unprintable()), expect.any(String)],
  ])('needsApproval that %s: one error result, the code never runs', async (_, needsApproval, output) => {
    let runs = 0;
    const { session, driverCalls, emit } = await stage({
      tools: [
        defineTool({
          name: 'careful',
          description: '',
          input: {},
          needsApproval: needsApproval as () => boolean,
          execute: () => runs++,
        }),
      ],
    });
    await emit(toolCall('c1', 'careful'));
    expect(driverCalls.at(-1)).toEqual({ method: 'sendToolResult', id: 'c1', output, isError: true });
    expect(runs).toBe(0);
    await session.close();
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a promise of false', async () => false],
    ['a promise that rejects', () => Promise.reject(boom)],
    ['a thenable that throws', () => thenable(throwing(boom))],
    ['a promise that cannot be adopted', () => unadoptable(false)],
    ['what throws when it is looked at', () => thorny()],
    ['zero', () => 0],
  ])('needsApproval that gives %s: the call waits for approval, which is the safe side', async (_, needsApproval) => {
    const { session, emit, driverCalls } = await stage({
      tools: [
        defineTool({
          name: 'careful',
          description: '',
          input: {},
          needsApproval: needsApproval as () => boolean,
          execute: () => 'ran',
        }),
      ],
    });
    await emit(toolCall('c1', 'careful'));
    expect(session.calls()).toEqual([{ id: 'c1', name: 'careful', state: 'awaiting_approval' }]);
    await session.approve('c1');
    await quiet();
    expect(driverCalls.at(-1)).toMatchObject({ output: 'ran', isError: false });
    await session.close();
  });

  it.each<[string, () => unknown]>([
    ['throws', throwing(boom)],
    ['throws null', throwing(null)],
    ['rejects', () => Promise.reject(boom)],
    ['gives a thenable that throws', () => thenable(throwing(boom))],
    ['gives a promise that cannot be adopted', () => unadoptable(1)],
    ['throws what cannot be printed', throwing(unprintable())],
  ])('onLate that %s is noted, the session goes on', async (_, onLate) => {
    const code = held();
    const { session, lifecycle, emit } = await stage({
      tools: [
        defineTool({
          name: 'slow',
          description: '',
          input: {},
          execute: () => code.promise,
          onLate: onLate as () => void,
        }),
      ],
    });
    await emit(toolCall('c1', 'slow'), { type: 'interrupted' });
    code.resolve('late');
    await quiet();
    expect(lifecycle.filter(({ type }) => type === 'diagnostic')).toMatchObject([{ code: 'host_callback_threw' }]);
    expect(session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    await session.close();
  });

  /** A Standard Schema that judges as it is told. */
  const judging = (validate: () => unknown): StandardSchemaV1 => ({
    '~standard': { version: 1, vendor: 'hostile', validate: validate as () => StandardSchemaV1.Result<unknown> },
  });

  it.each<[string, () => unknown]>([
    ['throws', throwing(boom)],
    ['throws null', throwing(null)],
    ['throws what cannot be printed', throwing(unprintable())],
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives a text', () => 'valid'],
    ['gives a proxy that throws', () => thorny()],
    ['gives issues that are no list', () => ({ issues: 'bad' })],
    ['gives issues that are nothing', () => ({ issues: [null, undefined] })],
    ['gives issues that cannot be read', () => ({ issues: [thorny()] })],
    [
      'gives issues with paths of symbols',
      () => ({ issues: [{ message: 'bad', path: [Symbol('p'), { key: Symbol('k') }] }] }),
    ],
    ['gives no issues at all', () => ({ issues: [] })],
    ['rejects', () => Promise.reject(boom)],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['resolves with nothing', async () => undefined],
    ['gives a thenable that throws', () => thenable(throwing(boom))],
    ['gives a promise that cannot be adopted', () => unadoptable({ value: 1 })],
  ])('a schema that %s: one error result, the code never runs', async (_, validate) => {
    let runs = 0;
    const { session, driverCalls, emit } = await stage({
      tools: [
        defineTool({
          name: 'picky',
          description: '',
          input: judging(validate),
          parameters: { type: 'object' },
          execute: () => runs++,
        }),
      ],
    });
    await emit(toolCall('c1', 'picky'), { type: 'text', text: 'on' });
    const sent = driverCalls.filter(({ method }) => method === 'sendToolResult');
    expect(sent).toMatchObject([{ id: 'c1', isError: true, output: expect.any(String) }]);
    expect(runs).toBe(0);
    expect(session.calls()).toMatchObject([{ state: 'completed' }]);
    await session.close();
  });

  it.each<[string, () => unknown]>([
    ['a thenable', () => twice({ value: 'first' }, { value: 'second' })],
    ['a promise in disguise', () => disguised({ value: 'first' }, { value: 'second' })],
  ])('a schema whose verdict, as %s, comes twice: the first counts, the code runs once', async (_, validate) => {
    const inputs: unknown[] = [];
    const { session, emit } = await stage({
      tools: [
        defineTool({
          name: 'picky',
          description: '',
          input: judging(validate),
          parameters: { type: 'object' },
          execute: (input) => {
            inputs.push(input);
          },
        }),
      ],
    });
    await emit(toolCall('c1', 'picky'));
    expect(inputs).toEqual(['first']);
    await session.close();
  });
});

describe('errors that reach the host', () => {
  it('are of the family where they are ours, and untouched where they are not', async () => {
    const theirs = Object.freeze(new Boom('theirs'));
    const ours = await outcomeOf(
      startSession({ provider: over(() => null), connect: { model: 'm' }, clock: new VirtualClock() }),
    );
    const notOurs = await outcomeOf(
      startSession({ provider: over(throwing(theirs)), connect: { model: 'm' }, clock: new VirtualClock() }),
    );
    expect('error' in ours && isCommitpointError(ours.error)).toBe(true);
    expect(notOurs).toEqual({ error: theirs });
    expect('error' in notOurs && notOurs.error).toBe(theirs);
  });
});
