/** `events()` and `events$`: the rules of the duplex page, §3, one by one. */
import {
  concatMap,
  finalize,
  firstValueFrom,
  lastValueFrom,
  map,
  mergeMap,
  type Observable,
  type OperatorFunction,
  Subject,
  Subscriber,
  share,
  shareReplay,
  switchMap,
  take,
  tap,
  toArray,
} from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BidiEvent, BidiSession } from '../../src/contract/provider.js';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import { defineTool, type Session, startSession } from '../../src/runtime/index.js';
import { scriptedProvider } from '../../src/testing/index.js';
import { held, isSettled, outcomeOf, quiet, readAll, stage, toolCall, watchProcess } from './stage.js';

const text = (words: string): BidiEvent => ({ type: 'text', text: words });
const texts = (...words: string[]): BidiEvent[] => words.map(text);

/** What an event says, in one word. */
const word = (event: BidiTurnEvent): string => ('text' in event ? event.text : event.type);

/** Reads `many` events and leaves the loop. */
async function readSome(session: Session, many: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of session.events()) {
    seen.push(word(event));
    if (seen.length === many) break;
  }
  return seen;
}

/** Subscribes and keeps a log: words, `|` for the completion, `!` for an error. */
function subscribe(events$: Observable<BidiTurnEvent>): { readonly log: string[]; unsubscribe(): void } {
  const log: string[] = [];
  const subscription = events$.subscribe({
    next: (event) => log.push(word(event)),
    complete: () => log.push('|'),
    error: () => log.push('!'),
  });
  return { log, unsubscribe: () => subscription.unsubscribe() };
}

const echo = defineTool({ name: 'echo', description: '', input: {}, execute: () => 'echo' });

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

describe('ends', () => {
  type End = [
    reason: string,
    last: string[],
    end: (on: Awaited<ReturnType<typeof stage>>, abort: AbortController) => unknown,
  ];
  const farEnds: End[] = [
    ['far_side', ['closed'], ({ emit }) => emit({ type: 'closed', reason: 'bye' })],
    ['protocol_failure', ['error'], ({ emit }) => emit({ type: 'text' } as never)],
    ['stream_ended', ['error'], ({ far }) => far.end()],
    ['stream_failed', ['error'], ({ far }) => far.fail(new TypeError('cut'))],
  ];
  const localEnds: End[] = [
    ['host', [], ({ session }) => session.close()],
    ['aborted', [], (_, abort) => abort.abort(new TypeError('enough'))],
  ];

  it.each(farEnds)('%s: a slow reader still gets what waits, then %s, then the end', async (reason, last, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b'));
    end(on, abort);
    await quiet();
    expect(await on.session.closed).toMatchObject({ reason });
    await on.emit(text('too late'));
    expect(await readSome(on.session, 9)).toEqual(['a', 'b', ...last]);
    expect(on.driverCalls.filter(({ method }) => method === 'close')).toHaveLength(reason === 'far_side' ? 0 : 1);
  });

  it.each(farEnds)('%s: a slow first subscriber still gets what waits, then %s, then the end', async (_, last, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b'));
    end(on, abort);
    await quiet();
    expect(subscribe(on.session.events$).log).toEqual(['a', 'b', ...last, '|']);
    expect(subscribe(on.session.events$).log).toEqual(['|']);
  });

  it.each(localEnds)('%s: nothing more is delivered, not even what waits', async (reason, _, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b'));
    end(on, abort);
    expect(await readSome(on.session, 9)).toEqual([]);
    expect(subscribe(on.session.events$).log).toEqual(['|']);
    expect(await on.session.closed).toMatchObject({ reason });
  });

  it.each(localEnds)('%s within the loop: the loop ends there', async (_, __, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b', 'c'));
    const seen: string[] = [];
    for await (const event of on.session.events()) {
      seen.push(word(event));
      if (seen.length === 2) end(on, abort);
    }
    expect(seen).toEqual(['a', 'b']);
  });

  it.each(localEnds)('%s within a subscriber: the others get the event at hand and no more', async (_, __, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    const before = subscribe(on.session.events$);
    on.session.events$.subscribe(() => {
      end(on, abort);
    });
    const after = subscribe(on.session.events$);
    await on.emit(...texts('a', 'b'));
    expect([before.log, after.log]).toEqual([
      ['a', '|'],
      ['a', '|'],
    ]);
  });

  it.each([...farEnds, ...localEnds])('%s: a loop that waits and every subscriber end', async (_, last, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    const loop = readAll(on.session);
    const reader = subscribe(on.session.events$);
    await on.emit(text('a'));
    end(on, abort);
    await loop.ended;
    expect(loop.seen.map(word)).toEqual(['a', ...last]);
    expect(reader.log).toEqual(['a', ...last, '|']);
  });

  it('`closed` of the far side is the last, whatever else it sends, and keeps its reason', async () => {
    const { session, emit } = await stage();
    const loop = readAll(session);
    await emit(text('a'), { type: 'closed', reason: 'gone home' }, text('b'), { type: 'closed' });
    await loop.ended;
    expect(loop.seen.map(word)).toEqual(['a', 'closed']);
    expect(loop.seen.at(-1)).toMatchObject({ reason: 'gone home' });
  });

  it('a stream that ends or throws without `closed` is told as one error that says so', async () => {
    const ended = await stage();
    ended.far.end();
    const failed = await stage();
    failed.far.fail(new TypeError('socket lost'));
    await quiet();
    const [first, second] = await Promise.all(
      [ended, failed].map(({ session }) => lastValueFrom(session.events$.pipe(toArray()))),
    );
    expect(first).toMatchObject([{ type: 'error', message: expect.stringContaining('closed') }]);
    expect(second).toMatchObject([{ type: 'error', message: expect.stringContaining('socket lost') }]);
  });
});

describe('the buffer', () => {
  it('takes maxBufferedEvents unread events; the next one ends the session and is counted', async () => {
    const on = await stage({ maxBufferedEvents: 3 });
    await on.emit(...texts('a', 'b', 'c'));
    expect(on.session.actor.getSnapshot().value).toEqual({ open: 'responding' });
    await on.emit(...texts('d', 'e'));
    const report = await on.session.closed;
    expect(report).toMatchObject({ reason: 'overflow', message: expect.stringContaining('overflow') });
    expect(on.lifecycle).toContainEqual({ type: 'overflow', dropped: 1 });
    const loop = readAll(on.session);
    await loop.ended;
    expect(loop.seen.map(word)).toEqual(['a', 'b', 'c', 'error']);
    expect(loop.seen.at(-1)).toMatchObject({ message: report.message });
  });

  it('is given back by reading: a reader that pauses within the bound goes on', async () => {
    const { session, emit } = await stage({ maxBufferedEvents: 3 });
    for (let round = 0; round < 20; round++) {
      await emit(...texts('a', 'b', 'c'));
      expect(await readSome(session, 3)).toEqual(['a', 'b', 'c']);
    }
    expect(session.actor.getSnapshot().value).toEqual({ open: 'responding' });
  });

  it('dropUnreadAudio: at an interruption the unread audio goes, counted, the rest stays in order', async () => {
    const audio: BidiEvent = { type: 'audio', data: 'AA==', mediaType: 'audio/pcm' };
    const { session, emit, lifecycle } = await stage({ dropUnreadAudio: true, maxBufferedEvents: 5 });
    await emit(audio, text('a'), audio, text('b'), audio, { type: 'interrupted' }, audio);
    expect(lifecycle).toContainEqual({ type: 'overflow', dropped: 3 });
    expect(await readSome(session, 4)).toEqual(['a', 'b', 'interrupted', 'audio']);
  });

  it('without dropUnreadAudio an interruption drops nothing', async () => {
    const audio: BidiEvent = { type: 'audio', data: 'AA==', mediaType: 'audio/pcm' };
    const { session, emit, lifecycle } = await stage();
    await emit(audio, { type: 'interrupted' });
    expect(lifecycle).toEqual([]);
    expect(await readSome(session, 2)).toEqual(['audio', 'interrupted']);
  });
});

describe('a reader that keeps up never overflows', () => {
  const many = 1_000;
  const burst: BidiEvent[] = [...Array.from({ length: many }, (_, i) => text(String(i))), { type: 'closed' }];

  /** Sources that give all they have without a pause. */
  const sources: Record<string, () => AsyncIterable<BidiEvent>> = {
    'a generator': async function* () {
      yield* burst;
    },
    'a hand-written iterator': () => {
      let at = 0;
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => Promise.resolve({ done: false as const, value: burst[at++] as BidiEvent }),
        }),
      };
    },
    'an iterator without promises': () => {
      let at = 0;
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => ({ done: false as const, value: burst[at++] as BidiEvent }) as never,
        }),
      };
    },
  };

  const readers: Record<string, (session: Session) => Promise<string[]>> = {
    'a loop': (session) => readSome(session, many + 1),
    'a loop that awaits a little': async (session) => {
      const seen: string[] = [];
      for await (const event of session.events()) {
        seen.push(word(event));
        for (let i = 0; i < 10; i++) await undefined;
      }
      return seen;
    },
    'a loop over a generator over the loop': async (session) => {
      async function* wrapped() {
        for await (const event of session.events()) yield event;
      }
      const seen: string[] = [];
      for await (const event of wrapped()) seen.push(word(event));
      return seen;
    },
    'next() by hand': async (session) => {
      const seen: string[] = [];
      const iterator = session.events()[Symbol.asyncIterator]();
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return seen;
        seen.push(word(value));
      }
    },
    'a subscriber': (session) =>
      new Promise((resolve) => {
        const seen: string[] = [];
        session.events$.subscribe({ next: (event) => seen.push(word(event)), complete: () => resolve(seen) });
      }),
  };

  const cases = [1, 2].flatMap((limit) =>
    Object.keys(sources).flatMap((source) => Object.keys(readers).map((reader) => [limit, source, reader] as const)),
  );

  it.each(cases)('maxBufferedEvents %i, %s, %s', async (maxBufferedEvents, source, reader) => {
    const connection: BidiSession = {
      send: async () => {},
      sendToolResult: async () => {},
      events: sources[source] as () => AsyncIterable<BidiEvent>,
      close: async () => {},
    };
    const session = await startSession({
      provider: { id: 'burst', connect: async () => connection },
      connect: { model: 'm' },
      maxBufferedEvents,
    });
    const seen = await readers[reader]?.(session);
    expect(await session.closed).toMatchObject({ reason: 'far_side' });
    expect(seen).toEqual(burst.map((event) => word(event as BidiTurnEvent)));
  });

  it('a reader that waits for the world does not: it overflows, and the session says so', async () => {
    const world = held();
    const connection: BidiSession = {
      send: async () => {},
      sendToolResult: async () => {},
      events: sources['a generator'] as () => AsyncIterable<BidiEvent>,
      close: async () => {},
    };
    const session = await startSession({
      provider: { id: 'burst', connect: async () => connection },
      connect: { model: 'm' },
      maxBufferedEvents: 2,
    });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of session.events()) {
        seen.push(word(event));
        await world.promise;
      }
    })();
    expect(await session.closed).toMatchObject({ reason: 'overflow' });
    world.resolve(undefined);
    await reading;
    expect(seen).toEqual(['0', '1', '2', 'error']);
  });
});

describe('subscribers that fail reach nobody', () => {
  let watch: ReturnType<typeof watchProcess>;
  beforeEach(() => {
    watch = watchProcess();
  });
  afterEach(async () => {
    expect(await watch.stop()).toEqual([]);
  });

  const bad = () => {
    throw new RangeError('bad subscriber');
  };
  const badLater = async () => {
    throw new RangeError('bad subscriber');
  };
  const operators: [string, OperatorFunction<BidiTurnEvent, unknown>][] = [
    ['map', map(bad)],
    ['tap', tap(bad)],
    ['concatMap that rejects', concatMap(badLater)],
    ['mergeMap that rejects', mergeMap(badLater)],
    ['switchMap that throws', switchMap(bad)],
    ['finalize that throws', finalize(bad)],
    ['take and finalize that throws', (source) => source.pipe(take(1), finalize(bad))],
    ['share and map', (source) => source.pipe(share(), map(bad))],
    ['shareReplay and map', (source) => source.pipe(shareReplay(1), map(bad))],
  ];

  /** Runs a session with a bad subscriber between two good ones and a loop beside them. */
  async function among(attach: (session: Session) => void) {
    const on = await stage({ tools: [echo] });
    const loop = readAll(on.session);
    const before = subscribe(on.session.events$);
    attach(on.session);
    const after = subscribe(on.session.events$);
    await on.emit(text('a'), text('b'), toolCall('c', 'echo'), { type: 'closed' });
    await loop.ended;
    const all = ['a', 'b', 'tool_started', 'tool_completed', 'closed'];
    expect(loop.seen.map(word)).toEqual(all);
    expect(before.log).toEqual([...all, '|']);
    expect(after.log).toEqual([...all, '|']);
    expect(await on.session.closed).toMatchObject({ reason: 'far_side' });
    return on.lifecycle.flatMap((event) => (event.type === 'diagnostic' ? [event] : []));
  }

  it.each<[string, (session: Session) => void]>([
    ['a function', ({ events$ }) => events$.subscribe(bad)],
    ['an asynchronous function', ({ events$ }) => events$.subscribe(badLater as () => void)],
    ['an observer', ({ events$ }) => events$.subscribe({ next: bad })],
    [
      'a subscriber of the host’s own make',
      ({ events$ }) =>
        events$.subscribe(
          new (class extends Subscriber<BidiTurnEvent> {
            override next(): void {
              bad();
            }
          })(),
        ),
    ],
    ['an observer, complete', ({ events$ }) => events$.subscribe({ complete: bad })],
    ['three functions', ({ events$ }) => events$.subscribe(bad, bad, bad)],
    [
      'an observer whose fields throw',
      ({ events$ }) => events$.subscribe(Object.defineProperty({}, 'next', { get: bad })),
    ],
  ])('%s: noted on lifecycle$', async (_, attach) => {
    const diagnostics = await among(attach);
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const diagnostic of diagnostics) {
      expect(diagnostic).toEqual({ type: 'diagnostic', code: 'host_callback_threw', detail: 'bad subscriber' });
    }
  });

  it('an asynchronous `complete` that fails after the end', async () => {
    await among(({ events$ }) => events$.subscribe({ complete: badLater as () => void }));
  });

  it.each(operators)('behind %s', async (_, operator) => {
    await among(({ events$ }) => events$.pipe(operator).subscribe());
    await among(({ events$ }) => events$.pipe(operator).subscribe(() => {}));
    await among(({ events$ }) => events$.pipe(operator).subscribe({ next: bad, error: bad, complete: bad }));
  });

  it('an error of an operator goes to the subscriber that wants it', async () => {
    const errors: unknown[] = [];
    await among(({ events$ }) => events$.pipe(map(bad)).subscribe({ error: (error) => errors.push(error) }));
    expect(errors).toEqual([expect.any(RangeError)]);
  });

  it('a promise that the host asked for rejects to the host alone', async () => {
    const outcomes: Promise<unknown>[] = [];
    await among(({ events$ }) => {
      outcomes.push(
        outcomeOf(firstValueFrom(events$.pipe(map(bad)))),
        outcomeOf(lastValueFrom(events$.pipe(tap(bad)))),
        outcomeOf(events$.forEach(bad)),
      );
    });
    expect(await Promise.all(outcomes)).toEqual(Array(3).fill({ error: expect.any(RangeError) }));
  });

  it('a subject of the host’s own may be the subscriber', async () => {
    const seen: string[] = [];
    const subject = new Subject<BidiTurnEvent>();
    subject.subscribe((event) => seen.push(word(event)));
    await among(({ events$ }) => events$.subscribe(subject));
    expect(seen).toEqual(['a', 'b', 'tool_started', 'tool_completed', 'closed']);
  });

  it('on lifecycle$ a subscriber that always fails is noted once, and there is an end to it', async () => {
    const on = await stage({ tools: [echo] });
    let calls = 0;
    on.session.lifecycle$.subscribe(() => {
      calls++;
      throw new RangeError('bad lifecycle subscriber');
    });
    on.session.lifecycle$.subscribe(async () => {
      calls++;
      throw new RangeError('bad lifecycle subscriber, later');
    });
    on.session.lifecycle$.pipe(map(bad)).subscribe();
    on.session.lifecycle$.pipe(finalize(bad)).subscribe();
    await on.emit(toolCall('c', 'echo'), text('a'), { type: 'closed' });
    const details = on.lifecycle.flatMap((event) => (event.type === 'diagnostic' ? [event.detail] : []));
    expect(details.sort()).toEqual(['bad lifecycle subscriber', 'bad lifecycle subscriber, later', 'bad subscriber']);
    expect(calls).toBeLessThan(40);
    expect(await on.session.closed).toMatchObject({ reason: 'far_side' });
  });
});
