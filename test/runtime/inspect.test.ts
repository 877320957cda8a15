/** Stock inspectors of XState look at sessions and calls: from the start, later, and over a socket. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  createInspector,
  createWebSocketInspector,
  createWebSocketReceiver,
  type StatelyInspectionEvent,
} from '@statelyai/inspect';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { defineTool } from '../../src/runtime/index.js';
import { type Held, held, quiet, stage, toolCall, watchProcess } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** A stock inspector that hands over what it would send to its page. */
function inspector() {
  const sent: StatelyInspectionEvent[] = [];
  const { inspect } = createInspector({ send: (event) => sent.push(event), start: () => {}, stop: () => {} });
  return {
    inspect,
    sent,
    /** What was sent so far; it puts each event off with a timer, so one that is set now comes after them. */
    async received(): Promise<StatelyInspectionEvent[]> {
      await quiet();
      await new Promise((resolve) => setTimeout(resolve, 1));
      return sent;
    },
  };
}

type Sent<Type extends StatelyInspectionEvent['type']> = Extract<StatelyInspectionEvent, { type: Type }>;
const ofType = <Type extends StatelyInspectionEvent['type']>(events: StatelyInspectionEvent[], type: Type) =>
  events.filter((event): event is Sent<Type> => event.type === type);

const actorNamed = (events: StatelyInspectionEvent[], name: string): Sent<'@xstate.actor'> => {
  const found = ofType(events, '@xstate.actor').filter((event) => event.name === name);
  expect(found).toHaveLength(1);
  return found[0] as Sent<'@xstate.actor'>;
};
const eventsOf = (events: StatelyInspectionEvent[], sessionId: string) =>
  ofType(events, '@xstate.event')
    .filter((event) => event.sessionId === sessionId)
    .map(({ event }) => event.type);
const statesOf = (events: StatelyInspectionEvent[], sessionId: string) =>
  ofType(events, '@xstate.snapshot')
    .filter((event) => event.sessionId === sessionId)
    .map(({ snapshot }) => (snapshot as unknown as { value: unknown }).value);

/** A tool whose code the test settles. */
function slow() {
  const code = new Map<string, Held<string>>();
  const tool = defineTool({
    name: 'slow',
    description: '',
    input: {},
    execute: (_, { toolUseId }) => {
      const own = held<string>();
      code.set(toolUseId, own);
      return own.promise;
    },
  });
  return { tools: [tool], finish: (id: string, value = '') => code.get(id)?.resolve(value) };
}

describe('the inspect option', () => {
  it('shows the session and its calls: names, parents, definitions, events, states', async () => {
    const { inspect, received } = inspector();
    const { tools, finish } = slow();
    const { session, emit } = await stage({ inspect, tools });
    await emit({ type: 'text', text: 'hi' }, toolCall('call_1', 'slow'), toolCall('call_2', 'slow'));
    finish('call_1');
    await quiet();
    await emit({ type: 'interrupted' });
    await session.close();
    const events = await received();

    const root = actorNamed(events, session.sessionId);
    expect(root.parentId).toBeUndefined();
    expect(root.rootId).toBe(root.sessionId);
    expect(JSON.parse(root.definition as string)).toMatchObject({
      id: 'session',
      initial: 'connecting',
      states: { connecting: {}, open: { states: { waiting: {}, responding: {} } }, closing: {}, closed: {} },
    });
    const [first, second] = ['call_1', 'call_2'].map((name) => actorNamed(events, name)) as [
      Sent<'@xstate.actor'>,
      Sent<'@xstate.actor'>,
    ];
    for (const call of [first, second]) {
      expect(call.parentId).toBe(root.sessionId);
      expect(call.rootId).toBe(root.sessionId);
      expect(JSON.parse(call.definition as string)).toMatchObject({
        id: 'tool-invocation',
        initial: 'admitted',
        states: { executing: {}, publishing: {}, abandoned: { states: { draining: {}, settled: {} } } },
      });
    }
    expect(new Set([root.sessionId, first.sessionId, second.sessionId]).size).toBe(3);
    expect(ofType(events, '@xstate.actor')).toHaveLength(3);

    expect(eventsOf(events, root.sessionId)).toEqual(
      'xstate.init connected text tool_call tool_call interrupted host_close close_settled'.split(' '),
    );
    expect(statesOf(events, root.sessionId)).toEqual([
      'connecting',
      { open: 'waiting' },
      ...Array(3).fill({ open: 'responding' }),
      { open: 'waiting' },
      'closing',
      'closed',
    ]);
    expect(eventsOf(events, first.sessionId)).toEqual(
      'xstate.init input_accepted placed code_resolved publish_accepted'.split(' '),
    );
    expect(statesOf(events, first.sessionId)).toEqual('admitted queued executing publishing completed'.split(' '));
    // interrupted, then told of the end of the session, for its code that still runs
    const draining = { abandoned: 'draining' };
    expect(statesOf(events, second.sessionId).slice(-3)).toEqual(['executing', draining, draining]);
    // an actor is told of before anything happens to it
    for (const { sessionId } of [root, first, second]) {
      const own = events.filter((event) => event.sessionId === sessionId);
      expect(own[0]?.type).toBe('@xstate.actor');
    }
  });

  it('shows one session, not its neighbours', async () => {
    const { inspect, received } = inspector();
    const watched = await stage({ inspect });
    const other = await stage();
    await other.emit({ type: 'text', text: 'a' });
    await watched.emit({ type: 'text', text: 'a' });
    const events = await received();
    expect(ofType(events, '@xstate.actor').map(({ name }) => name)).toEqual([watched.session.sessionId]);
  });

  it('the same inspector may look at several sessions', async () => {
    const { inspect, received } = inspector();
    const { tools } = slow();
    const stages = [await stage({ inspect, tools }), await stage({ inspect, tools })];
    for (const { emit } of stages) await emit(toolCall('same id', 'slow'));
    const actors = ofType(await received(), '@xstate.actor');
    expect(actors.map(({ name }) => name).sort()).toEqual(
      [...stages.map(({ session }) => session.sessionId), 'same id', 'same id'].sort(),
    );
    expect(new Set(actors.map(({ sessionId }) => sessionId)).size).toBe(4);
    for (const call of actors.filter(({ name }) => name === 'same id')) {
      expect(call.parentId).toBe(call.rootId);
    }
  });
});

describe('session.inspect', () => {
  it('announces what lives, parents first, then attaches; what it gives detaches', async () => {
    const { tools, finish } = slow();
    const { session, emit } = await stage({ tools });
    await emit(toolCall('ended', 'slow'), toolCall('drains', 'slow'), { type: 'text', text: 'a' });
    finish('ended');
    await quiet();
    await emit({ type: 'interrupted' }, toolCall('runs', 'slow'));

    const { inspect, received, sent } = inspector();
    const detach = session.inspect(inspect);
    const announced = ofType(await received(), '@xstate.actor');
    expect(announced.map(({ name }) => name)).toEqual([session.sessionId, 'drains', 'runs']);
    expect(sent).toHaveLength(3);
    const [root, drains, runs] = announced as [Sent<'@xstate.actor'>, Sent<'@xstate.actor'>, Sent<'@xstate.actor'>];
    expect(root.snapshot).toMatchObject({ status: 'active', value: { open: 'responding' } });
    expect(drains).toMatchObject({ parentId: root.sessionId, snapshot: { value: { abandoned: 'draining' } } });
    expect(runs).toMatchObject({ parentId: root.sessionId, snapshot: { value: 'executing' } });

    finish('runs');
    await quiet();
    await emit({ type: 'turn_complete' }, toolCall('new', 'slow'));
    const events = await received();
    expect(eventsOf(events, runs.sessionId)).toEqual(['code_resolved', 'publish_accepted']);
    expect(eventsOf(events, root.sessionId)).toEqual(['turn_complete', 'tool_call']);
    expect(actorNamed(events, 'new').parentId).toBe(root.sessionId);

    detach();
    detach();
    const before = sent.length;
    finish('new');
    await emit({ type: 'text', text: 'b' }, toolCall('unseen', 'slow'), { type: 'closed' });
    expect((await received()).length).toBe(before);
  });

  it('may be a function; two look on at once and each detaches for itself', async () => {
    const { session, emit } = await stage();
    const first: string[] = [];
    const second: string[] = [];
    const detachFirst = session.inspect((event) => first.push(event.type));
    const detachSecond = session.inspect((event) => {
      second.push(event.type);
      if (event.type === '@xstate.snapshot') detachSecond();
    });
    await emit({ type: 'text', text: 'a' });
    await emit({ type: 'turn_complete' });
    detachFirst();
    await emit({ type: 'text', text: 'b' });
    expect(second.at(-1)).toBe('@xstate.snapshot');
    expect(second.filter((type) => type === '@xstate.snapshot')).toHaveLength(1);
    expect(first.filter((type) => type === '@xstate.snapshot')).toHaveLength(2);
  });

  it('after the end shows the session as it ended', async () => {
    const { session, emit } = await stage();
    await emit({ type: 'closed' });
    const { inspect, received } = inspector();
    session.inspect(inspect);
    const events = await received();
    expect(events).toHaveLength(1);
    expect(actorNamed(events, session.sessionId).snapshot).toMatchObject({ status: 'done', value: 'closed' });
  });

  it('the system of a session’s actor can be asked to inspect, as XState’s own can', async () => {
    const { session, emit } = await stage();
    const types: string[] = [];
    const system = session.actor.system as unknown as {
      inspect(observer: (event: InspectionEvent) => void): { unsubscribe(): void };
    };
    const { unsubscribe } = system.inspect((event) => types.push(event.type));
    await emit({ type: 'text', text: 'a' });
    unsubscribe();
    await emit({ type: 'text', text: 'b' });
    expect(types).toEqual(['@xstate.event', '@xstate.action', '@xstate.microstep', '@xstate.snapshot']);
  });
});

describe('over a socket', () => {
  it('the stock WebSocket inspector and receiver show the same', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    // a relay, as a page of an inspector has one
    server.on('connection', (socket) => {
      socket.on('message', (message) => {
        for (const client of server.clients) if (client !== socket) client.send(message.toString());
      });
    });
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const received: StatelyInspectionEvent[] = [];
      let onEvent = () => {};
      const receiver = createWebSocketReceiver({ server: url });
      receiver.subscribe((event) => {
        received.push(event);
        onEvent();
      });
      await once(server, 'connection');
      const socket = createWebSocketInspector({ url });
      await once(server, 'connection');
      const { tools, finish } = slow();
      const { session, emit } = await stage({ inspect: socket.inspect, tools });
      await emit(toolCall('call_1', 'slow'));
      finish('call_1', 'secret output');
      await quiet();
      await emit({ type: 'closed' });
      await new Promise<void>((resolve) => {
        onEvent = () => {
          const states = ofType(received, '@xstate.snapshot').map(
            ({ snapshot }) => snapshot as unknown as { value: unknown },
          );
          if (states.some(({ value }) => value === 'closed')) resolve();
        };
        onEvent();
      });
      const root = actorNamed(received, session.sessionId);
      const call = actorNamed(received, 'call_1');
      expect(call.parentId).toBe(root.sessionId);
      expect(JSON.parse(call.definition as string).id).toBe('tool-invocation');
      expect(statesOf(received, call.sessionId)).toEqual('admitted queued executing publishing completed'.split(' '));
      expect(JSON.stringify(received)).not.toContain('secret output');
      socket.stop();
    } finally {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('what is said and done', () => {
  it('stands in no snapshot, no event and no action that an inspector is told of', async () => {
    const secret = 'a secret of the user';
    const raw: string[] = [];
    const actors = new Set<AnyActorRef>();
    const { inspect, received } = inspector();
    const { session, emit, far } = await stage({
      inspect: (event) => {
        actors.add(event.actorRef as AnyActorRef);
        raw.push(
          JSON.stringify(event, (key, value) =>
            key === 'actorRef' || key === 'sourceRef' || key === 'machine' ? '' : value,
          ),
        );
      },
      tools: [
        defineTool({
          name: 'tell',
          description: '',
          input: { type: 'object' },
          needsApproval: (input) => 'ask' in input,
          execute: (input) => {
            if ('throw' in input) throw new TypeError(secret);
            return { secret };
          },
        }),
      ],
    });
    session.inspect(inspect);
    await emit(
      { type: 'text', text: secret },
      { type: 'audio', data: secret, mediaType: 'audio/pcm' },
      { type: 'input_text', text: secret, final: true },
      { type: 'error', message: secret },
      { type: 'odd', secret } as never,
      toolCall('c1', 'tell', { secret }),
      toolCall('c2', 'tell', { throw: secret }),
      toolCall('c3', 'tell', { ask: secret }),
      toolCall('c4', 'tell', secret),
    );
    await session.send({ type: 'text', text: secret });
    await session.deny('c3', secret);
    far.fail(new TypeError(secret));
    await session.closed;
    const everything = JSON.stringify(await received());
    expect(raw.length).toBeGreaterThan(50);
    expect(actors.size).toBe(5);
    expect(raw.join('\n')).not.toContain(secret);
    expect(everything).not.toContain(secret);
    for (const actor of actors) {
      expect(JSON.stringify(actor.getSnapshot())).not.toContain(secret);
      expect(JSON.stringify(actor.getPersistedSnapshot())).not.toContain(secret);
      expect(JSON.stringify(actor)).not.toContain(secret);
    }
  });
});
