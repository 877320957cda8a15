/** A tap sees what a session reports, in the one order in which it happens, and takes nothing from the host's readers. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalRecord } from '../../src/contract/journal.js';
import { type SessionTap, tapped } from '../../src/contract/session-tap.js';
import { memoryJournal } from '../../src/journal/index.js';
import { defineTool, type Session, type StartOptions, startSession } from '../../src/runtime/index.js';
import { scriptedProvider } from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';
import { verify } from '../../src/verify/index.js';
import { readAll, stage, toolCall, watchProcess } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'again',
});

/** A tap that writes down what it sees. */
function writing(seen: string[]): SessionTap {
  return {
    reported: ({ type }) => seen.push(`event ${type}`),
    noted: (event) => seen.push(event.type === 'call' ? `call ${event.to}` : event.type),
    acted: ({ type }) => seen.push(`act ${type}`),
    ended: ({ reason }) => seen.push(`ended ${reason}`),
  };
}

it('sees events, changes of calls, acts and the end in one order, while a loop reads all of it', async () => {
  const { session, emit, far } = await stage({ tools: [echo] });
  const seen: string[] = [];
  session[tapped](writing(seen));
  await session.send({ type: 'text', text: 'hello' });
  await emit({ type: 'text', text: 'a' }, toolCall('t1', 'echo', '{}'));
  const reading = readAll(session);
  await emit({ type: 'turn_complete' });
  far.emit({ type: 'closed' });
  await reading.ended;
  await session.closed;
  expect(reading.seen.map(({ type }) => type)).toEqual([
    'text',
    'tool_started',
    'tool_completed',
    'turn_complete',
    'closed',
  ]);
  expect(seen).toEqual([
    'act send',
    'event text',
    'call admitted',
    'event tool_started',
    'call queued',
    'call executing',
    'call publishing',
    'event tool_completed',
    'call completed',
    'event turn_complete',
    'event closed',
    'ended far_side',
  ]);
});

it('is called no more once it has thrown, and the throw is told of', async () => {
  const { session, emit, lifecycle } = await stage();
  let calls = 0;
  session[tapped]({
    reported() {
      calls++;
      throw new RangeError('a tap that fails');
    },
  });
  await emit({ type: 'text', text: 'a' }, { type: 'text', text: 'b' });
  expect(calls).toBe(1);
  expect(lifecycle).toEqual([{ type: 'diagnostic', code: 'host_callback_threw', detail: 'a tap that fails' }]);
});

it('is detached by what attaching it gave', async () => {
  const { session, emit } = await stage();
  const seen: string[] = [];
  const detach = session[tapped](writing(seen));
  await emit({ type: 'text', text: 'a' });
  detach();
  await emit({ type: 'text', text: 'b' });
  expect(seen).toEqual(['event text']);
});

it('misses nothing of a session where it is attached by `prepare`, which comes before the connect', async () => {
  const seen: string[] = [];
  const far = scriptedProvider({ events: [{ type: 'text', text: 'at once' }, toolCall('t1', 'echo', '{}')] });
  const session = await startSession({
    provider: far,
    tools: [echo],
    connect: { model: 'scripted' },
    prepare: (prepared) => {
      seen.push('prepared');
      prepared[tapped](writing(seen));
    },
  });
  await quiet();
  expect(seen.slice(0, 3)).toEqual(['prepared', 'event text', 'call admitted']);
  await session.close();
});

it('a `prepare` that throws is what the start rejects with, and nothing is connected', async () => {
  const asked: string[] = [];
  const journal = memoryJournal();
  const far = scriptedProvider({ onCall: ({ method }) => asked.push(method) });
  let given: Session | undefined;
  const start = startSession({
    provider: far,
    journal,
    connect: { model: 'scripted' },
    prepare: (session) => {
      given = session;
      session.lifecycle$.subscribe({ complete: () => asked.push('complete') });
      throw new RangeError('not prepared');
    },
  });
  await expect(start).rejects.toThrow('not prepared');
  expect(await given?.closed).toEqual({ reason: 'connect_failed', message: 'not prepared', calls: [] });
  for await (const event of (given as Session).events()) asked.push(event.type);
  expect(asked).toEqual(['complete']);
  const records: JournalRecord[] = [];
  for await (const record of journal.read()) records.push(record);
  expect(records.map(({ event }) => event)).toContain('connect_rejected');
  expect(await verify(records)).toMatchObject({ sessions: 1, findings: [], unfinished: { sessions: 0 } });
});

it('a `prepare` that closes the session, aborts its signal, or promises, is the end of it', async () => {
  const { connects, start } = rig();
  const host = new AbortController();
  const closes = start({ prepare: (session) => void session.close() });
  await expect(closes.started).rejects.toMatchObject({ code: 'connect_aborted' });
  expect(await closes.closed()).toBe('host');
  const aborts = start({ signal: host.signal, prepare: () => host.abort(new RangeError('no more')) });
  await expect(aborts.started).rejects.toThrow('no more');
  expect(await aborts.closed()).toBe('aborted');
  const promises = start({
    prepare: async () => {
      throw new Error('nobody waits');
    },
  });
  await expect(promises.started).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await promises.closed()).toBe('connect_failed');
  // what connects after the close is closed
  expect(connects).toEqual(['connect', 'close']);
});

/** Starts sessions, and keeps what `prepare` was given. */
function rig() {
  const connects: string[] = [];
  const start = ({ prepare, ...options }: Pick<StartOptions, 'prepare' | 'signal'>) => {
    let given: Session | undefined;
    const provider = scriptedProvider({
      onCall: ({ method }, answer) => {
        connects.push(method);
        answer.resolve();
      },
    });
    const started = startSession({
      ...options,
      provider,
      connect: { model: 'scripted' },
      prepare: (session) => {
        given = session;
        return prepare?.(session);
      },
    });
    return { started, closed: async () => (await given?.closed)?.reason };
  };
  return { connects, start };
}
