import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { geminiLive } from '../../../src/providers/gemini-live/index.js';
import { call, close, cut, pause, type Reply, say } from '../../../src/testing/loopback/gemini/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { against, live, Reading, server, story, tool } from './live.js';

const tools = [tool('look')];
const model = 'gemini-2.5-flash-live';

function* looks(): Reply {
  yield say('One moment.');
  const [answer] = yield call({ name: 'look', id: 'c1' });
  yield say(`It is ${answer?.response.output}.`);
}

/** A whole round, from the first word to the end of the stream: what came, and what became of the result. */
async function round(prepare: Parameters<typeof server>[0]) {
  const far = await server({ model: looks, ...prepare });
  const clock = new VirtualClock();
  let session: Awaited<ReturnType<ReturnType<typeof geminiLive>['connect']>>;
  try {
    session = await geminiLive(against(far, { clock })).connect({ model, tools });
  } catch (error) {
    return { refused: error, events: [], result: undefined, far, clock };
  }
  const reading = new Reading(session);
  let result: 'resolved' | string | undefined;
  const answering = reading.until('tool_call').then(
    () =>
      session.sendToolResult('c1', 'wet').then(
        () => {
          result = 'resolved';
        },
        (error: { code: string }) => {
          result = error.code;
        },
      ),
    // it never came
    () => {},
  );
  await session.send({ type: 'text', text: 'rain' }).catch(() => {});
  await Promise.race([reading.done, reading.until('turn_complete').catch(() => {})]);
  await reading.done.then(
    () => answering,
    () => {},
  );
  return { refused: undefined, events: reading.events, result, far, clock, session };
}

describe('the connection is cut at every boundary of a frame of a tool round', () => {
  // setupComplete, three frames of speech, three of the handle and the call, then the answer and its end.
  it.each(['end', 'reset'] as const)('by the service (%s): one end, no word after it, nothing pending', async (how) => {
    const boundaries = Array.from({ length: 14 }, (_, n) => n + 1);
    const seen = new Set<string>();
    for (const sent of boundaries) {
      const { refused, events, result, clock } = await round({ connected: (peer) => peer.cutAt({ sent }, how) });
      if (refused !== undefined) {
        expect(refused).toMatchObject({ code: 'connect_failed' });
        seen.add('connect_failed');
        continue;
      }
      expect(events.at(-1)).toMatchObject({ type: 'closed', reason: expect.stringMatching(/close code 1006/) });
      expect(events.filter(({ type }) => type === 'closed')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'turn_complete').length).toBeLessThanOrEqual(1);
      const called = events.some(({ type }) => type === 'tool_call');
      expect(['resolved', 'result_unknown', 'session_ended', undefined]).toContain(result);
      if (called) expect(result).toBeDefined();
      expect(clock.pending).toBe(0);
      seen.add(`${result}`);
    }
    // The boundaries lead through all of them.
    expect(seen).toContain('undefined');
    expect([...seen].some((outcome) => outcome === 'result_unknown' || outcome === 'session_ended')).toBe(true);
  });

  it.each(['end', 'reset'] as const)('after each message of ours (%s)', async (how) => {
    for (const received of [1, 2, 3]) {
      const { refused, events, result, clock } = await round({ connected: (peer) => peer.cutAt({ received }, how) });
      if (received === 1) expect(refused).toMatchObject({ code: 'connect_failed' });
      else expect(events.at(-1)).toMatchObject({ type: 'closed' });
      if (received === 3) expect(result).toBe('result_unknown');
      expect(clock.pending).toBe(0);
    }
  });

  it.each([
    [
      'with a close frame',
      close(1011, 'Internal error occurred.'),
      'closed: Internal error occurred. (close code 1011)',
    ],
    ['cleanly', close(1000), 'closed: close code 1000'],
    ['without one', cut(), 'closed: close code 1006'],
  ])('in the midst of a turn, %s: the reason reaches `closed`', async (_, step, told) => {
    const { session, reading } = await live({
      far: {
        *model() {
          yield say('I was');
          yield step;
        },
      },
    });
    await session.send({ type: 'text', text: 'x' });
    await reading.done;
    expect(story(reading.events)).toEqual(['“I was”', told]);
    await expect(session.send({ type: 'text', text: 'y' })).rejects.toMatchObject({ code: 'session_ended' });
  });
});

describe('an end', () => {
  it('leaves no listener on the signal of the host', async () => {
    const { signal } = new AbortController();
    const { reading, peer } = await live({ connect: { signal } });
    peer.close(1000);
    await reading.done;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('gives a turn_complete that was held back, before `closed`', async () => {
    const { session, reading, clock } = await live({
      far: {
        service: 'vertex',
        *model() {
          yield call({ name: 'look', id: 'c1' });
        },
        connected: (peer) => peer.cutAt({ sent: 6 }),
      },
      driver: { vertex: { project: 'p', location: 'l' }, accessToken: 'ya29.a-token-of-a-test' },
      connect: { tools },
    });
    await session.send({ type: 'text', text: 'x' });
    await reading.done;
    expect(story(reading.events)).toEqual(['c1 look{}', 'turn_complete', 'closed: close code 1006']);
    expect(clock.pending).toBe(0);
  });

  it('that the service begins and never brings to its end is waited for as long as a close', async () => {
    const { session, reading, peer, clock } = await live();
    peer.close(1011, 'Internal error occurred.');
    peer.connection.stall();
    const audio = { type: 'audio', data: 'AAAA', mediaType: 'audio/pcm' } as const;
    let refused: unknown;
    while (refused === undefined) {
      await session.send(audio).catch((error: unknown) => {
        refused = error;
      });
      await quiet();
    }
    expect(refused).toMatchObject({ code: 'session_ended' });
    expect(clock.pending).toBe(1);
    await clock.advance(1000, quiet);
    await reading.done;
    expect(reading.events.at(-1)?.type).toBe('closed');
    expect(clock.pending).toBe(0);
  });
});

describe('going away', () => {
  it('is announced, and then happens', async () => {
    const clock = new VirtualClock();
    const { reading, peer } = await live({ far: { clock } });
    peer.goAway(9500);
    expect(await reading.until('expiring')).toEqual({ type: 'expiring', inMs: 9500 });
    await clock.advance(9500, quiet);
    await reading.done;
    expect(story(reading.events)).toEqual(['expiring in 9500', 'closed: close code 1000']);
  });

  it('a deadline that nobody announced', async () => {
    const { reading, peer } = await live();
    peer.close(1011, 'Deadline expired before operation could complete.');
    await reading.done;
    expect(story(reading.events)).toEqual([
      'closed: Deadline expired before operation could complete. (close code 1011)',
    ]);
  });
});

describe('close', () => {
  it('ends the stream at once, says goodbye, and resolves each time', async () => {
    const { session, reading, peer, clock } = await live();
    await session.send({ type: 'text', text: 'hi' });
    await peer.message('clientContent');
    const both = [session.close(), session.close()];
    await reading.done;
    await Promise.all(both);
    await session.close();
    expect(reading.events).toEqual([]);
    expect(await peer.connection.closed).toEqual({ code: 1000, reason: '' });
    expect(clock.pending).toBe(0);
  });

  it('does not wait for a service that does not answer longer than it may', async () => {
    const { session, peer, clock } = await live({ driver: { closeTimeoutMs: 700 } });
    peer.connection.stall();
    let closed = false;
    const closing = session.close().then(() => {
      closed = true;
    });
    await clock.advance(699, quiet);
    expect(closed).toBe(false);
    await clock.advance(1, quiet);
    await closing;
    expect(clock.pending).toBe(0);
  });

  it('after the far side has closed, it gives nothing more of what waits', async () => {
    const { session, peer, far } = await live();
    const unread = await geminiLive(against(far)).connect({ model });
    const other = far.peer;
    other?.send({ serverContent: { modelTurn: { parts: [{ text: 'unread' }] } } });
    other?.close(1000);
    await other?.connection.closed;
    await unread.close();
    const late = new Reading(unread);
    await late.done;
    expect(late.events).toEqual([]);
    expect(peer.connection.isOpen).toBe(true);
    await session.close();
  });
});

describe('what is too much', () => {
  it('a frame beyond the bound ends the session', async () => {
    const { reading, peer } = await live({ driver: { maxFrameBytes: 10_000 } });
    peer.send({ serverContent: { modelTurn: { parts: [{ text: 'x'.repeat(20_000) }] } } });
    await reading.done;
    expect(reading.events).toHaveLength(1);
    expect(reading.events[0]).toMatchObject({ type: 'closed', reason: expect.stringContaining('close code 1') });
    await peer.connection.closed;
  });

  it('an input beyond the bound is refused, and the session goes on', async () => {
    const { session, reading } = await live({ driver: { maxFrameBytes: 10_000 } });
    const long = { type: 'text', text: 'é'.repeat(9000) } as const;
    await expect(session.send(long)).rejects.toMatchObject({ code: 'invalid_input' });
    await session.send({ type: 'text', text: 'hi' });
    await reading.until('turn_complete');
  });

  it('events that nobody reads end the session, with an error and the end as the last of them', async () => {
    const far = await server();
    const session = await geminiLive(against(far, { maxUnreadEvents: 10 })).connect({ model });
    for (let n = 0; n < 30; n++) far.peer?.send({ serverContent: { modelTurn: { parts: [{ text: `${n}` }] } } });
    await far.peer?.connection.closed;
    const reading = new Reading(session);
    await reading.done;
    expect(reading.events).toHaveLength(12);
    expect(story(reading.events)).toEqual([
      '“0123456789”',
      'error: more events wait unread than may',
      'closed: more events wait unread than may',
    ]);
  });

  it('input that the connection does not take is refused, and what the far side says is heard all the same', async () => {
    const { session, reading, peer } = await live();
    peer.connection.pause();
    const data = Buffer.alloc(3_000_000).toString('base64');
    const audio = { type: 'audio', data, mediaType: 'audio/pcm;rate=16000' } as const;
    let error: unknown;
    for (let n = 0; n < 20 && error === undefined; n++) {
      await session.send(audio).catch((refused: unknown) => {
        error = refused;
      });
    }
    expect(error).toMatchObject({ code: 'socket_full', limit: 4 * 1024 * 1024 });
    peer.send({ serverContent: { modelTurn: { parts: [{ text: 'Still here.' }] } } });
    await reading.until('text');
    peer.connection.resume();
    let sent = false;
    while (!sent) {
      await session.send({ type: 'text', text: 'hi' }).then(
        () => {
          sent = true;
        },
        () => quiet(),
      );
    }
    await peer.message('clientContent');
  });

  it('a reader that leaves may come back: nothing is lost', async () => {
    const { session, peer } = await live();
    void peer;
    await session.close();
    const far = await server({
      *model() {
        yield say('one two');
        yield pause(10);
      },
    });
    const another = await geminiLive(against(far)).connect({ model });
    await another.send({ type: 'text', text: 'x' });
    const first: string[] = [];
    for await (const event of another.events()) {
      first.push(event.type);
      break;
    }
    for await (const event of another.events()) {
      first.push(event.type);
      if (first.length === 4) break;
    }
    expect(first).toEqual(['text', 'audio', 'text', 'audio']);
    await another.close();
  });
});
