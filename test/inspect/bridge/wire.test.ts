/** The bridge speaks the words of the stock inspector: to its own receiver over a real socket, and message by message. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createActor, createMachine, fromPromise, type InspectionEvent } from 'xstate';
import { createConversation } from '../../../src/index.js';
import { createInspectionBridge, type InspectionMessage } from '../../../src/inspect/index.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { actions, add, begin, commit, done, init, said, task } from '../../conversation/events.js';
import { quiet, stage, toolCall, watchProcess } from '../../runtime/stage.js';
import {
  actorNamed,
  eventsOf,
  HandSocket,
  namesOf,
  ofType,
  page,
  slow,
  statesOf,
  stockInspector,
  stockReceiver,
} from './page.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

describe('over a real socket, the stock receiver', () => {
  it('is shown sessions, calls, a conversation and its transaction, with parents, events and states', async () => {
    const receiver = await stockReceiver();
    try {
      const { tools, finish } = slow();
      const first = await stage({ tools, sessionId: 'ses_first' });
      await first.emit(toolCall('call_1', 'slow'));
      const bridge = createInspectionBridge({ socket: receiver.socket(), batchMs: 1 });
      const conversation = createConversation();
      const second = await stage({ tools, sessionId: 'ses_second' });
      for (const target of [first.session, second.session, conversation]) bridge.watch(target);

      await second.emit(toolCall('call_2', 'slow'));
      finish('call_2', 'secret output');
      finish('call_1');
      await quiet();
      conversation.apply(init());
      conversation.apply(actions(task('t'), begin, add('t', said('m', 'a')), commit));
      conversation.apply(done);
      await first.session.close();
      await second.emit({ type: 'closed' });
      const ended = (messages: readonly InspectionMessage[]) =>
        ofType(messages, '@xstate.snapshot').filter(({ snapshot }) => snapshot.value === 'closed').length === 2;
      await receiver.until(ended);
      bridge.close();

      const { received } = receiver;
      const [one, two] = [actorNamed(received, 'ses_first'), actorNamed(received, 'ses_second')];
      for (const [call, session] of [
        [actorNamed(received, 'call_1'), one],
        [actorNamed(received, 'call_2'), two],
      ] as const) {
        expect(call).toMatchObject({ parentId: session.sessionId, rootId: session.sessionId });
        expect(JSON.parse(call.definition)).toMatchObject({ id: 'tool-invocation', states: { executing: {} } });
      }
      expect(one.snapshot).toMatchObject({ status: 'active', value: { open: 'responding' } });
      expect(actorNamed(received, 'call_1').snapshot.value).toBe('executing');
      expect(statesOf(received, actorNamed(received, 'call_1').sessionId)).toEqual(['publishing', 'completed']);
      expect(eventsOf(received, actorNamed(received, 'call_2').sessionId)).toEqual(
        'xstate.init input_accepted placed code_resolved publish_accepted'.split(' '),
      );
      expect(statesOf(received, two.sessionId)).toEqual([{ open: 'responding' }, 'closed']);
      expect(statesOf(received, one.sessionId).slice(-2)).toEqual(['closing', 'closed']);

      const root = actorNamed(received, 'conversation');
      const transaction = actorNamed(received, 'transaction-1');
      expect(transaction).toMatchObject({ parentId: root.sessionId, rootId: root.sessionId });
      expect(statesOf(received, transaction.sessionId)).toEqual([{ open: 'sound' }, 'committed']);
      expect(statesOf(received, root.sessionId).at(-1)).toBe('finished');

      // each actor before whatever happens to it, and its parent before it
      const known = new Set<string | undefined>([undefined]);
      for (const message of received) {
        if (message.type === '@xstate.actor') {
          expect(known).toContain(message.parentId);
          known.add(message.sessionId);
        } else expect(known).toContain(message.sessionId);
      }
      expect(JSON.stringify(received)).not.toContain('secret output');
      expect(bridge.counts).toEqual({ queued: 0, queuedBytes: 0, sent: received.length, dropped: 0, failed: 0 });
    } finally {
      await receiver.stop();
    }
  });
});

/** Without the time, and without the snapshot of an actor that begins: the stock inspector reads it later than it was. */
function comparable(messages: readonly InspectionMessage[]): unknown[] {
  return messages.map((message) => {
    const { createdAt, ...rest } = message;
    expect(createdAt).toMatch(/^\d+$/);
    return rest.type === '@xstate.actor'
      ? { ...rest, snapshot: undefined, definition: JSON.parse(rest.definition) }
      : rest;
  });
}

/** Both look on; what the bridge sent and what the stock inspector sent. */
function both() {
  const stock = stockInspector();
  const seen = page();
  const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
  return {
    inspect: (event: InspectionEvent) => {
      (stock.inspect as { next(event: InspectionEvent): void }).next(event);
      bridge.observer(event);
    },
    async sent() {
      const theirs = await stock.received();
      bridge.flush();
      return { ours: comparable(seen.messages), theirs: comparable(theirs) };
    },
  };
}

describe('the messages are those of the stock inspector', () => {
  it('of a session with calls', async () => {
    const { inspect, sent } = both();
    const { tools, finish } = slow();
    const { session, emit } = await stage({ inspect, tools });
    await emit({ type: 'text', text: 'hi' }, toolCall('call_1', 'slow'), toolCall('call_2', 'slow'));
    finish('call_1');
    await quiet();
    await emit({ type: 'interrupted' }, toolCall('call_3', 'unknown tool'), { type: 'turn_complete' });
    await session.close();
    const { ours, theirs } = await sent();
    expect(ours.length).toBeGreaterThan(40);
    expect(ours).toEqual(theirs);
  });

  it('of a conversation with transactions', async () => {
    const { inspect, sent } = both();
    const conversation = createConversation({ inspect });
    conversation.apply(init());
    conversation.apply(actions(task('t'), begin, add('t', said('m', 'a')), commit, begin));
    conversation.apply(done);
    const { ours, theirs } = await sent();
    expect(ours.length).toBeGreaterThan(15);
    expect(ours).toEqual(theirs);
  });

  it('of actors of XState’s own, with children, contexts and outputs', async () => {
    const { inspect, sent } = both();
    const machine = createMachine({
      id: 'parent',
      context: { list: [1, { deep: null }], text: 'a' },
      initial: 'one',
      invoke: { id: 'work', src: fromPromise(() => Promise.resolve({ found: 1 })) },
      states: { one: { on: { go: 'two' } }, two: { type: 'final', output: { ended: true } } },
      output: { all: 'done' },
    });
    const actor = createActor(machine, { inspect });
    actor.start();
    await quiet();
    actor.send({ type: 'go', payload: ['x'] } as never);
    const { ours, theirs } = await sent();
    expect(ours.length).toBeGreaterThan(8);
    expect(ours).toEqual(theirs);
  });
});

describe('an actor', () => {
  it('is shown as it stands when it is told of, not as it stands later', async () => {
    const seen = page();
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
    const { tools } = slow();
    const { emit } = await stage({ inspect: bridge.observer, tools });
    await emit(toolCall('call_1', 'slow'));
    bridge.flush();
    expect(actorNamed(seen.messages, 'call_1').snapshot).toMatchObject({ status: 'active', value: 'admitted' });
    const session = ofType(seen.messages, '@xstate.actor')[0];
    expect(session?.snapshot.value).toBe('connecting');
  });

  it('of another kind than ours is shown without a state until it has one', () => {
    const seen = page();
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
    createActor(createMachine({ id: 'plain' }), { inspect: bridge.observer }).start();
    bridge.flush();
    expect(actorNamed(seen.messages, 'plain').snapshot).toEqual({ status: 'active' });
  });

  it('of XState’s own can be watched by its system', () => {
    const seen = page();
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
    const actor = createActor(createMachine({ id: 'plain', on: { tick: {} } })).start();
    const detach = bridge.watch(actor.system);
    actor.send({ type: 'tick' });
    detach();
    actor.send({ type: 'tick' });
    bridge.flush();
    expect(eventsOf(seen.messages, actor.sessionId)).toEqual(['tick']);
  });
});

describe('what is watched', () => {
  it('is announced, parents first, to each socket that is connected; between sockets nobody looks on', async () => {
    const { tools } = slow();
    const { session, emit } = await stage({ tools });
    const conversation = createConversation();
    conversation.apply(init());
    conversation.apply(actions(begin));
    await emit(toolCall('call_1', 'slow'));
    const bridge = createInspectionBridge({ clock: new VirtualClock() });
    bridge.watch(session);
    bridge.watch(conversation);
    expect(isInspected(session)).toBe(false);

    const names = [session.sessionId, 'call_1', 'conversation', 'transaction-1'];
    const first = new HandSocket();
    bridge.connect(first);
    bridge.flush();
    expect(namesOf(first.messages)).toEqual(names);
    expect(isInspected(session)).toBe(true);

    await emit({ type: 'text', text: 'a' });
    first.turns('close', 3);
    expect(isInspected(session)).toBe(false);
    expect(isInspected(conversation)).toBe(false);
    await emit({ type: 'turn_complete' });
    expect(first.texts).toHaveLength(4);
    expect(bridge.counts).toMatchObject({ queued: 0, dropped: 2 });

    const second = new HandSocket();
    bridge.connect(second);
    await emit({ type: 'text', text: 'a' });
    bridge.flush();
    expect(namesOf(second.messages)).toEqual(names);
    const ofSession = actorNamed(second.messages, session.sessionId);
    expect(ofSession.snapshot.value).toEqual({ open: 'waiting' });
    expect(eventsOf(second.messages, ofSession.sessionId)).toEqual(['text']);

    // one after the other without a pause: who was first hears no more, and its end changes nothing
    const third = new HandSocket();
    bridge.connect(third);
    second.turns('close', 3);
    bridge.flush();
    expect(namesOf(third.messages)).toEqual(names);
    bridge.close();
    bridge.close();
    expect(isInspected(session)).toBe(false);
  });

  it('does not hear of the end of a socket that was closing when it was connected', async () => {
    const { session } = await stage();
    const bridge = createInspectionBridge({ clock: new VirtualClock() });
    bridge.watch(session);
    const [closing, socket] = [new HandSocket(), new HandSocket()];
    closing.readyState = 2;
    bridge.connect(closing);
    expect(isInspected(session)).toBe(false);
    bridge.connect(socket);
    closing.turns('close', 3);
    bridge.flush();
    expect(namesOf(socket.messages)).toEqual([session.sessionId]);
    expect(isInspected(session)).toBe(true);
  });

  it('waits for a socket that connects, with what happened meanwhile', async () => {
    const clock = new VirtualClock();
    const socket = new HandSocket();
    socket.readyState = 0;
    const bridge = createInspectionBridge({ socket, clock });
    const { session, emit } = await stage();
    bridge.watch(session);
    await emit({ type: 'text', text: 'a' });
    await clock.advance(1_000, quiet);
    expect(socket.texts).toEqual([]);
    socket.turns('open', 1);
    await clock.advance(0, quiet);
    expect(socket.messages.map(({ type }) => type)).toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
  });

  it('alone pays: of many sessions the others have no inspector, before, meanwhile and after', async () => {
    const stages = await Promise.all(Array.from({ length: 50 }, () => stage()));
    const sessions = stages.map(({ session }) => session);
    expect(sessions.filter(isInspected)).toEqual([]);
    const bridge = createInspectionBridge({ send: () => {}, clock: new VirtualClock() });
    const detach = bridge.watch(sessions[7] as (typeof sessions)[0]);
    expect(sessions.filter(isInspected)).toEqual([sessions[7]]);
    detach();
    detach();
    expect(sessions.filter(isInspected)).toEqual([]);
  });

  it('through two ways at once is told of once', async () => {
    const seen = page();
    const bridge = createInspectionBridge({ send: seen.send, clock: new VirtualClock() });
    const { session, emit } = await stage({ inspect: bridge.observer });
    session.inspect(() => {});
    bridge.watch(session);
    bridge.flush();
    const before = seen.texts.length;
    await emit({ type: 'text', text: 'a' });
    bridge.flush();
    expect(seen.messages.slice(before).map(({ type }) => type)).toEqual(['@xstate.event', '@xstate.snapshot']);
  });
});

describe('batches', () => {
  it('gather for `batchMs`, and then leave in turns of `batchSize`, none of them within a step', async () => {
    const clock = new VirtualClock();
    const socket = new HandSocket();
    const bridge = createInspectionBridge({ socket, clock, batchMs: 20, batchSize: 4 });
    const { session, emit } = await stage();
    bridge.watch(session);
    const events = Array.from({ length: 5 }, () => ({ type: 'text', text: 'a' }) as const);
    await emit(...events);
    expect(socket.texts).toHaveLength(0);
    await clock.advance(19, quiet);
    expect(socket.texts).toHaveLength(0);
    const turns: number[] = [];
    await clock.advance(1, async () => {
      turns.push(socket.texts.length);
    });
    expect(turns).toEqual([4, 8, 11]);
    expect(clock.pending).toBe(0);
  });
});

function isInspected({ actor }: { actor: unknown }): boolean {
  return (actor as { system: { isInspected: boolean } }).system.isInspected;
}
