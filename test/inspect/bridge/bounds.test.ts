/** However slow, broken or large what is around the bridge: what it holds is bounded, and what it dropped is told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InspectionEvent } from 'xstate';
import { createInspectionBridge, type InspectionMessage } from '../../../src/inspect/index.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { property } from '../../properties/property.js';
import { quiet, stage, toolCall } from '../../runtime/stage.js';
import { actorNamed, HandSocket, namesOf, ofType, page, slow } from './page.js';

const droppedIn = (messages: readonly InspectionMessage[]) =>
  ofType(messages, '@xstate.event').flatMap(({ event }) =>
    event.type === 'commitpoint.dropped' ? [event.messages as number] : [],
  );

describe('a socket that does not drain', () => {
  it('costs a bounded queue: the oldest go, actors last; the page is told how many, then of what lives', async () => {
    const clock = new VirtualClock();
    const socket = new HandSocket();
    const bridge = createInspectionBridge({ socket, clock, maxQueued: 20, batchMs: 10 });
    const { tools } = slow();
    const { session, emit } = await stage({ tools });
    bridge.watch(session);
    socket.bufferedAmount = 2 ** 30;
    for (let nth = 0; nth < 500; nth++) {
      await emit({ type: 'text', text: 'a' });
      expect(bridge.counts.queued).toBeLessThanOrEqual(20);
    }
    await emit(toolCall('call_1', 'slow'));
    await clock.advance(10_000, quiet);
    expect(socket.texts).toEqual([]);
    const { dropped } = bridge.counts;
    expect(dropped).toBeGreaterThan(900);

    socket.bufferedAmount = 0;
    await clock.advance(1_000, quiet);
    const { messages } = socket;
    expect(droppedIn(messages)).toEqual([dropped]);
    // both at their begin, and once more behind all that was kept
    expect(namesOf(messages)).toEqual([session.sessionId, 'call_1', session.sessionId, 'call_1']);
    expect(ofType(messages.slice(-1), '@xstate.actor')[0]?.snapshot.value).toBe('executing');
    expect(bridge.counts).toMatchObject({ queued: 0, queuedBytes: 0, dropped, failed: 0 });
    expect(bridge.counts.sent).toBe(messages.length);
    expect(clock.pending).toBe(0);

    // told once: what follows is as before
    await emit({ type: 'text', text: 'a' });
    await clock.advance(1_000, quiet);
    expect(socket.messages.slice(messages.length).map(({ type }) => type)).toEqual([
      '@xstate.event',
      '@xstate.snapshot',
    ]);
  });

  it('by its own `bufferedAmount`, is sent no more than `maxBytes` and one message', async () => {
    const clock = new VirtualClock();
    const socket = new HandSocket();
    socket.stalls = true;
    const bridge = createInspectionBridge({ socket, clock, maxBytes: 10_000 });
    const { session, emit } = await stage();
    bridge.watch(session);
    for (let nth = 0; nth < 200; nth++) await emit({ type: 'text', text: 'a' });
    await clock.advance(10_000, quiet);
    expect(socket.bufferedAmount).toBeGreaterThan(1_000);
    expect(socket.bufferedAmount).toBeLessThan(20_000);
    expect(bridge.counts.queuedBytes).toBeLessThanOrEqual(10_000);
  });

  it('with more that lives than may wait: the announcement is not repeated for ever', async () => {
    const clock = new VirtualClock();
    const socket = new HandSocket();
    const bridge = createInspectionBridge({ socket, clock, maxQueued: 3, batchMs: 1 });
    const { tools } = slow();
    const { session, emit } = await stage({ tools });
    await emit(...Array.from({ length: 8 }, (_, nth) => toolCall(`call_${nth}`, 'slow')));
    bridge.watch(session);
    await clock.advance(10_000, quiet);
    expect(clock.pending).toBe(0);
    expect(droppedIn(socket.messages).reduce((sum, count) => sum + count, 0)).toBe(bridge.counts.dropped);
    expect(socket.texts.length).toBeLessThan(30);
  });
});

describe('what waits', () => {
  const message = fc.record({
    isActor: fc.boolean(),
    size: fc.integer({ min: 0, max: 300 }),
    drains: fc.boolean(),
  });
  property(
    'stays within both bounds, keeps its order, and every message is sent or counted as dropped',
    fc.record({
      maxQueued: fc.integer({ min: 1, max: 8 }),
      maxBytes: fc.integer({ min: 1_000, max: 6_000 }),
      messages: fc.array(message, { maxLength: 60 }),
    }),
    ({ maxQueued, maxBytes, messages }) => {
      const socket = new HandSocket();
      const bridge = createInspectionBridge({ socket, clock: new VirtualClock(), maxQueued, maxBytes });
      let nth = 0;
      for (const { isActor, size, drains } of messages) {
        socket.bufferedAmount = drains ? 0 : 2 ** 31;
        bridge.observer(inspected(nth++, isActor, size));
        const { queued, queuedBytes } = bridge.counts;
        expect(queued).toBeLessThanOrEqual(maxQueued);
        expect(queuedBytes).toBeLessThanOrEqual(maxBytes);
        bridge.flush();
      }
      socket.bufferedAmount = 0;
      bridge.flush();
      const told = droppedIn(socket.messages);
      const order = socket.messages.filter((sent) => !('event' in sent && sent.event.type === 'commitpoint.dropped'));
      const places = order.map(({ sessionId }) => Number(sessionId));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(bridge.counts).toMatchObject({ queued: 0, queuedBytes: 0, failed: 0 });
      expect(places.length + bridge.counts.dropped).toBe(nth);
      expect(told.reduce((sum, count) => sum + count, 0)).toBe(bridge.counts.dropped);
    },
  );
});

/** As an actor would cause it. `sessionId`: its number. */
function inspected(nth: number, isActor: boolean, size: number): InspectionEvent {
  const actorRef = {
    sessionId: `${nth}`,
    id: `actor ${nth}`,
    getSnapshot: () => ({ status: 'active', context: 'x'.repeat(size) }),
  };
  const event = isActor
    ? { type: '@xstate.actor', actorRef, rootId: '0' }
    : {
        type: '@xstate.event',
        actorRef,
        sourceRef: undefined,
        event: { type: 'e', text: 'x'.repeat(size) },
        rootId: '0',
      };
  return event as unknown as InspectionEvent;
}

describe('a message', () => {
  const told = (values: { context?: unknown; event?: object }, options: object = {}) => {
    const seen = page();
    const bridge = createInspectionBridge({ ...options, send: seen.send, clock: new VirtualClock() });
    const actorRef = { sessionId: 'x:0', id: 'a', getSnapshot: () => undefined };
    const snapshot = { status: 'active', value: 'here', context: values.context };
    const event = { type: 'e', ...values.event };
    bridge.observer({
      type: '@xstate.snapshot',
      actorRef,
      rootId: 'x:0',
      snapshot,
      event,
    } as unknown as InspectionEvent);
    bridge.flush();
    return { text: seen.texts[0] ?? '', message: seen.messages[0], counts: bridge.counts };
  };

  it('of large values is cut to its bound and marked, and keeps the state', () => {
    const context = {
      text: 'x'.repeat(1_000_000),
      list: Array.from({ length: 100_000 }, (_, nth) => nth),
      fields: Object.fromEntries(Array.from({ length: 10_000 }, (_, nth) => [`field ${nth}`, nth])),
    };
    for (const value of Object.values(context)) {
      const { text, message } = told({ context: value, event: { more: value } }, { maxMessageBytes: 4_000 });
      expect(text.length).toBeLessThan(4_000);
      expect(text).toContain('…');
      expect(message).toMatchObject({ event: { type: 'e' }, snapshot: { status: 'active', value: 'here' } });
    }
  });

  it('of values that JSON cannot say, says what it can', () => {
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const context = {
      map: new Map([['key', new Set([1])]]),
      large: 2n ** 70n,
      bytes: new Uint8Array(3),
      error: new TypeError('wrong'),
      date: new Date(0),
      code: function named() {},
      nothing: undefined,
      symbol: Symbol('s'),
      cyclic,
    };
    expect(told({ context }).message).toMatchObject({
      snapshot: {
        context: {
          map: [['key', [1]]],
          large: '1180591620717411303424',
          bytes: '[3 bytes]',
          error: { name: 'TypeError', message: 'wrong' },
          date: '1970-01-01T00:00:00.000Z',
          code: { type: 'named' },
          cyclic: { self: '[Circular]' },
        },
      },
    });
  });

  it('keeps a key that objects have a meaning of their own for', () => {
    const context = JSON.parse('{ "__proto__": { "found": 1 } }');
    expect(told({ context }).text).toContain('"context":{"__proto__":{"found":1}}');
  });

  it('of something that throws when it is read says so in its place, and keeps the state', () => {
    const hostile = {
      get secret(): never {
        throw new TypeError('not for you');
      },
    };
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    for (const context of [hostile, revoked.proxy, { toJSON: () => hostile.secret }]) {
      const { message, counts } = told({ context, event: { context } });
      expect(message).toMatchObject({
        event: { type: 'e' },
        snapshot: { value: 'here', context: expect.stringContaining('not shown') },
      });
      expect(counts).toMatchObject({ failed: 0, queued: 0 });
    }
  });

  it('of an actor that throws when it is read is left out, and counted', () => {
    const seen = page();
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
    bridge.observer({
      type: '@xstate.event',
      get actorRef(): never {
        throw new TypeError('not for you');
      },
    } as never);
    bridge.flush();
    expect(seen.texts).toEqual([]);
    expect(bridge.counts).toMatchObject({ failed: 1, queued: 0 });
  });

  property(
    'of any value is JSON, within the bound',
    fc.anything({
      withBigInt: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withDate: true,
    }),
    (context) => {
      const { text, counts } = told({ context }, { maxMessageBytes: 2_000 });
      expect(counts.failed).toBe(0);
      expect(text.length).toBeLessThan(4_000);
      JSON.parse(text);
    },
  );

  it('a definition is written once for all actors of a machine', () => {
    let reads = 0;
    const config = {
      id: 'm',
      get states() {
        reads++;
        return { one: {} };
      },
    };
    const seen = page();
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
    for (const sessionId of ['x:1', 'x:2', 'x:3']) {
      const actorRef = { sessionId, id: sessionId, logic: { config }, getSnapshot: () => undefined };
      bridge.observer({ type: '@xstate.actor', actorRef, rootId: 'x:1' } as unknown as InspectionEvent);
    }
    bridge.flush();
    expect(reads).toBe(1);
    const definitions = ofType(seen.messages, '@xstate.actor').map(({ definition }) => JSON.parse(definition));
    expect(definitions).toEqual(Array(3).fill({ id: 'm', states: { one: {} } }));
  });
});

it('a call that the far side gave a long id has a name that is cut', async () => {
  const texts: string[] = [];
  const { tools } = slow();
  const { session, emit } = await stage({ tools });
  const bridge = createInspectionBridge({ clock: new VirtualClock(), send: (text) => texts.push(text) });
  bridge.watch(session);
  await emit(toolCall('i'.repeat(1_000_000), 'slow'));
  bridge.flush();
  const messages = texts.map((text) => JSON.parse(text) as InspectionMessage);
  const [, call] = ofType(messages, '@xstate.actor');
  expect(call?.name).toMatch(/^i{900,1000}…$/);
  for (const text of texts) expect(text.length).toBeLessThan(2 * 64 * 1024);
  bridge.close();
  await session.close();
});

it('what a flush itself leads to leaves with the next batch: a flush comes to its end', async () => {
  const { session } = await stage();
  const clock = new VirtualClock();
  let sent = 0;
  const bridge = createInspectionBridge({
    clock,
    send: () => {
      sent++;
      if (sent > 10_000) throw new RangeError('it does not end');
      bridge.observer({ ...(seen as InspectionEvent) });
    },
  });
  let seen: InspectionEvent | undefined;
  session.inspect((event) => {
    seen ??= event;
  });
  bridge.observer({ ...(seen as unknown as InspectionEvent) });
  bridge.flush();
  expect(sent).toBeLessThan(10);
  bridge.close();
  expect([sent < 10, bridge.counts.failed, clock.pending]).toEqual([true, 0, 0]);
  await session.close();
});

describe('redaction', () => {
  const secret = 'a secret';
  it('comes before all contents, and before the bound: what it does not give is nowhere', async () => {
    const asked = new Set<string>();
    const seen = page();
    const bridge = createInspectionBridge({
      send: seen.send,
      clock: new VirtualClock(),
      redact: (value, { part, actorId }) => {
        asked.add(`${actorId}: ${part}`);
        return part === 'event' ? { type: (value as { type: string }).type } : '•';
      },
    });
    const actorRef = {
      sessionId: 'x:0',
      id: 'a',
      getSnapshot: () => ({ status: 'done', context: secret, output: secret }),
    };
    const snapshot = {
      status: 'error',
      value: 'here',
      context: { secret },
      error: secret,
      input: secret,
      other: secret,
      _own: secret,
    };
    const event = { type: 'e', secret };
    for (const more of [
      { type: '@xstate.actor' },
      { type: '@xstate.event', event },
      { type: '@xstate.snapshot', event, snapshot },
    ]) {
      bridge.observer({ ...more, actorRef, rootId: 'x:0' } as unknown as InspectionEvent);
    }
    bridge.flush();
    expect(seen.texts).toHaveLength(3);
    expect(seen.texts.join()).not.toContain(secret);
    expect([...asked].sort()).toEqual('context error event input other output'.split(' ').map((part) => `a: ${part}`));
    expect(seen.messages[2]).toMatchObject({
      snapshot: { value: 'here', context: '•', other: '•' },
      event: { type: 'e' },
    });
  });

  it('that throws shows nothing but the type of an event', () => {
    const seen = page();
    const redact = () => {
      throw new TypeError(secret);
    };
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock(), redact });
    const actorRef = { sessionId: 'x:0', id: 'a', getSnapshot: () => undefined };
    const snapshot = { status: 'active', value: 'here', context: secret };
    bridge.observer({
      type: '@xstate.snapshot',
      actorRef,
      rootId: 'x:0',
      snapshot,
      event: { type: 'e', secret },
    } as never);
    bridge.flush();
    expect(seen.messages[0]).toMatchObject({
      event: { type: 'e' },
      snapshot: { value: 'here', context: expect.stringContaining('not shown') },
    });
    expect(seen.texts.join()).not.toContain(secret);
  });

  it('may name an event otherwise', () => {
    const seen = page();
    const bridge = createInspectionBridge({
      send: seen.send,
      clock: new VirtualClock(),
      redact: () => ({ type: 'event' }),
    });
    const actorRef = { sessionId: 'x:0', id: 'a' };
    bridge.observer({ type: '@xstate.event', actorRef, rootId: 'x:0', event: { type: secret } } as never);
    bridge.flush();
    expect(seen.messages[0]).toMatchObject({ event: { type: 'event' } });
  });
});

it('an actor of a session is shown with what its machine holds, and no more', async () => {
  const seen = page();
  const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
  const { session, emit } = await stage({ inspect: bridge.observer });
  await emit({ type: 'text', text: 'a secret' });
  bridge.flush();
  expect(seen.texts.join()).not.toContain('a secret');
  expect(actorNamed(seen.messages, session.sessionId).snapshot).toMatchObject({
    context: { reason: 'none', connection: 'pending' },
  });
});
