/** Who looks on harms nobody, whatever it does: observers, bridges, their sockets, clocks and redactions. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnyActorRef, toPromise, waitFor } from 'xstate';
import { InvalidInputError } from '../../../src/index.js';
import {
  createInspectionBridge,
  type InspectionBridgeOptions,
  type InspectionSocket,
} from '../../../src/inspect/index.js';
import { scenario } from '../../../src/testing/arbitraries/index.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { ending } from '../../properties/ending.js';
import { play } from '../../properties/played.js';
import { property } from '../../properties/property.js';
import { quiet, stage, toolCall, watchProcess } from '../../runtime/stage.js';
import { HandSocket, page, slow } from './page.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const boom = () => {
  throw new TypeError('boom');
};

describe('a session that is inspected leaves the trace that it leaves alone', () => {
  /** What may be around a bridge, or stand in its place. */
  const onlookers = fc.constantFrom('sound', 'stalled', 'breaking', 'closing', 'redacting', 'throwing', 'rejecting');
  const history = fc.record({ scenario: scenario(), ending, onlookers });

  property(
    'whoever looks on',
    history,
    async ({ scenario, ending, onlookers }) => {
      const alone = await play(scenario, ending);
      let seen = 0;
      const inspected = await play(scenario, ending, {
        begins: ({ session }) => {
          seen = 0;
          session.inspect(() => {
            seen++;
          });
          if (onlookers === 'throwing') session.inspect(boom);
          else if (onlookers === 'rejecting') session.inspect(() => Promise.reject(new TypeError('boom')));
          else bridgeWith(onlookers).watch(session);
        },
      });
      expect(inspected.stray).toEqual([]);
      expect(seen).toBeGreaterThan(3);
      // what an inspector threw is told of, in the order of the run
      const isNoted = onlookers === 'throwing' || onlookers === 'rejecting';
      const linesOf = ({ entries }: typeof alone) =>
        entries.filter((entry) => !isNoted || !JSON.stringify(entry).includes('host_callback_threw'));
      expect(linesOf(inspected)).toEqual(linesOf(alone));
    },
    0.2,
  );
});

function bridgeWith(onlookers: string) {
  const clock = new VirtualClock();
  const socket = new HandSocket();
  const bridge = createInspectionBridge({
    socket,
    clock,
    maxQueued: 10,
    ...(onlookers === 'redacting' ? { redact: boom } : {}),
  });
  if (onlookers === 'stalled') socket.bufferedAmount = 2 ** 40;
  if (onlookers === 'breaking') socket.broken = new TypeError('boom');
  if (onlookers === 'closing') socket.turns('close', 3);
  return bridge;
}

describe('an observer of a session', () => {
  it('that throws or rejects is told of as host code, and the next one is told all', async () => {
    const seen: string[] = [];
    const { session, emit, lifecycle } = await stage();
    session.inspect(boom);
    session.inspect(() => Promise.reject(new TypeError('late')));
    session.inspect({ next: boom });
    session.inspect({ next: async () => boom() });
    session.inspect(({ type }) => seen.push(type));
    await emit({ type: 'text', text: 'a' });
    expect(seen).toEqual(['@xstate.actor', '@xstate.event', '@xstate.action', '@xstate.microstep', '@xstate.snapshot']);
    const codes = lifecycle.filter(({ type }) => type === 'diagnostic');
    expect(JSON.stringify(codes)).toContain('boom');
    expect(JSON.stringify(codes)).toContain('late');
    await session.close();
    expect(await session.closed).toMatchObject({ reason: 'host' });
  });

  it('that closes the session, sends and denies from within a step: each waits for the step to end', async () => {
    const { tools } = slow();
    const order: string[] = [];
    const { session, emit, driverCalls } = await stage({ tools });
    let acted = false;
    session.inspect((event) => {
      order.push(
        event.type === '@xstate.snapshot' ? JSON.stringify((event.snapshot as { value?: unknown }).value) : '',
      );
      if (event.type !== '@xstate.event' || event.event.type !== 'tool_call' || acted) return;
      acted = true;
      session.send({ type: 'text', text: 'from within' }).catch(() => {});
      session.close().catch(() => {});
    });
    await emit(toolCall('call_1', 'slow'));
    const { calls, reason } = await session.closed;
    expect(reason).toBe('host');
    expect(calls.map(({ id, state }) => [id, state])).toEqual([['call_1', 'cancelled']]);
    expect(driverCalls.map(({ method }) => method)).toEqual(['connect', 'send', 'close']);
    const states = order.filter((state) => state !== '');
    // admitted and all that follows of the same step, before the end
    expect(states.indexOf('"admitted"')).toBeLessThan(states.indexOf('"closing"'));
    expect(states.at(-1)).toBe('"closed"');
  });

  it('that is attached within a step is told of what lives, and of what follows', async () => {
    const { tools } = slow();
    const { session, emit } = await stage({ tools });
    const late: string[] = [];
    let attached = false;
    session.inspect((event) => {
      if (event.type !== '@xstate.actor' || attached || (event.actorRef as AnyActorRef).id !== 'call_1') return;
      attached = true;
      session.inspect((seen) => {
        const { id } = seen.actorRef as AnyActorRef;
        late.push(`${id}: ${seen.type === '@xstate.actor' ? 'lives' : seen.type.slice('@xstate.'.length)}`);
      });
    });
    await emit(toolCall('call_1', 'slow'));
    expect(late.slice(0, 2)).toEqual([`${session.sessionId}: lives`, 'call_1: lives']);
    expect(late.filter((line) => line.endsWith('lives'))).toHaveLength(2);
    expect(late.filter((line) => line === 'call_1: snapshot').length).toBeGreaterThan(2);
  });

  it('sees every actor as it stands, from the moment that it is told of it', async () => {
    const { tools } = slow();
    const values: unknown[] = [];
    const { emit } = await stage({
      tools,
      inspect: ({ type, actorRef }) => {
        if (type === '@xstate.actor')
          values.push((actorRef as unknown as { getSnapshot(): { value: unknown } }).getSnapshot()?.value);
      },
    });
    await emit(toolCall('call_1', 'slow'));
    expect(values).toEqual(['connecting', 'admitted']);
  });

  it('leaves `waitFor`, `toPromise` and `subscribe` as they are', async () => {
    const { session, emit } = await stage();
    session.inspect(boom);
    const seen: unknown[] = [];
    session.actor.subscribe(({ value }) => seen.push(value));
    const responding = waitFor(session.actor, (snapshot) => snapshot.matches({ open: 'responding' }));
    const ended = toPromise(session.actor);
    await emit({ type: 'text', text: 'a' });
    expect((await responding).value).toEqual({ open: 'responding' });
    await session.close();
    await ended;
    expect(seen).toEqual([{ open: 'responding' }, 'closing', 'closed']);
  });
});

describe('a bridge', () => {
  it('whose socket throws lets go of its targets, and counts', async () => {
    const clock = new VirtualClock();
    const socket = new HandSocket();
    const bridge = createInspectionBridge({ socket, clock });
    const { session, emit } = await stage();
    bridge.watch(session);
    socket.broken = new TypeError('boom');
    await emit({ type: 'text', text: 'a' });
    await clock.advance(1_000, quiet);
    expect(bridge.counts).toMatchObject({ failed: 1, queued: 0, sent: 0 });
    expect((session.actor.system as unknown as { isInspected: boolean }).isInspected).toBe(false);
  });

  it('whose `send` throws, rejects or refuses goes on; what was refused comes later, in order', async () => {
    const clock = new VirtualClock();
    const seen = page();
    let answers: (() => unknown)[] = [boom, () => Promise.reject(new TypeError('late')), () => false, () => false];
    const bridge = createInspectionBridge({
      clock,
      batchMs: 10,
      send: (text) => {
        const answer = answers.shift()?.();
        if (answer === undefined) seen.send(text);
        return answer;
      },
    });
    const { session, emit } = await stage();
    bridge.watch(session);
    await emit({ type: 'text', text: 'a' });
    await clock.advance(29, quiet);
    expect(seen.texts).toEqual([]);
    await clock.advance(1, quiet);
    expect(seen.messages.map(({ type }) => type)).toEqual(['@xstate.snapshot']);
    expect(bridge.counts).toMatchObject({ failed: 2, sent: 2, queued: 0 });
    answers = [() => bridge.flush()];
    await emit({ type: 'text', text: 'a' });
    bridge.flush();
    expect(seen.texts).toHaveLength(3);
  });

  it('survives its clock', async () => {
    const seen = page();
    const bridge = createInspectionBridge({
      send: seen.send,
      clock: { now: boom, setTimeout: boom, clearTimeout: boom },
    });
    const { session, emit } = await stage();
    bridge.watch(session);
    await emit({ type: 'text', text: 'a' });
    bridge.flush();
    expect(seen.texts).toHaveLength(3);
    expect(bridge.counts.failed).toBeGreaterThan(0);
    bridge.close();
  });

  it('passes on what the target throws at first, and lives with it later', async () => {
    const bridge = createInspectionBridge({ send: () => {} });
    expect(() => bridge.watch({ inspect: boom })).toThrow('boom');
    bridge.close();
    const later = createInspectionBridge();
    const detach = later.watch({ inspect: boom });
    const badEnd = later.watch({ inspect: () => boom });
    later.connect(new HandSocket());
    expect(later.counts.failed).toBe(1);
    detach();
    badEnd();
    expect(later.counts.failed).toBe(2);
    later.close();
    later.connect(new HandSocket());
    later.watch({ inspect: boom })();
  });

  it('takes a socket that has closed, or that cannot be looked at, for none', async () => {
    const closed = new HandSocket();
    closed.readyState = 3;
    const broken = {
      send() {},
      addEventListener() {},
      get readyState() {
        return boom();
      },
    } as unknown as InspectionSocket;
    for (const socket of [closed, broken]) {
      const bridge = createInspectionBridge({ socket, clock: new VirtualClock() });
      const { session } = await stage();
      bridge.watch(session);
      expect(bridge.counts).toMatchObject({ queued: 0, failed: 0 });
    }
  });

  it.each<[string, unknown, string]>([
    ['not an object', null, 'options'],
    ['both ways', { socket: new HandSocket(), send: () => {} }, 'option send'],
    ['no socket', { socket: {} }, 'option socket'],
    ['no function', { send: 'x' }, 'option send'],
    ['a redaction that is none', { redact: {} }, 'option redact'],
    ['no clock', { clock: {} }, 'option clock'],
    ['a negative time', { batchMs: -1 }, 'option batchMs'],
    ['an empty batch', { batchSize: 0 }, 'option batchSize'],
    ['half a message', { maxQueued: 1.5 }, 'option maxQueued'],
    ['a text', { maxBytes: '1' }, 'option maxBytes'],
    ['no bytes', { maxMessageBytes: 0 }, 'option maxMessageBytes'],
  ])('refuses %s', (_, options, what) => {
    expect(() => createInspectionBridge(options as InspectionBridgeOptions)).toThrow(InvalidInputError);
    expect(() => createInspectionBridge(options as InspectionBridgeOptions)).toThrow(what);
  });
});
