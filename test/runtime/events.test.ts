/** `events()` and `events$`: the rules of the duplex page, §3, for one loop and for subscribers. */
import { firstValueFrom, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { defineTool, type Session, startSession } from '../../src/runtime/index.js';
import { scriptedProvider } from '../../src/testing/index.js';
import { echo, readSome, subscribe, text, texts, word } from './reading.js';
import { isSettled, outcomeOf, quiet, readAll, stage, toolCall } from './stage.js';

describe('one loop at a time', () => {
  it('a second loop throws TypeError when the iterator is asked for; the first goes on (N10)', async () => {
    const { session, emit } = await stage();
    const { seen, ended } = readAll(session);
    await emit(text('a'));
    const iterable = session.events();
    expect(() => iterable[Symbol.asyncIterator]()).toThrow(TypeError);
    const second = await outcomeOf(readSome(session, 1));
    expect(second).toEqual({ error: expect.any(TypeError) });
    expect((second as { error: TypeError }).error.message).toContain('events$');
    await emit(text('b'), { type: 'closed' });
    await ended;
    expect(seen.map(word)).toEqual(['a', 'b', 'closed']);
  });

  it('refuses a second loop while the first is busy with an event, too', async () => {
    const { session, emit } = await stage();
    await emit(...texts('a', 'b'));
    const inner: unknown[] = [];
    const seen: string[] = [];
    for await (const event of session.events()) {
      seen.push(word(event));
      inner.push(await outcomeOf(readSome(session, 1)));
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['a', 'b']);
    expect(inner).toEqual([{ error: expect.any(TypeError) }, { error: expect.any(TypeError) }]);
  });

  it.each<[string, (session: Session) => Promise<unknown>]>([
    ['break', (session) => readSome(session, 1)],
    [
      'a throw in its body',
      async (session) => {
        try {
          for await (const _ of session.events()) throw new RangeError('leave');
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(RangeError);
        }
      },
    ],
    [
      'return() while it waits',
      async (session) => {
        const iterator = session.events()[Symbol.asyncIterator]();
        await iterator.next();
        const waits = iterator.next();
        expect(await isSettled(waits)).toBe(false);
        await iterator.return?.();
        expect(await waits).toEqual({ done: true, value: undefined });
      },
    ],
  ])('a loop left by %s loses nothing: a later one resumes', async (_, leave) => {
    const { session, emit } = await stage();
    await emit(text('a'));
    await leave(session);
    await emit(...texts('b', 'c'));
    expect(await readSome(session, 1)).toEqual(['b']);
    await emit(text('d'), { type: 'closed' });
    expect(await readSome(session, 9)).toEqual(['c', 'd', 'closed']);
  });

  it('an iterator that was left gives nothing any more, and disturbs no other', async () => {
    const { session, emit } = await stage();
    const left = session.events()[Symbol.asyncIterator]();
    await left.return?.();
    const second = readAll(session);
    await emit(text('a'));
    expect(await left.next()).toEqual({ done: true, value: undefined });
    await left.return?.();
    await emit(text('b'), { type: 'closed' });
    await second.ended;
    expect(second.seen.map(word)).toEqual(['a', 'b', 'closed']);
  });

  it('may be asked ahead: the answers come in order', async () => {
    const { session, emit } = await stage();
    const iterator = session.events()[Symbol.asyncIterator]();
    const asked = [iterator.next(), iterator.next(), iterator.next(), iterator.next()];
    await emit(text('a'), text('b'), { type: 'closed' });
    const given = await Promise.all(asked);
    expect(given.map(({ done, value }) => (done ? 'done' : word(value)))).toEqual(['a', 'b', 'closed', 'done']);
  });

  it.each<[string, (session: Session) => unknown]>([
    ['a loop that waited', (session) => readAll(session).ended],
    ['a loop that was left', (session) => readSome(session, 1)],
    ['no loop', () => undefined],
  ])('after the end and %s, a loop ends at once', async (_, before) => {
    const { session, emit } = await stage();
    const earlier = before(session);
    await emit(text('a'));
    await session.close();
    await earlier;
    expect(await readSome(session, 9)).toEqual([]);
    expect(await readSome(session, 9)).toEqual([]);
    await emit();
  });

  it('events carry the ids of the session', async () => {
    const { session, emit } = await stage({ sessionId: 'ses_mine', turnId: 'turn_mine', tools: [echo] });
    const { seen, ended } = readAll(session);
    await emit(text('a'), { type: 'audio', data: 'AA==', mediaType: 'audio/pcm' }, toolCall('c', 'echo'));
    await emit({ type: 'interrupted' }, { type: 'turn_complete' }, { type: 'error', message: 'm' }, { type: 'closed' });
    await ended;
    expect(seen.map(({ type }) => type)).toEqual(
      'text audio tool_started tool_completed interrupted turn_complete error closed'.split(' '),
    );
    expect(new Set(seen.map(({ sessionId, turnId }) => `${sessionId} ${turnId}`))).toEqual(
      new Set(['ses_mine turn_mine']),
    );
  });
});

describe('events$', () => {
  it('gives the first subscriber what waits, so nothing is missed after `await startSession`', async () => {
    const { session, emit } = await stage();
    await emit(...texts('a', 'b'));
    const first = subscribe(session.events$);
    expect(first.log).toEqual(['a', 'b']);
    const second = subscribe(session.events$);
    await emit(text('c'), { type: 'closed' });
    expect(first.log).toEqual(['a', 'b', 'c', 'closed', '|']);
    expect(second.log).toEqual(['c', 'closed', '|']);
  });

  it('gives what waits to the first alone, even if it brings another in on the way', async () => {
    const { session, emit } = await stage();
    await emit(...texts('a', 'b'));
    const first: string[] = [];
    let second: { log: string[] } | undefined;
    session.events$.subscribe((event) => {
      first.push(word(event));
      second ??= subscribe(session.events$);
    });
    await emit(text('c'));
    expect(first).toEqual(['a', 'b', 'c']);
    expect(second?.log).toEqual(['c']);
  });

  it('keeps the order of what comes while the first subscriber is given what waits', async () => {
    const far = scriptedProvider({ events: [toolCall('c', 'ask'), text('a'), text('b')] });
    const session = await startSession({
      provider: {
        id: 'prompt',
        // it takes results without a promise: what comes of a denial comes at once
        connect: async (params) =>
          Object.assign(await far.connect(params), { sendToolResult: () => undefined as unknown as Promise<void> }),
      },
      connect: { model: 'm' },
      tools: [defineTool({ name: 'ask', description: '', input: {}, needsApproval: true, execute: () => 'x' })],
    });
    await quiet();
    const log: string[] = [];
    const nested: string[] = [];
    session.events$.subscribe((event) => {
      log.push(word(event));
      if (event.type !== 'tool_started') return;
      session.events$.subscribe((later) => nested.push(word(later)));
      session.deny('c', 'no');
    });
    expect(log).toEqual(['tool_started', 'a', 'b', 'tool_completed']);
    expect(nested).toEqual(['tool_completed']);
  });

  it('a subscriber that leaves half way leaves the rest for the next', async () => {
    const { session, emit } = await stage();
    await emit(...texts('a', 'b', 'c'));
    expect(word(await firstValueFrom(session.events$))).toBe('a');
    expect((await firstValueFrom(session.events$.pipe(take(1), toArray()))).map(word)).toEqual(['b']);
    await emit(text('d'));
    expect(subscribe(session.events$).log).toEqual(['c', 'd']);
  });

  it('counts as reading: while it has a subscriber and no loop was ever opened, nothing is kept', async () => {
    const { session, emit } = await stage({ maxBufferedEvents: 1 });
    const first = subscribe(session.events$);
    await emit(...texts('a', 'b', 'c', 'd'));
    expect(first.log).toEqual(['a', 'b', 'c', 'd']);
    first.unsubscribe();
    await emit(text('e'));
    const loop = readAll(session);
    await emit(text('f'), { type: 'closed' });
    await loop.ended;
    expect(loop.seen.map(word)).toEqual(['e', 'f', 'closed']);
  });

  it('does not count as reading once a loop was opened: the buffer is the loop’s', async () => {
    const { session, emit } = await stage({ maxBufferedEvents: 2 });
    await emit(text('a'));
    await readSome(session, 1);
    const { log } = subscribe(session.events$);
    await emit(...texts('b', 'c', 'd'));
    expect(log).toEqual(['b', 'c', 'error', '|']);
    expect(await session.closed).toMatchObject({ reason: 'overflow' });
    expect(await readSome(session, 9)).toEqual(['b', 'c', 'error']);
  });

  it('gives a first subscriber nothing old once a loop was opened', async () => {
    const { session, emit } = await stage();
    await emit(...texts('a', 'b'));
    await readSome(session, 1);
    const { log } = subscribe(session.events$);
    await emit(text('c'));
    expect(log).toEqual(['c']);
    expect(await readSome(session, 2)).toEqual(['b', 'c']);
  });

  it('serves several readers, and a loop beside them, all the same events', async () => {
    const { session, emit } = await stage({ tools: [echo] });
    const loop = readAll(session);
    const readers = [subscribe(session.events$), subscribe(session.events$), subscribe(session.events$)];
    await emit(text('a'), toolCall('c', 'echo'));
    readers[1]?.unsubscribe();
    await emit({ type: 'turn_complete' }, { type: 'closed' });
    await loop.ended;
    const all = ['a', 'tool_started', 'tool_completed', 'turn_complete', 'closed'];
    expect(loop.seen.map(word)).toEqual(all);
    expect(readers.map(({ log }) => log)).toEqual([[...all, '|'], all.slice(0, 3), [...all, '|']]);
  });

  it('is hot: a later subscriber gets what comes, not what was', async () => {
    const { session, emit } = await stage();
    subscribe(session.events$);
    await emit(text('a'));
    const { log } = subscribe(session.events$);
    await emit(text('b'));
    expect(log).toEqual(['b']);
  });

  it('calls its subscribers within the step; what they ask for is done when the step is complete', async () => {
    const never = defineTool({ name: 'never', description: '', input: {}, execute: () => new Promise(() => {}) });
    const { session, emit, driverCalls } = await stage({ tools: [never], driver: { abandonToolCall: true } });
    const log: string[] = [];
    session.events$.subscribe((event) => {
      log.push(word(event));
      if (event.type !== 'interrupted') return;
      // the states of the step are set already, its driver calls are not made
      log.push(
        session
          .calls()
          .map(({ state }) => state)
          .join(),
      );
      session.send({ type: 'text', text: 'x' });
    });
    await emit(toolCall('c1', 'never'), toolCall('c2', 'never'), { type: 'interrupted' });
    expect(log).toEqual([
      'tool_started',
      'tool_started',
      'interrupted',
      'abandoned,abandoned',
      'tool_abandoned',
      'tool_abandoned',
    ]);
    expect(driverCalls.map(({ method }) => method)).toEqual(['connect', 'abandonToolCall', 'abandonToolCall', 'send']);
  });
});
