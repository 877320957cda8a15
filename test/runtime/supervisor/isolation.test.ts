import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tapped } from '../../../src/contract/session-tap.js';
import { defineTool } from '../../../src/runtime/index.js';
import { outcomeOf, quiet, toolCall, watchProcess } from '../stage.js';
import { FarSide, stage, text, watch } from './stage.js';

let processWatch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  processWatch = watchProcess();
});
afterEach(async () => {
  expect(await processWatch.stop()).toEqual([]);
});

const fault = () => {
  throw new Error('of the host');
};
const throwing = defineTool({
  name: 'throws',
  description: '',
  input: { type: 'object' },
  effect: 'read',
  execute: fault,
});

describe('a fault of one child', () => {
  test('reaches no other and not the process, wherever it is thrown', async () => {
    const bad = new FarSide();
    const good = new FarSide();
    const { start, supervisor, pass } = stage();
    const other = await start(good);
    const { words, ended } = watch(other);
    const session = await start(bad, {
      tools: [throwing],
      restart: { type: 'permanent', backoff: fault },
      inspect: fault,
    });
    session.events$.subscribe(fault);
    session.lifecycle$.subscribe(fault);
    session[tapped]({ reported: fault, noted: fault, acted: fault, ended: fault });
    session.inspect(fault);
    await session.send({ type: 'text', text: 'x' });
    bad.last.far.emit(text('one'));
    bad.last.far.emit(toolCall('a', 'throws'));
    await quiet();
    bad.last.far.fail(new Error('of the driver'));
    await pass(500);
    expect(bad.lines).toHaveLength(2);
    good.last.far.emit(text('untouched'));
    await quiet();
    expect(words).toEqual(['untouched']);
    await session.close();
    await other.close();
    await ended;
    expect(supervisor.list()).toEqual([]);
  });

  test('in observers of the supervisor itself is counted, and harms nobody', async () => {
    const far = new FarSide();
    const { start, supervisor, pass } = stage({ inspect: fault });
    supervisor.inspect(fault);
    supervisor.stats$.subscribe(fault);
    supervisor.actor.subscribe(fault);
    (supervisor.actor as unknown as { send(event: object): void }).send({ type: 'shutdown' });
    const session = await start(far);
    await pass(0);
    await session.close();
    expect(supervisor.actor.getSnapshot().value).toBe('running');
    expect(supervisor.stats.strays).toBeGreaterThan(3);
    await supervisor.shutdown();
  });

  test('a driver that throws, hangs or is none leaves the others as they are', async () => {
    const { start, supervisor, pass } = stage();
    const other = await start(new FarSide());
    const refused = [
      { id: 'throws', connect: fault },
      { id: 'none', connect: async () => ({}) as never },
      { id: 'rejects', connect: () => Promise.reject(new Error('no')) },
      { id: 'hangs', connect: () => new Promise<never>(() => {}) },
    ].map((provider) => outcomeOf(start(provider, { connectTimeoutMs: 50, closeTimeoutMs: 50 })));
    await pass(100);
    for (const outcome of await Promise.all(refused)) expect(outcome).toHaveProperty('error');
    expect(supervisor.list()).toEqual([other]);
    await other.send({ type: 'text', text: 'still here' });
  });
});

describe('acts from within', () => {
  test('a subscriber may close, restart and start children in the middle of a step', async () => {
    const far = new FarSide();
    const { start, supervisor, pass } = stage();
    const session = await start(far, { restart: { type: 'permanent' } });
    const begun: Promise<unknown>[] = [];
    session.lifecycle$.subscribe(({ type }) => {
      if (type === 'restarting') begun.push(start(far, { id: 'from-within' }));
      if (type === 'restarted') void session.close();
    });
    far.last.far.end();
    await pass(100);
    await Promise.all(begun);
    await session.closed;
    expect(supervisor.list()).toEqual([supervisor.get('from-within')]);
    let inner: string | undefined;
    supervisor.actor.subscribe(() => {
      if (inner !== undefined) return;
      inner = '';
      inner = supervisor.createConversation().id;
    });
    const conversation = supervisor.createConversation();
    expect(supervisor.list().map(({ id }) => id)).toEqual(['from-within', inner, conversation.id]);
    await supervisor.shutdown();
    expect(supervisor.list()).toEqual([]);
  });

  test('a shutdown asked for while a restart is told leaves nothing behind', async () => {
    const far = new FarSide();
    const { start, supervisor, pass, clock } = stage();
    const session = await start(far, { restart: { type: 'permanent' } });
    session.lifecycle$.subscribe(({ type }) => {
      if (type === 'restarting') void supervisor.shutdown();
    });
    far.last.far.end();
    await pass(100);
    expect(await supervisor.closed).toMatchObject({ children: [{ report: { reason: 'host' } }] });
    expect(far.lines).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});

describe('taps', () => {
  test('go on across incarnations, in one order, are told of restarts, and end once', async () => {
    const far = new FarSide();
    const { start, pass } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    const words: string[] = [];
    session[tapped]({
      reported: (event) => words.push(event.type === 'text' ? event.text : event.type),
      noted: ({ type }) => words.push(type),
      acted: ({ type }) => words.push(type),
      ended: ({ reason }) => words.push(`ended ${reason}`),
    });
    far.last.far.emit(text('one'));
    far.last.far.emit({ type: 'closed' });
    await pass(100);
    await session.send({ type: 'text', text: 'x' });
    far.last.far.emit(text('two'));
    await quiet();
    await session.close();
    expect(words).toEqual(['one', 'closed', 'restarting', 'restarted', 'send', 'two', 'ended host']);
    session[tapped]({ ended: () => words.push('late') });
    expect(words.at(-1)).toBe('late');
  });
});

describe('what has ended', () => {
  test('is held by nobody but the host', async () => {
    const { gc } = globalThis as { gc?: () => void };
    const far = new FarSide();
    const { start, supervisor, pass } = stage();
    supervisor.inspect(() => {});
    const children: WeakRef<object>[] = [];
    const live = async () => {
      const session = await start(far, { restart: { type: 'transient' } });
      session.lifecycle$.subscribe(() => {});
      far.last.far.end();
      await pass(100);
      const conversation = supervisor.createConversation();
      children.push(new WeakRef(session), new WeakRef(conversation));
      await session.close();
      conversation.close();
    };
    for (let n = 0; n < 5; n++) await live();
    far.lines.length = 0;
    expect(supervisor.list()).toEqual([]);
    expect(supervisor.stats).toMatchObject({ sessions: 0, conversations: 0, restarting: 0, ended: 10 });
    if (gc === undefined) return;
    await quiet();
    gc();
    await quiet();
    gc();
    // the last round may still stand on the stack
    expect(children.slice(0, -2).filter((child) => child.deref() !== undefined)).toEqual([]);
  });
});
