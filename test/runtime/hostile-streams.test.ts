/** Event streams and events that break every promise: the outcome is typed, nothing hangs, nothing reaches the process. */
import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../src/contract/provider.js';
import {
  boom,
  disguised,
  driver,
  play,
  revoked,
  thenable,
  thorny,
  throwing,
  twice,
  unadoptable,
  unprintable,
} from './hostile-parts.js';
import { expectNoHarm } from './no-harm.js';
import { held, quiet, readAll } from './stage.js';

expectNoHarm();

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
    ['a call with half a character', { type: 'tool_call', id: 'c\ud800', name: 'n', arguments: '{}' }],
    ['half a character withdrawn', { type: 'tool_call_cancelled', ids: ['c', '\udfff'] }],
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
