/** Hosts share one signal among any number of sessions and conversations: on it there is one listener of ours, and then none. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addAbortListener, removeAbortListener } from '../../src/runtime/abort-listeners.js';
import { createConversation, createSupervisor, startSession } from '../../src/runtime/index.js';
import { scriptedProvider } from '../../src/testing/index.js';
import { watchProcess } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const start = (signal: AbortSignal) =>
  startSession({ provider: scriptedProvider(), connect: { model: 'scripted' }, signal });

it('forty sessions, and conversations, on one signal are one listener, and none when they have ended', async () => {
  const { signal } = new AbortController();
  const sessions = await Promise.all(Array.from({ length: 40 }, () => start(signal)));
  const supervisor = createSupervisor();
  supervisor.createConversation({ signal });
  const supervised = await supervisor.startSession({
    provider: scriptedProvider(),
    connect: { model: 'scripted' },
    signal,
  });
  const conversation = createConversation({ signal });
  conversation.consume([]).catch(() => {});
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await Promise.all(sessions.map((session) => session.close()));
  await supervised.close();
  conversation.close();
  await supervisor.shutdown();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('all of them hear the abort, with its reason, in the order in which they began to listen', async () => {
  const abort = new AbortController();
  const order: number[] = [];
  const sessions = await Promise.all([start(abort.signal), start(abort.signal), start(abort.signal)]);
  const ends = sessions.map(async (session, index) => {
    const { reason } = await session.closed;
    order.push(index);
    return reason;
  });
  const why = new RangeError('enough');
  abort.abort(why);
  expect(await Promise.all(ends)).toEqual(['aborted', 'aborted', 'aborted']);
  expect(order).toEqual([0, 1, 2]);
  await expect(sessions[0]?.send({ type: 'text', text: 'late' })).rejects.toBe(why);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
});

it('a listener that is taken away by another one is not called', () => {
  const abort = new AbortController();
  const heard: string[] = [];
  const second = () => heard.push('second');
  addAbortListener(abort.signal, () => {
    heard.push('first');
    removeAbortListener(abort.signal, second);
  });
  addAbortListener(abort.signal, second);
  abort.abort();
  expect(heard).toEqual(['first']);
});
