import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  defineTool,
  type RecordingEnd,
  recordSession,
  type SupervisedSession,
  startSession,
} from '../../../src/runtime/index.js';
import { isSettled, outcomeOf, quiet, toolCall, watchProcess } from '../stage.js';
import { FarSide, stage, text, watch } from './stage.js';

let processWatch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  processWatch = watchProcess();
});
afterEach(async () => {
  expect(await processWatch.stop()).toEqual([]);
});

const instant = defineTool({
  name: 'instant',
  description: '',
  input: { type: 'object' },
  effect: 'read',
  execute: () => 'done',
});

describe('limits', () => {
  test('refuse one session too many, at once, and let the next in when one has ended', async () => {
    const far = new FarSide();
    const { start, supervisor } = stage({ maxSessions: 2 });
    const first = await start(far);
    await start(far);
    expect(await outcomeOf(start(far))).toMatchObject({
      error: { code: 'supervisor_limit', what: 'sessions', limit: 2 },
    });
    expect(far.lines).toHaveLength(2);
    await first.close();
    await start(far);
    expect(supervisor.stats).toMatchObject({ sessions: 2, started: 3, ended: 1, refused: 1 });
  });

  test('count sessions that connect, and those between two incarnations', async () => {
    const far = new FarSide({ hold: ['connect'] });
    const { start } = stage({ maxSessions: 1 });
    const starting = start(far, { restart: { type: 'permanent' } });
    expect(await outcomeOf(start(far))).toMatchObject({ error: { code: 'supervisor_limit' } });
    far.last.held[0]?.resolve();
    await starting;
    far.last.far.end();
    await quiet();
    expect(await outcomeOf(start(far))).toMatchObject({ error: { code: 'supervisor_limit' } });
  });

  test('refuse one conversation too many, apart from the sessions', async () => {
    const { supervisor, start } = stage({ maxConversations: 1, maxSessions: 1 });
    const conversation = supervisor.createConversation({ id: 'c' });
    expect(() => supervisor.createConversation()).toThrow(expect.objectContaining({ code: 'supervisor_limit' }));
    await start(new FarSide());
    conversation.close();
    expect(supervisor.get('c')).toBeUndefined();
    expect(supervisor.createConversation({ id: 'c' })).toBe(supervisor.get('c'));
  });

  test('let go of a conversation whose signal is aborted, though it is at rest', () => {
    const abort = new AbortController();
    const { supervisor } = stage({ maxConversations: 1 });
    const conversation = supervisor.createConversation({ signal: abort.signal });
    conversation.apply({ end: 'cancel' });
    abort.abort();
    expect(supervisor.list()).toEqual([]);
    expect(() => supervisor.createConversation({ signal: abort.signal })).toThrow();
    supervisor.createConversation();
  });

  test('share one pool of places over all sessions', async () => {
    const far = new FarSide();
    const running: (() => void)[] = [];
    const slow = defineTool({
      name: 'slow',
      description: '',
      input: { type: 'object' },
      effect: 'read',
      execute: () => new Promise<string>((resolve) => running.push(() => resolve('done'))),
    });
    const { start, supervisor } = stage({ maxConcurrentTools: 2 });
    for (let n = 0; n < 3; n++) await start(far, { tools: [slow] });
    for (const { far: side } of far.lines) side.emit(toolCall('a', 'slow'));
    await quiet();
    expect(running).toHaveLength(2);
    expect(supervisor.stats).toMatchObject({ toolsRunning: 2, toolsWaiting: 1 });
    running[0]?.();
    await quiet();
    expect(running).toHaveLength(3);
    expect(supervisor.stats).toMatchObject({ toolsRunning: 2, toolsWaiting: 0 });
  });

  test.each([
    [{ maxSessions: -1 }, 'maxSessions'],
    [{ maxConversations: 0.5 }, 'maxConversations'],
    [{ maxConcurrentTools: 0 }, 'maxConcurrentTools'],
    [{ random: 4 }, 'random'],
    [{ journal: {} }, 'journal'],
    [{ inspect: 1 }, 'inspect'],
  ])('and other options that are none are told of: %j', (options, what) => {
    expect(() => stage(options as never)).toThrow(what);
  });

  test.each([
    [{ type: 'always' }, 'restart.type'],
    [{ intensity: 1001 }, 'restart.intensity'],
    [{ periodMs: 0 }, 'restart.periodMs'],
    [{ backoff: { factor: 0 } }, 'restart.backoff.factor'],
    [{ backoff: { baseMs: -1 } }, 'restart.backoff.baseMs'],
    [{ backoff: { jitter: 2 } }, 'restart.backoff.jitter'],
    [{ backoff: null }, 'restart.backoff'],
  ])('so are restart rules that are none: %j', async (restart, what) => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    expect(await outcomeOf(start(far, { restart: restart as never }))).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining(what) },
    });
    expect(far.lines).toHaveLength(0);
    expect(supervisor.stats.started).toBe(0);
  });

  test('an id belongs to one child that lives, and is free again after its end', async () => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    const first = await start(far, { id: 'a' });
    expect(supervisor.get('a')).toBe(first);
    expect(await outcomeOf(start(far, { id: 'a' }))).toMatchObject({ error: { code: 'invalid_input' } });
    expect(() => supervisor.createConversation({ id: 'a' })).toThrow('id');
    await first.close();
    expect(await start(far, { id: 'a' })).not.toBe(first);
    expect(far.lines).toHaveLength(2);
  });
});

describe('prepare', () => {
  test('is given the session before it connects', async () => {
    const far = new FarSide();
    const { supervisor } = stage();
    const prepared: unknown[] = [];
    const session = await supervisor.startSession({
      provider: far,
      connect: { model: 'm' },
      prepare: (made) => {
        prepared.push(made, far.lines.length);
      },
    });
    expect(prepared).toEqual([session, 0]);
  });

  test('that throws or closes the session leaves nothing behind', async () => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    const prepare = () => {
      throw new Error('not today');
    };
    await expect(start(far, { prepare })).rejects.toThrow('not today');
    const closing = start(far, { prepare: (session) => void session.close() });
    expect(await outcomeOf(closing)).toMatchObject({ error: { code: 'connect_aborted' } });
    expect(far.lines).toHaveLength(0);
    expect(supervisor.stats).toMatchObject({ sessions: 0, started: 0 });
  });

  test('of a start that is refused is given a session that ends, and takes no acts before it is connected', async () => {
    const { supervisor, start } = stage({ maxSessions: 1 });
    await start(new FarSide());
    let given: SupervisedSession | undefined;
    const acts: Promise<unknown>[] = [];
    const prepare = (session: SupervisedSession) => {
      given = session;
      acts.push(outcomeOf(session.send({ type: 'text', text: 'early' })));
    };
    const { ended, words } = await new Promise<ReturnType<typeof watch>>((resolve) => {
      const watched = (session: SupervisedSession) => {
        prepare(session);
        resolve(watch(session));
      };
      start(new FarSide(), { prepare: watched }).catch(() => {});
    });
    await ended;
    expect(words).toEqual([]);
    expect(await acts[0]).toMatchObject({ error: { code: 'not_supported' } });
    expect(await given?.closed).toMatchObject({ reason: 'connect_failed', incarnations: 0 });
    expect(supervisor.stats).toMatchObject({ sessions: 1, refused: 1, ended: 0 });
  });
});

describe('shutdown', () => {
  test('of a supervisor without children is at once', async () => {
    const { supervisor, clock } = stage();
    expect(await supervisor.shutdown()).toEqual({ children: [] });
    expect(await supervisor.closed).toEqual({ children: [] });
    expect(supervisor.actor.getSnapshot()).toMatchObject({ value: 'stopped', status: 'done' });
    expect(clock.pending).toBe(0);
  });

  test('closes sessions in reverse order of their start, and reports every one', async () => {
    const far = new FarSide();
    const { start, supervisor, clock } = stage();
    for (const id of ['a', 'b', 'c']) await start(far, { id });
    const { children } = await supervisor.shutdown();
    expect(far.log.filter((line) => line.endsWith('close'))).toEqual(['3 close', '2 close', '1 close']);
    expect(children.map(({ kind, id, cut }) => [kind, id, cut])).toEqual([
      ['session', 'c', false],
      ['session', 'b', false],
      ['session', 'a', false],
    ]);
    expect(children[0]).toMatchObject({ report: { reason: 'host', incarnations: 1, failed: false } });
    expect(supervisor.list()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('starts nothing any more, neither while it drains nor afterwards', async () => {
    const far = new FarSide({ hold: ['close'] });
    const { start, supervisor } = stage({ maxSessions: 1 });
    await start(far);
    const stopping = supervisor.shutdown();
    expect(supervisor.actor.getSnapshot().value).toBe('draining');
    const refusals = async () => {
      expect(await outcomeOf(start(far))).toMatchObject({ error: { code: 'supervisor_stopping' } });
      expect(() => supervisor.createConversation()).toThrow(expect.objectContaining({ code: 'supervisor_stopping' }));
    };
    await refusals();
    far.last.held[0]?.resolve();
    await stopping;
    await refusals();
    expect(supervisor.stats.refused).toBe(4);
    expect(far.lines).toHaveLength(1);
  });

  test('waits for calls that are being published, and holds up no other session', async () => {
    const waits = new FarSide({ hold: ['sendToolResult'] });
    const other = new FarSide();
    const { start, supervisor, clock } = stage();
    await start(other, { id: 'older' });
    const session = await start(waits, { id: 'publishing', tools: [instant] });
    await start(other, { id: 'younger' });
    waits.last.far.emit(toolCall('a', 'instant'));
    await quiet();
    const stopping = supervisor.shutdown();
    await quiet();
    expect(other.log.slice(2)).toEqual(['2 close', '1 close']);
    expect(waits.log).toEqual(['1 connect', '1 sendToolResult']);
    expect(await outcomeOf(session.send({ type: 'text', text: 'one more thing' }))).toMatchObject({
      error: { code: 'supervisor_stopping' },
    });
    waits.last.held[0]?.resolve();
    const { children } = await stopping;
    expect(waits.log.slice(2)).toEqual(['1 close']);
    expect(children.map(({ id }) => id)).toEqual(['younger', 'older', 'publishing']);
    expect(children[2]).toMatchObject({ cut: false, report: { calls: [{ id: 'a', state: 'completed' }] } });
    expect(clock.pending).toBe(0);
  });

  test('closes what has not finished at the deadline', async () => {
    const far = new FarSide({ hold: ['sendToolResult'] });
    const { start, supervisor, pass } = stage();
    await start(far, { tools: [instant] });
    far.last.far.emit(toolCall('a', 'instant'));
    await quiet();
    const stopping = supervisor.shutdown({ deadlineMs: 700 });
    await pass(699);
    expect(far.log).not.toContain('1 close');
    await pass(1);
    expect(await stopping).toMatchObject({
      children: [{ cut: true, report: { reason: 'host', calls: [{ state: 'unconfirmed' }] } }],
    });
  });

  test('waits after the deadline no longer than a driver may take to close', async () => {
    const far = new FarSide({ hold: ['close'] });
    const { start, supervisor, pass } = stage();
    await start(far, { closeTimeoutMs: 300 });
    const stopping = supervisor.shutdown({ deadlineMs: 0 });
    expect(await isSettled(stopping)).toBe(false);
    await pass(300);
    expect(await stopping).toMatchObject({ children: [{ cut: true }] });
  });

  test('called again gives the same report; a nearer deadline holds, one that is further off does not', async () => {
    const far = new FarSide({ hold: ['sendToolResult'] });
    const { start, supervisor, pass } = stage();
    await start(far, { tools: [instant] });
    far.last.far.emit(toolCall('a', 'instant'));
    await quiet();
    const first = supervisor.shutdown({ deadlineMs: 1000 });
    const nearer = supervisor.shutdown({ deadlineMs: 400 });
    const further = supervisor.shutdown({ deadlineMs: 9000 });
    await pass(399);
    expect(far.log).not.toContain('1 close');
    await pass(1);
    expect(await nearer).toBe(await first);
    expect(await further).toBe(await first);
    expect(await supervisor.shutdown()).toBe(await first);
    expect(await supervisor.closed).toBe(await first);
    await expect(supervisor.shutdown({ deadlineMs: -1 })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('ends sessions that connect and those between two incarnations', async () => {
    const connecting = new FarSide({ hold: ['connect'] });
    const gone = new FarSide();
    const { start, supervisor, clock, pass } = stage();
    const restarting = await start(gone, { restart: { type: 'permanent' } });
    gone.last.far.emit(text('unread'));
    gone.last.far.end();
    await quiet();
    const starting = outcomeOf(start(connecting));
    await quiet();
    const stopping = supervisor.shutdown();
    expect(await starting).toMatchObject({ error: { code: 'connect_aborted' } });
    connecting.last.held[0]?.resolve();
    const { children } = await stopping;
    expect(children).toHaveLength(2);
    expect((await restarting.closed).reason).toBe('host');
    expect(connecting.log).toEqual(['1 connect', '1 close']);
    await pass(100_000);
    expect(gone.lines).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  test('restarts nothing that ends while it drains', async () => {
    const far = new FarSide({ hold: ['sendToolResult'] });
    const { start, supervisor, pass } = stage();
    const session = await start(far, { tools: [instant], restart: { type: 'permanent' } });
    const { words } = watch(session);
    far.last.far.emit(toolCall('a', 'instant'));
    await quiet();
    const stopping = supervisor.shutdown({ deadlineMs: 100_000 });
    far.last.far.emit({ type: 'closed' });
    expect(await stopping).toMatchObject({ children: [{ cut: false, report: { reason: 'far_side' } }] });
    await pass(100_000);
    expect(far.lines).toHaveLength(1);
    expect(words).not.toContain('restarting');
  });

  test('at the deadline too closes a conversation only when they have ended: what is recorded into it has its last event', async () => {
    const far = new FarSide({ hold: ['sendToolResult'] });
    const { supervisor, start, pass } = stage();
    const conversation = supervisor.createConversation({ id: 'kept' });
    let recorded: Promise<RecordingEnd> | undefined;
    await start(far, {
      tools: [instant],
      prepare: (session) => {
        recorded = recordSession(session, { conversation }).finished;
      },
    });
    far.last.far.emit(toolCall('a', 'instant'));
    await quiet();
    const stopped = supervisor.shutdown({ deadlineMs: 100 });
    await pass(100);
    const { children } = await stopped;
    expect(children).toMatchObject([
      { kind: 'session', cut: true },
      { kind: 'conversation', id: 'kept', cut: true, phase: 'finished' },
    ]);
    expect(await recorded).toMatchObject({ reason: 'session_ended', closed: { reason: 'host' } });
  });

  test('closes a conversation when the sessions that were started after it have ended', async () => {
    const far = new FarSide({ hold: ['close'] });
    const { start, supervisor } = stage();
    supervisor.createConversation({ id: 'first' });
    await start(far, { id: 'session' });
    supervisor.createConversation({ id: 'last' });
    const stopping = supervisor.shutdown();
    await quiet();
    expect(supervisor.get('last')).toBeUndefined();
    expect(supervisor.get('first')).toBeDefined();
    far.last.held[0]?.resolve();
    expect((await stopping).children).toMatchObject([
      { kind: 'conversation', id: 'last', phase: 'cancelled' },
      { kind: 'session', id: 'session' },
      { kind: 'conversation', id: 'first', phase: 'cancelled' },
    ]);
  });

  test('a tool may ask for it, and its own session ends all the same', async () => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    let stopping: Promise<unknown> | undefined;
    const hangUp = defineTool({
      name: 'hang_up',
      description: '',
      input: { type: 'object' },
      effect: 'read',
      execute: async () => {
        stopping = supervisor.shutdown();
        await stopping;
      },
    });
    await start(far, { tools: [hangUp] });
    far.last.far.emit(toolCall('a', 'hang_up'));
    await quiet();
    expect(await isSettled(stopping as Promise<unknown>)).toBe(true);
  });

  test('is what disposes of a supervisor', async () => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    await start(far);
    await supervisor[Symbol.asyncDispose]();
    expect(supervisor.actor.getSnapshot().value).toBe('stopped');
  });

  test('does not concern sessions that are nobody but the host', async () => {
    const far = new FarSide();
    const { supervisor } = stage();
    const own = await startSession({ provider: far, connect: { model: 'm' } });
    await supervisor.shutdown();
    expect(far.log).toEqual(['1 connect']);
    await own.close();
  });
});
