/** What `lifecycle$` and `calls()` tell of a session (duplex page, §1, §3). */
import { describe, expect, it } from 'vitest';
import type { CallState, LifecycleEvent } from '../../src/contract/lifecycle.js';
import type { BidiEvent } from '../../src/contract/provider.js';
import { openSession } from '../../src/runtime/start-session.js';
import { HandJournal } from '../../src/testing/hand-journal.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { handTools, path } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { type Held, held, quiet, readAll, stage, toolCall } from './stage.js';

expectNoHarm();

describe('lifecycle$: calls', () => {
  it('tells each change of a call, when it was, and the input once', async () => {
    const hand = handTools();
    const { emit, lifecycle, clock } = await stage(hand);
    await clock.advance(10, quiet);
    await emit(toolCall('c1', 'hand', { word: 'moon' }));
    await clock.advance(5, quiet);
    hand.code('c1').resolve('done');
    await quiet();
    const call = { type: 'call', id: 'c1', name: 'hand' };
    expect(lifecycle).toEqual([
      { ...call, from: null, to: 'admitted', at: 10 },
      { ...call, from: 'admitted', to: 'queued', input: { word: 'moon' }, at: 10 },
      { ...call, from: 'queued', to: 'executing', at: 10 },
      { ...call, from: 'executing', to: 'publishing', at: 15 },
      { ...call, from: 'publishing', to: 'completed', at: 15 },
    ]);
  });

  it('tells of a durable journal’s states', async () => {
    const hand = handTools({ effect: 'irreversible' });
    const flushes: Held<void>[] = [];
    const journal = new HandJournal(true, () => {
      const flush = held<void>();
      flushes.push(flush);
      return flush.promise;
    });
    const far = scriptedProvider();
    const clock = new VirtualClock();
    const { session } = openSession({ provider: far, connect: { model: 'm' }, clock, journal, ...hand });
    const lifecycle: LifecycleEvent[] = [];
    session.lifecycle$.subscribe((event) => lifecycle.push(event));
    await quiet();
    far.emit(toolCall('c1', 'hand'));
    await quiet();
    expect(path(lifecycle, 'c1')).toEqual(['admitted', 'queued', 'starting']);
    flushes.shift()?.resolve();
    await quiet();
    hand.code('c1').resolve('x');
    await quiet();
    expect(path(lifecycle, 'c1').slice(3)).toEqual(['executing', 'committing']);
    far.emit({ type: 'interrupted' });
    await quiet();
    expect(path(lifecycle, 'c1').slice(5)).toEqual(['abandoned']);
    // the outcome was at hand and was not published: told of when the record of that is durable
    for (const flush of flushes) flush.resolve();
    await quiet();
    expect(hand.late).toEqual([[{ status: 'resolved', value: 'x' }, expect.objectContaining({ id: 'c1' })]]);
    await session.close();
  });

  it('completes at the end and gives a later subscriber nothing', async () => {
    const { session, emit } = await stage();
    const log: unknown[] = [];
    session.lifecycle$.subscribe({ next: (event) => log.push(event), complete: () => log.push('|') });
    await emit({ type: 'closed' });
    session.lifecycle$.subscribe({ next: (event) => log.push(event), complete: () => log.push('| later') });
    expect(log).toEqual(['|', '| later']);
  });
});

describe('lifecycle$: the far side', () => {
  it.each<[BidiEvent]>([
    [{ type: 'usage', inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedTokens: 0 }],
    [{ type: 'usage' }],
    [{ type: 'input_text', text: 'hel', final: false }],
    [{ type: 'input_text', text: 'hello', final: true }],
    [{ type: 'expiring', inMs: 60_000 }],
  ])('%j is told there and never in the conversation', async (event) => {
    const { session, emit, lifecycle } = await stage();
    const { seen } = readAll(session);
    await emit(Object.assign({ extra: 'not passed on' }, event));
    expect(lifecycle).toEqual([event]);
    expect(seen).toEqual([]);
  });

  it.each([
    ['unknown_event', { type: 'video', data: 'secret' }],
    ['malformed_event', { type: 'usage', inputTokens: 'secret' }],
    ['malformed_event', { type: 'expiring', inMs: Number.NaN }],
    ['malformed_event', { type: 'input_text', text: 'secret', final: 'yes' }],
  ])('what was not understood is a diagnostic: %s', async (code, event) => {
    const { emit, lifecycle } = await stage();
    await emit(event as never);
    expect(lifecycle).toEqual([{ type: 'diagnostic', code, detail: expect.stringContaining(event.type) }]);
    expect(JSON.stringify(lifecycle)).not.toContain('secret');
  });
});

describe('calls()', () => {
  it('gives every call in order of admission and where it stands, before and after the end', async () => {
    const hand = handTools();
    const { session, emit } = await stage({ ...hand, maxConcurrentTools: 1 });
    expect(session.calls()).toEqual([]);
    await emit(toolCall('b', 'hand'), toolCall('a', 'hand'), toolCall('x', 'nobody', 'not JSON'));
    const stands = (): [string, CallState][] => session.calls().map(({ id, state }) => [id, state]);
    expect(stands()).toEqual([
      ['b', 'executing'],
      ['a', 'queued'],
      ['x', 'completed'],
    ]);
    hand.code('b').resolve('');
    await quiet();
    expect(stands().slice(0, 2)).toEqual([
      ['b', 'completed'],
      ['a', 'executing'],
    ]);
    session.calls().length = 0;
    expect(session.calls()).toHaveLength(3);
    await emit({ type: 'closed' });
    expect(stands().map(([, state]) => state)).toEqual(['completed', 'cancelled', 'completed']);
    expect(await session.closed).toEqual({ reason: 'far_side', calls: session.calls() });
    session.calls().length = 0;
    expect(session.calls()).toHaveLength(3);
  });

  it('ids may be any text', async () => {
    const hand = handTools();
    const { session, emit } = await stage(hand);
    const ids = ['__proto__', 'constructor', 'toString', ' ', '\u0000', '🌙', 'x'.repeat(10_000)];
    await emit(...ids.map((id) => toolCall(id, 'hand')));
    expect(session.calls().map(({ id }) => id)).toEqual(ids);
    for (const id of ids) hand.code(id).resolve('');
    await quiet();
    expect(session.calls().every(({ state }) => state === 'completed')).toBe(true);
  });
});
