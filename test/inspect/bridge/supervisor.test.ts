/** A supervisor with all its children on one page: over a real socket, from the start and later. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInspectionBridge, type InspectionMessage } from '../../../src/inspect/index.js';
import { scriptedProvider } from '../../../src/providers/scripted/index.js';
import { createSupervisor } from '../../../src/runtime/supervisor/index.js';
import { VirtualClock } from '../../../src/testing/index.js';
import { actions, add, begin, commit, done, init, said, task } from '../../conversation/events.js';
import { quiet, toolCall, watchProcess } from '../../runtime/stage.js';
import { actorNamed, eventsOf, HandSocket, namesOf, ofType, slow, statesOf, stockReceiver } from './page.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const farSide = () => scriptedProvider({ onCall: (_, answer) => answer.resolve() });
const connect = { model: 'scripted' };

describe('a supervisor', () => {
  it('is shown to the stock receiver with its sessions, their calls, a conversation and its transaction', async () => {
    const receiver = await stockReceiver();
    try {
      const bridge = createInspectionBridge({ socket: receiver.socket(), batchMs: 1 });
      const supervisor = createSupervisor({ id: 'sup_test' });
      bridge.watch(supervisor);
      const { tools, finish } = slow();
      const [one, two] = [farSide(), farSide()];
      const first = await supervisor.startSession({ id: 'one', provider: one, connect, tools });
      const second = await supervisor.startSession({ id: 'two', provider: two, connect, tools });
      const conversation = supervisor.createConversation();
      one.emit(toolCall('call_1', 'slow'));
      two.emit(toolCall('call_2', 'slow'));
      await quiet();
      finish('call_1', 'secret output');
      await quiet();
      conversation.apply(init());
      conversation.apply(actions(task('t'), begin, add('t', said('m', 'a')), commit));
      conversation.apply(done);
      const actors = { first: idOf(first.current), second: idOf(second.current) };
      await supervisor.shutdown({ deadlineMs: 0 });
      await receiver.until((messages) => statesOf(messages, idOf(supervisor)).at(-1) === 'stopped');
      bridge.close();

      const { received } = receiver;
      const top = actorNamed(received, 'sup_test');
      expect(top.sessionId).toBe(idOf(supervisor));
      expect(top.parentId).toBeUndefined();
      expect(JSON.parse(top.definition)).toMatchObject({ id: 'supervisor', states: { stopped: {} } });
      expect(eventsOf(received, top.sessionId)).toEqual(expect.arrayContaining(['start_session']));

      const bySession = new Map(ofType(received, '@xstate.actor').map((message) => [message.sessionId, message]));
      for (const sessionId of Object.values(actors)) {
        expect(bySession.get(sessionId)).toMatchObject({ parentId: top.sessionId });
        expect(JSON.parse(bySession.get(sessionId)?.definition ?? '')).toMatchObject({ id: 'session' });
        expect(statesOf(received, sessionId).at(-1)).toBe('closed');
      }
      expect(actorNamed(received, 'call_1').parentId).toBe(actors.first);
      expect(actorNamed(received, 'call_2').parentId).toBe(actors.second);
      expect(statesOf(received, actorNamed(received, 'call_1').sessionId).at(-1)).toBe('completed');
      expect(statesOf(received, actorNamed(received, 'call_2').sessionId).at(-1)).toBe('cancelled');
      const root = actorNamed(received, 'conversation');
      expect(root.parentId).toBe(top.sessionId);
      expect(actorNamed(received, 'transaction-1').parentId).toBe(root.sessionId);
      expect(statesOf(received, actorNamed(received, 'transaction-1').sessionId)).toEqual([
        { open: 'sound' },
        'committed',
      ]);

      // one system, and each actor before whatever happens to it, behind its parent
      expect(new Set(received.map(({ rootId }) => rootId))).toEqual(new Set([top.sessionId]));
      expectInOrder(received);
      expect(JSON.stringify(received)).not.toContain('secret output');
      expect(bridge.counts).toMatchObject({ queued: 0, sent: received.length, dropped: 0, failed: 0 });
    } finally {
      await receiver.stop();
    }
  });

  it('that lives is announced from the top, to whoever comes later; then what it starts is shown, too', async () => {
    const { tools } = slow();
    const supervisor = createSupervisor({ id: 'sup_test', clock: new VirtualClock() });
    const far = farSide();
    const session = await supervisor.startSession({ id: 'one', provider: far, connect, tools });
    const conversation = supervisor.createConversation();
    conversation.apply(init());
    conversation.apply(actions(begin));
    far.emit(toolCall('call_1', 'slow'));
    await quiet();
    const socket = new HandSocket();
    const bridge = createInspectionBridge({ socket, clock: new VirtualClock() });
    bridge.watch(supervisor);
    bridge.flush();
    expectInOrder(socket.messages);
    const announced = namesOf(socket.messages);
    expect(announced[0]).toBe('sup_test');
    expect(announced).toHaveLength(5);
    expect([...announced].sort()).toEqual(expect.arrayContaining(['call_1', 'conversation', 'transaction-1']));
    await supervisor.startSession({ id: 'two', provider: farSide(), connect });
    bridge.flush();
    expectInOrder(socket.messages);
    expect(namesOf(socket.messages)).toHaveLength(6);
    expect(idOf(session.current)).toBe(
      socket.messages.find((message) => message.type === '@xstate.actor' && message.parentId === idOf(supervisor))
        ?.sessionId,
    );
    await supervisor.shutdown({ deadlineMs: 0 });
  });

  it('of whose sessions one is watched pays for that one alone', async () => {
    const supervisor = createSupervisor({ clock: new VirtualClock() });
    const start = (id: string) => supervisor.startSession({ id, provider: farSide(), connect });
    const sessions = await Promise.all(['one', 'two', 'three'].map(start));
    const bridge = createInspectionBridge({ send: () => {}, clock: new VirtualClock() });
    const all = [supervisor, ...sessions.map(({ current }) => current)];
    const detach = bridge.watch(sessions[1] as (typeof sessions)[0]);
    expect(all.map(isInspected)).toEqual([false, false, true, false]);
    detach();
    const detachAll = bridge.watch(supervisor);
    expect(all.map(isInspected)).toEqual([true, true, true, true]);
    detachAll();
    expect(all.map(isInspected)).toEqual([false, false, false, false]);
    await supervisor.shutdown({ deadlineMs: 0 });
  });
});

/** Of an actor that hosts see in part. */
interface Inside {
  readonly sessionId: string;
  readonly system: { readonly isInspected: boolean };
}
const actorOf = (alive: { readonly actor: unknown } | undefined) => {
  if (alive === undefined) throw new RangeError('nothing lives');
  return alive.actor as Inside;
};
const idOf = (alive: Parameters<typeof actorOf>[0]) => actorOf(alive).sessionId;
const isInspected = (alive: Parameters<typeof actorOf>[0]) => actorOf(alive).system.isInspected;

function expectInOrder(messages: readonly InspectionMessage[]): void {
  const known = new Set<string | undefined>([undefined]);
  for (const message of messages) {
    if (message.type === '@xstate.actor') {
      expect(known).toContain(message.parentId);
      known.add(message.sessionId);
    } else expect(known).toContain(message.sessionId);
  }
}
