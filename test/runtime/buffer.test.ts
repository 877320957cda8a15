/** The buffer of unread events: its bound, and who never reaches it (duplex page, §3). */
import { describe, expect, it } from 'vitest';
import type { BidiEvent, BidiSession } from '../../src/contract/provider.js';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import { type Session, startSession } from '../../src/runtime/index.js';
import { readSome, text, texts, word } from './reading.js';
import { held, readAll, stage } from './stage.js';

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
