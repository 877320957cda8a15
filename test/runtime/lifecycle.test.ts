/** What goes on beside the conversation, what the host may ask, and how things end (duplex page, §1, §3, §5). */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CallInterruptedError,
  CallNotWaitingError,
  CallTimeoutError,
  CallWithdrawnError,
  ConnectAbortedError,
  ConnectTimeoutError,
  type ErrorCode,
  InvalidIdError,
  InvalidInputError,
  isCommitpointError,
  NotSupportedError,
  SessionCloseTimeoutError,
  SessionEndedError,
} from '../../src/contract/errors.js';
import type { IntentLog } from '../../src/contract/journal.js';
import type { CallState, LifecycleEvent } from '../../src/contract/lifecycle.js';
import type { BidiEvent } from '../../src/contract/provider.js';
import type { LateOutcome, ToolContext, ToolDefinition } from '../../src/contract/tool.js';
import { defineTool, type Session, type SessionOptions, startSession } from '../../src/runtime/index.js';
import { openSession } from '../../src/runtime/start-session.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { type Held, held, isSettled, outcomeOf, quiet, readAll, stage, toolCall, watchProcess } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** Tools whose code waits to be settled by the test, by call id. */
function handTools(options: Partial<ToolDefinition> = {}) {
  const code = new Map<string, Held<unknown>>();
  const contexts = new Map<string, ToolContext>();
  const late: [outcome: LateOutcome, call: unknown][] = [];
  const tool = defineTool({
    name: 'hand',
    description: '',
    input: {},
    onLate: (outcome, call) => {
      late.push([outcome, call]);
    },
    ...options,
    execute: (_, context) => {
      const running = held();
      code.set(context.toolUseId, running);
      contexts.set(context.toolUseId, context);
      return running.promise;
    },
  });
  return {
    tools: [tool],
    late,
    /** The running code of a call. */
    code: (id: string) => code.get(id) as Held<unknown>,
    context: (id: string) => contexts.get(id) as ToolContext,
    isRunning: (id: string) => code.has(id),
  };
}

const ofType = <Type extends LifecycleEvent['type']>(events: LifecycleEvent[], type: Type) =>
  events.filter((event): event is Extract<LifecycleEvent, { type: Type }> => event.type === type);

/** A call's states as told, and the admission's `null`. */
const path = (events: LifecycleEvent[], id: string) => {
  const changes = ofType(events, 'call').filter((event) => event.id === id);
  changes.forEach(({ from }, i) => {
    expect(from).toBe(i === 0 ? null : changes[i - 1]?.to);
  });
  return changes.map(({ to }) => to);
};

describe('lifecycle$: calls', () => {
  it('tells each change of a call, when it was, and the input once', async () => {
    const hand = handTools();
    const { emit, lifecycle, clock } = await stage(hand);
    await clock.advance(10, quiet);
    await emit(toolCall('c1', 'hand', { word: 'moon' }));
    await clock.advance(5, quiet);
    hand.code('c1').resolve('done');
    await quiet();
    const call = { type: 'call', id: 'c1', name: 'hand' };
    expect(lifecycle).toEqual([
      { ...call, from: null, to: 'admitted', at: 10 },
      { ...call, from: 'admitted', to: 'queued', input: { word: 'moon' }, at: 10 },
      { ...call, from: 'queued', to: 'executing', at: 10 },
      { ...call, from: 'executing', to: 'publishing', at: 15 },
      { ...call, from: 'publishing', to: 'completed', at: 15 },
    ]);
  });

  it('asks for approvals', async () => {
    const hand = handTools({ needsApproval: (input) => (input as { risky: boolean }).risky });
    const { session, emit, lifecycle } = await stage(hand);
    await emit(toolCall('c1', 'hand', { risky: true }), toolCall('c2', 'hand', { risky: false }));
    expect(ofType(lifecycle, 'approval_requested')).toEqual([
      { type: 'approval_requested', id: 'c1', name: 'hand', input: { risky: true } },
    ]);
    expect([hand.isRunning('c1'), hand.isRunning('c2')]).toEqual([false, true]);
    await session.approve('c1');
    await quiet();
    expect(hand.isRunning('c1')).toBe(true);
    expect(path(lifecycle, 'c1')).toEqual(['admitted', 'awaiting_approval', 'queued', 'executing']);
    const inputs = ofType(lifecycle, 'call').filter((event) => event.id === 'c1' && 'input' in event);
    expect(inputs).toMatchObject([{ from: 'admitted', to: 'awaiting_approval', input: { risky: true } }]);
  });

  it('a denied call is answered with the host’s words; its code never runs', async () => {
    const hand = handTools({ needsApproval: true });
    const { session, emit, lifecycle, driverCalls } = await stage(hand);
    await emit(toolCall('c1', 'hand'), toolCall('c2', 'hand'));
    await session.deny('c1', 'not today');
    await session.deny('c2');
    await quiet();
    expect(driverCalls.slice(1)).toMatchObject([
      { id: 'c1', output: 'not today', isError: true },
      { id: 'c2', isError: true },
    ]);
    expect(path(lifecycle, 'c1')).toEqual(['admitted', 'awaiting_approval', 'publishing', 'completed']);
    expect(hand.isRunning('c1')).toBe(false);
  });

  it('tells of a durable journal’s states', async () => {
    const hand = handTools({ effect: 'irreversible' });
    const flushes: Held<void>[] = [];
    const journal: IntentLog = {
      durable: true,
      flush: () => {
        const flush = held<void>();
        flushes.push(flush);
        return flush.promise;
      },
    };
    const far = scriptedProvider();
    const { session } = openSession(
      { provider: far, connect: { model: 'm' }, clock: new VirtualClock(), ...hand },
      journal,
    );
    const lifecycle: LifecycleEvent[] = [];
    session.lifecycle$.subscribe((event) => lifecycle.push(event));
    await quiet();
    far.emit(toolCall('c1', 'hand'));
    await quiet();
    expect(path(lifecycle, 'c1')).toEqual(['admitted', 'queued', 'starting']);
    flushes.shift()?.resolve();
    await quiet();
    hand.code('c1').resolve('x');
    await quiet();
    expect(path(lifecycle, 'c1').slice(3)).toEqual(['executing', 'committing']);
    far.emit({ type: 'interrupted' });
    await quiet();
    expect(path(lifecycle, 'c1').slice(5)).toEqual(['abandoned']);
    // the outcome was at hand and was not published
    expect(hand.late).toEqual([[{ status: 'resolved', value: 'x' }, expect.objectContaining({ id: 'c1' })]]);
    await session.close();
  });

  it('completes at the end and gives a later subscriber nothing', async () => {
    const { session, emit } = await stage();
    const log: unknown[] = [];
    session.lifecycle$.subscribe({ next: (event) => log.push(event), complete: () => log.push('|') });
    await emit({ type: 'closed' });
    session.lifecycle$.subscribe({ next: (event) => log.push(event), complete: () => log.push('| later') });
    expect(log).toEqual(['|', '| later']);
  });
});

describe('lifecycle$: the far side', () => {
  it.each<[BidiEvent]>([
    [{ type: 'usage', inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedTokens: 0 }],
    [{ type: 'usage' }],
    [{ type: 'input_text', text: 'hel', final: false }],
    [{ type: 'input_text', text: 'hello', final: true }],
    [{ type: 'expiring', inMs: 60_000 }],
  ])('%j is told there and never in the conversation', async (event) => {
    const { session, emit, lifecycle } = await stage();
    const { seen } = readAll(session);
    await emit(Object.assign({ extra: 'not passed on' }, event));
    expect(lifecycle).toEqual([event]);
    expect(seen).toEqual([]);
  });

  it.each([
    ['unknown_event', { type: 'video', data: 'secret' }],
    ['malformed_event', { type: 'usage', inputTokens: 'secret' }],
    ['malformed_event', { type: 'expiring', inMs: Number.NaN }],
    ['malformed_event', { type: 'input_text', text: 'secret', final: 'yes' }],
  ])('what was not understood is a diagnostic: %s', async (code, event) => {
    const { emit, lifecycle } = await stage();
    await emit(event as never);
    expect(lifecycle).toEqual([{ type: 'diagnostic', code, detail: expect.stringContaining(event.type) }]);
    expect(JSON.stringify(lifecycle)).not.toContain('secret');
  });
});

describe('late outcomes', () => {
  const meta = (id: string) => ({
    id,
    name: 'hand',
    sessionId: expect.stringMatching(/^ses_/),
    turnId: expect.stringMatching(/^turn_/),
  });
  const failure = new TypeError('too late');
  const settlings: [string, (code: Held<unknown>) => void, LateOutcome][] = [
    ['resolves', (code) => code.resolve({ booked: 7 }), { status: 'resolved', value: { booked: 7 } }],
    ['rejects', (code) => code.reject(failure), { status: 'rejected', error: failure }],
  ];

  describe.each(settlings)('code that %s', (_, settle, outcome) => {
    const told = {
      type: 'settled_late',
      id: 'c1',
      name: 'hand',
      outcome: outcome.status,
      value: outcome.status === 'resolved' ? outcome.value : failure,
    };

    it.each<[string, Partial<ToolDefinition>, BidiEvent]>([
      ['abandoned', {}, { type: 'interrupted' }],
      ['cancelled by policy', { onInterruption: 'cancel' }, { type: 'interrupted' }],
      ['withdrawn', {}, { type: 'tool_call_cancelled', ids: ['c1'] }],
      ['withdrawn, though it delivers', { onInterruption: 'deliver' }, { type: 'tool_call_cancelled', ids: ['c1'] }],
    ])('%s: settled_late and onLate, once', async (__, options, event) => {
      const hand = handTools(options);
      const { emit, lifecycle, driverCalls } = await stage(hand);
      await emit(toolCall('c1', 'hand'), event);
      expect(hand.late).toEqual([]);
      settle(hand.code('c1'));
      await emit({ type: 'interrupted' }, { type: 'tool_call_cancelled', ids: ['c1'] });
      expect(hand.late).toEqual([[outcome, meta('c1')]]);
      expect(ofType(lifecycle, 'settled_late')).toEqual([told]);
      expect(driverCalls.map(({ method }) => method)).toEqual(['connect']);
    });

    it('timed out: onLate alone, once; the far side was told of the timeout', async () => {
      const hand = handTools({ timeoutMs: 50 });
      const { clock, emit, lifecycle, driverCalls } = await stage(hand);
      await emit(toolCall('c1', 'hand'));
      await clock.advance(50, quiet);
      expect(driverCalls.slice(1)).toMatchObject([{ method: 'sendToolResult', isError: true }]);
      settle(hand.code('c1'));
      await quiet();
      expect(hand.late).toEqual([[outcome, meta('c1')]]);
      expect(ofType(lifecycle, 'settled_late')).toEqual([]);
      expect(driverCalls).toHaveLength(2);
    });

    it('timed out, settled while the result is on its way: onLate, once', async () => {
      const hand = handTools({ timeoutMs: 50 });
      const { clock, emit, held: waiting, session } = await stage({ ...hand, hold: ['sendToolResult'] });
      await emit(toolCall('c1', 'hand'));
      await clock.advance(50, quiet);
      settle(hand.code('c1'));
      await quiet();
      expect(hand.late).toEqual([[outcome, meta('c1')]]);
      waiting[0]?.resolve();
      await quiet();
      expect(session.calls()).toEqual([{ id: 'c1', name: 'hand', state: 'completed' }]);
      expect(hand.late).toHaveLength(1);
    });

    it('ran when the session ended: onLate after `closed` too, nothing on lifecycle$', async () => {
      const hand = handTools();
      const { session, emit, lifecycle } = await stage(hand);
      await emit(toolCall('c1', 'hand'));
      await session.close();
      expect(await session.closed).toMatchObject({ calls: [{ id: 'c1', state: 'cancelled' }] });
      settle(hand.code('c1'));
      await quiet();
      expect(hand.late).toEqual([[outcome, meta('c1')]]);
      expect(ofType(lifecycle, 'settled_late')).toEqual([]);
    });

    it('was abandoned, and settles while closing: settled_late until `closed`', async () => {
      const hand = handTools();
      const { session, emit, lifecycle, held: waiting } = await stage({ ...hand, hold: ['close'] });
      await emit(toolCall('c1', 'hand'), toolCall('c2', 'hand'), { type: 'interrupted' });
      session.close();
      settle(hand.code('c1'));
      await quiet();
      waiting[0]?.resolve();
      await session.closed;
      settle(hand.code('c2'));
      await quiet();
      expect(ofType(lifecycle, 'settled_late')).toEqual([told]);
      expect(hand.late.map(([, call]) => call)).toEqual([meta('c1'), meta('c2')]);
    });
  });

  it('nobody is told late of what was published, or never ran', async () => {
    const hand = handTools({ needsApproval: (input) => (input as { ask?: boolean }).ask === true });
    const { session, emit, held: waiting } = await stage({ ...hand, hold: ['sendToolResult'], maxConcurrentTools: 3 });
    await emit(...['completed', 'rejected', 'unconfirmed'].map((id) => toolCall(id, 'hand')));
    await emit(toolCall('asks', 'hand', { ask: true }), toolCall('malformed', 'hand', 'x'));
    for (const id of ['completed', 'rejected', 'unconfirmed']) hand.code(id).resolve(id);
    await quiet();
    const publishing = new Map(waiting.map((call) => ['id' in call ? call.id : '', call]));
    publishing.get('completed')?.resolve();
    publishing.get('rejected')?.reject(new TypeError('no'));
    await emit({ type: 'interrupted' });
    await session.close();
    const states = Object.fromEntries(session.calls().map(({ id, state }) => [id, state]));
    expect(states).toEqual({
      completed: 'completed',
      rejected: 'rejected',
      unconfirmed: 'unconfirmed',
      asks: 'abandoned',
      malformed: 'unconfirmed',
    });
    expect(hand.late).toEqual([]);
  });
});

describe('calls()', () => {
  it('gives every call in order of admission and where it stands, before and after the end', async () => {
    const hand = handTools();
    const { session, emit } = await stage({ ...hand, maxConcurrentTools: 1 });
    expect(session.calls()).toEqual([]);
    await emit(toolCall('b', 'hand'), toolCall('a', 'hand'), toolCall('x', 'nobody', 'not JSON'));
    const stands = (): [string, CallState][] => session.calls().map(({ id, state }) => [id, state]);
    expect(stands()).toEqual([
      ['b', 'executing'],
      ['a', 'queued'],
      ['x', 'completed'],
    ]);
    hand.code('b').resolve('');
    await quiet();
    expect(stands().slice(0, 2)).toEqual([
      ['b', 'completed'],
      ['a', 'executing'],
    ]);
    session.calls().length = 0;
    expect(session.calls()).toHaveLength(3);
    await emit({ type: 'closed' });
    expect(stands().map(([, state]) => state)).toEqual(['completed', 'cancelled', 'completed']);
    expect(await session.closed).toEqual({ reason: 'far_side', calls: session.calls() });
    session.calls().length = 0;
    expect(session.calls()).toHaveLength(3);
  });

  it('ids may be any text', async () => {
    const hand = handTools();
    const { session, emit } = await stage(hand);
    const ids = ['__proto__', 'constructor', 'toString', ' ', '\u0000', '🌙', 'x'.repeat(10_000)];
    await emit(...ids.map((id) => toolCall(id, 'hand')));
    expect(session.calls().map(({ id }) => id)).toEqual(ids);
    for (const id of ids) hand.code(id).resolve('');
    await quiet();
    expect(session.calls().every(({ state }) => state === 'completed')).toBe(true);
  });
});

describe('signals', () => {
  const reasonOf = (context: ToolContext) => ({ aborted: context.signal.aborted, reason: context.signal.reason });

  it('a timeout aborts with a CallTimeoutError, at the moment it is due', async () => {
    const hand = handTools({ timeoutMs: 50 });
    const { clock, emit } = await stage(hand);
    await emit(toolCall('c1', 'hand'));
    const { signal } = hand.context('c1');
    await clock.advance(49, quiet);
    expect(signal.aborted).toBe(false);
    await clock.advance(1, quiet);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(CallTimeoutError);
    expect(signal.reason).toMatchObject({ code: 'call_timeout', callId: 'c1', timeoutMs: 50 });
  });

  it('an interruption aborts under policy cancel alone, with a CallInterruptedError', async () => {
    const cancel = handTools({ name: 'cancel', onInterruption: 'cancel' });
    const abandon = handTools({ name: 'abandon' });
    const deliver = handTools({ name: 'deliver', onInterruption: 'deliver' });
    const { emit } = await stage({ tools: [...cancel.tools, ...abandon.tools, ...deliver.tools] });
    await emit(toolCall('c', 'cancel'), toolCall('a', 'abandon'), toolCall('d', 'deliver'), { type: 'interrupted' });
    expect(reasonOf(cancel.context('c'))).toMatchObject({
      aborted: true,
      reason: { code: 'call_interrupted', callId: 'c' },
    });
    expect(cancel.context('c').signal.reason).toBeInstanceOf(CallInterruptedError);
    expect(abandon.context('a').signal.aborted).toBe(false);
    expect(deliver.context('d').signal.aborted).toBe(false);
  });

  it('a withdrawal aborts, whatever the policy, with a CallWithdrawnError', async () => {
    const hand = handTools({ onInterruption: 'deliver' });
    const { emit } = await stage(hand);
    await emit(toolCall('c1', 'hand'), toolCall('c2', 'hand'), { type: 'tool_call_cancelled', ids: ['c1', 'no such'] });
    expect(hand.context('c1').signal.reason).toBeInstanceOf(CallWithdrawnError);
    expect(hand.context('c1').signal.reason).toMatchObject({ code: 'call_withdrawn', callId: 'c1' });
    expect(hand.context('c2').signal.aborted).toBe(false);
  });

  it.each<[string, (on: Awaited<ReturnType<typeof stage>>) => unknown]>([
    ['host', ({ session }) => session.close()],
    ['far_side', ({ emit }) => emit({ type: 'closed' })],
    ['stream_ended', ({ far }) => far.end()],
  ])('the end (%s) aborts all code that runs, draining code too, with a SessionEndedError', async (reason, end) => {
    const hand = handTools();
    const on = await stage(hand);
    await on.emit(toolCall('drains', 'hand'), { type: 'interrupted' }, toolCall('runs', 'hand'));
    end(on);
    await quiet();
    for (const id of ['drains', 'runs']) {
      expect(hand.context(id).signal.reason).toBeInstanceOf(SessionEndedError);
      expect(hand.context(id).signal.reason).toMatchObject({ code: 'session_ended', reason });
    }
  });

  it('an abort of the host reaches code with the host’s exact reason', async () => {
    const abort = new AbortController();
    const hand = handTools();
    const { emit, driverCalls } = await stage({ ...hand, signal: abort.signal });
    await emit(toolCall('c1', 'hand'));
    const reason = { any: 'thing' };
    abort.abort(reason);
    expect(hand.context('c1').signal.reason).toBe(reason);
    const [connect] = driverCalls;
    expect(connect?.method === 'connect' && connect.params.signal?.reason).toBe(reason);
  });

  it('the first reason stays', async () => {
    const hand = handTools({ timeoutMs: 10 });
    const { session, clock, emit } = await stage(hand);
    await emit(toolCall('c1', 'hand'));
    await clock.advance(10, quiet);
    await emit({ type: 'tool_call_cancelled', ids: ['c1'] });
    await session.close();
    expect(hand.context('c1').signal.reason).toBeInstanceOf(CallTimeoutError);
  });

  it('signals of code that has settled are left alone', async () => {
    const hand = handTools({ onInterruption: 'cancel' });
    const { session, emit, held: waiting } = await stage({ ...hand, hold: ['sendToolResult'] });
    await emit(toolCall('published', 'hand'), toolCall('publishing', 'hand'), toolCall('failed', 'hand'));
    const signals = ['published', 'publishing', 'failed'].map((id) => hand.context(id).signal);
    hand.code('published').resolve('');
    await quiet();
    waiting[0]?.resolve();
    hand.code('publishing').resolve('');
    hand.code('failed').reject(new TypeError('no'));
    await quiet();
    await emit({ type: 'interrupted' }, { type: 'tool_call_cancelled', ids: ['published', 'publishing', 'failed'] });
    await session.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
  });

  it('are made when they are asked for, once; asked for late they are aborted already', async () => {
    const real = globalThis.AbortController;
    let made = 0;
    globalThis.AbortController = class extends real {
      constructor() {
        super();
        made++;
      }
    };
    try {
      const hand = handTools({ onInterruption: 'cancel' });
      const { session, emit } = await stage(hand);
      await emit(toolCall('c1', 'hand'), toolCall('c2', 'hand'), { type: 'interrupted' });
      expect(made).toBe(0);
      const { signal } = hand.context('c1');
      expect(made).toBe(1);
      expect(signal.reason).toBeInstanceOf(CallInterruptedError);
      expect(hand.context('c1').signal).toBe(signal);
      await session.close();
      expect(made).toBe(1);
    } finally {
      globalThis.AbortController = real;
    }
  });

  it('the lifetime signal is aborted just before the driver’s close, and on every end', async () => {
    const order: string[] = [];
    const far = scriptedProvider({
      onCall: (call, answer) => {
        if (call.method === 'connect') {
          call.params.signal?.addEventListener('abort', () => order.push('lifetime'));
        }
        if (call.method === 'close') order.push('close');
        answer.resolve();
      },
    });
    const session = await startSession({ provider: far, connect: { model: 'm' }, clock: new VirtualClock() });
    await session.close();
    expect(order).toEqual(['lifetime', 'close']);

    const { emit, driverCalls } = await stage();
    await emit({ type: 'closed' });
    const [connect] = driverCalls;
    // asked for after the end, it is aborted already
    expect(connect?.method === 'connect' && connect.params.signal).toMatchObject({
      aborted: true,
      reason: { reason: 'far_side' },
    });
  });
});

describe('what the host asks for after the end', () => {
  const acts: [string, (session: Session) => Promise<void>][] = [
    ['send', (session) => session.send({ type: 'text', text: 'a' })],
    ['interrupt', (session) => session.interrupt()],
    ['played', (session) => session.played(1)],
    ['approve', (session) => session.approve('c1')],
    ['deny', (session) => session.deny('c1')],
  ];

  it.each(acts)('%s: the exact abort reason, from the fence on', async (_, act) => {
    const abort = new AbortController();
    const { session, held: waiting } = await stage({ signal: abort.signal, hold: ['close'] });
    const reason = Symbol('enough');
    abort.abort(reason);
    expect(session.actor.getSnapshot().value).toBe('closing');
    expect(await outcomeOf(act(session))).toEqual({ error: reason });
    waiting[0]?.resolve();
    await session.closed;
    expect(await outcomeOf(act(session))).toEqual({ error: reason });
  });

  it.each(acts)('%s: otherwise a SessionEndedError that says why', async (_, act) => {
    const ends: [string, (on: Awaited<ReturnType<typeof stage>>) => unknown][] = [
      ['host', ({ session }) => session.close()],
      ['far_side', ({ emit }) => emit({ type: 'closed' })],
      ['stream_failed', ({ far }) => far.fail(new TypeError('cut'))],
      ['stream_ended', ({ far }) => far.end()],
      ['protocol_failure', ({ emit }) => emit({} as never)],
    ];
    for (const [reason, end] of ends) {
      const on = await stage();
      end(on);
      await on.session.closed;
      const outcome = await outcomeOf(act(on.session));
      expect(outcome).toEqual({ error: expect.any(SessionEndedError) });
      expect(outcome).toMatchObject({ error: { code: 'session_ended', reason, message: `session ended: ${reason}` } });
    }
  });

  it('what waits for the driver is refused at the end, interrupts and sends in the order asked', async () => {
    const { session, emit } = await stage({
      hold: ['send', 'played', 'interrupt'],
      driver: { interrupt: true, played: true },
    });
    const order: string[] = [];
    const refused = acts.slice(0, 3).map(([name, act]) =>
      act(session).catch((error: unknown) => {
        order.push(`${name}: ${(error as Error).message}`);
      }),
    );
    await emit({ type: 'closed' });
    await Promise.all(refused);
    expect(order).toEqual(['send', 'interrupt', 'played'].map((name) => `${name}: session ended: far_side`));
  });

  it('at the end pending interrupts are refused before pending closes, then `closed` resolves', async () => {
    const { session, held: waiting } = await stage({ hold: ['interrupt', 'close'], driver: { interrupt: true } });
    const order: string[] = [];
    session.closed.then(() => order.push('closed'));
    session.interrupt().catch(() => order.push('interrupt'));
    session.close().then(() => order.push('close'));
    session.close().then(() => order.push('close again'));
    await quiet();
    expect(order).toEqual([]);
    waiting[1]?.resolve();
    await quiet();
    expect(order).toEqual(['interrupt', 'close', 'close again', 'closed']);
  });

  it('close resolves', async () => {
    const { session, emit } = await stage();
    await emit({ type: 'closed' });
    expect(await outcomeOf(session.close())).toEqual({ value: undefined });
    expect(await outcomeOf(session.close())).toEqual({ value: undefined });
  });
});

describe('what the host asks for', () => {
  it('send reaches the driver as it stands', async () => {
    const { session, driverCalls } = await stage();
    await session.send({ type: 'text', text: 'hello' });
    await session.send({ type: 'audio', data: 'AA==', mediaType: 'audio/pcm' });
    expect(driverCalls.slice(1)).toEqual([
      { method: 'send', input: { type: 'text', text: 'hello' } },
      { method: 'send', input: { type: 'audio', data: 'AA==', mediaType: 'audio/pcm' } },
    ]);
  });

  it('interrupt reaches the driver each time; the next `interrupted` answers all', async () => {
    const { session, emit, driverCalls } = await stage({ driver: { interrupt: true } });
    const first = session.interrupt({ playedMs: 120 });
    const second = session.interrupt();
    expect(await isSettled(first)).toBe(false);
    expect(driverCalls.slice(1)).toEqual([{ method: 'interrupt', playedMs: 120 }, { method: 'interrupt' }]);
    await emit({ type: 'interrupted' });
    expect(await outcomeOf(Promise.all([first, second]))).toEqual({ value: [undefined, undefined] });
  });

  it('interrupt is not supported where the driver cannot; played is simply not wanted', async () => {
    const { session } = await stage();
    const outcome = await outcomeOf(session.interrupt());
    expect(outcome).toEqual({ error: expect.any(NotSupportedError) });
    expect(outcome).toMatchObject({ error: { code: 'not_supported', message: expect.stringContaining('scripted') } });
    expect(await outcomeOf(session.played(5))).toEqual({ value: undefined });
  });

  it('played reaches the driver', async () => {
    const { session, driverCalls } = await stage({ driver: { played: true } });
    await session.played(250.5);
    expect(driverCalls.at(-1)).toEqual({ method: 'played', ms: 250.5 });
  });

  it('approve and deny of a call that does not wait are refused, with its state; nothing changes', async () => {
    const hand = handTools({ needsApproval: (input) => (input as { ask?: boolean }).ask === true });
    const { session, emit } = await stage(hand);
    await emit(toolCall('runs', 'hand'), toolCall('asks', 'hand', { ask: true }), toolCall('bad', 'hand', 'x'));
    await session.approve('asks');
    for (const [id, found] of [
      ['runs', 'executing'],
      ['asks', 'executing'],
      ['bad', 'completed'],
      ['nobody', 'no such call'],
    ] as const) {
      for (const act of [session.approve(id), session.deny(id, 'no')]) {
        const outcome = await outcomeOf(act);
        expect(outcome).toEqual({ error: expect.any(CallNotWaitingError) });
        expect(outcome).toMatchObject({ error: { code: 'call_not_waiting', callId: id } });
        expect(String((outcome as { error: unknown }).error)).toContain(found);
      }
    }
    expect(session.calls().map(({ state }) => state)).toEqual(['executing', 'executing', 'completed']);
  });

  describe('with wrong arguments', () => {
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const thorny = new Proxy(
      {},
      {
        get() {
          throw new TypeError('thorny');
        },
      },
    );
    /** What no act takes, wherever it stands. */
    const junk = [revoked, thorny, Symbol('id'), 1n, Number.NaN, -1, true, null, [], () => {}, { type: 'text' }];

    /** Asks for everything with `wrong` in the place of an argument. */
    async function ask(session: Session, wrong: unknown) {
      const act = (call: (...args: never[]) => Promise<void>, ...args: unknown[]) =>
        call.apply(session, args as never[]);
      const promises = [
        act(session.send, wrong),
        act(session.send, { type: wrong }),
        act(session.send, { type: 'text', text: wrong }),
        act(session.send, { type: 'audio', data: '', mediaType: wrong }),
        act(session.played, wrong),
        act(session.approve, wrong),
        act(session.deny, wrong, 'no'),
        act(session.deny, 'c1', wrong === undefined ? null : wrong),
        act(session.interrupt, { playedMs: wrong === undefined ? null : wrong }),
        act(session.interrupt, typeof wrong === 'object' || wrong === undefined ? 7 : wrong),
      ];
      for (const promise of promises) {
        expect(promise).toBeInstanceOf(Promise);
        const outcome = await outcomeOf(promise);
        expect(outcome).toEqual({ error: expect.any(InvalidInputError) });
        expect(String((outcome as { error: unknown }).error)).toMatch(/invalid .*expected .*found/);
      }
    }

    it('nothing throws at once; all is refused and reaches nobody', async () => {
      const { session, driverCalls } = await stage({ driver: { interrupt: true, played: true } });
      for (const wrong of junk) await ask(session, wrong);
      const anything = fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withSparseArray: true });
      await fc.assert(
        fc.asyncProperty(
          anything.filter((value) => typeof value !== 'string' && !(typeof value === 'number' && value >= 0)),
          (wrong) => ask(session, wrong),
        ),
      );
      expect(driverCalls).toHaveLength(1);
      expect(session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
      await session.close();
    });
  });

  it('a rejection that nobody looks at does no harm', async () => {
    const { session } = await stage();
    session.approve('nobody');
    session.interrupt();
    session.send(undefined as never);
    await session.close();
    session.send({ type: 'text', text: 'too late' });
    await quiet();
    expect(watch.harm).toEqual([]);
  });
});

describe('closed', () => {
  it('is one promise, asked for before or after the end, and never rejects', async () => {
    const { session, emit } = await stage();
    const before = session.closed;
    expect(session.closed).toBe(before);
    await emit({ type: 'closed', reason: 'good night' });
    expect(await before).toEqual({ reason: 'far_side', message: 'good night', calls: [] });
    expect(await session.closed).toBe(await before);

    const other = await stage();
    await other.emit({ type: 'closed' });
    expect(await other.session.closed).toEqual({ reason: 'far_side', calls: [] });
  });

  it('the first cause wins: reason and message', async () => {
    const abort = new AbortController();
    const { session, emit, held: waiting } = await stage({ signal: abort.signal, hold: ['close'] });
    await emit({ type: 'text' } as never);
    abort.abort(new TypeError('later'));
    session.close();
    await emit({ type: 'closed', reason: 'later still' });
    waiting[0]?.resolve();
    expect(await session.closed).toMatchObject({
      reason: 'protocol_failure',
      message: expect.stringContaining('text'),
    });
  });

  it('says what became of every call', async () => {
    const hand = handTools({ needsApproval: (input) => (input as { ask?: boolean }).ask === true });
    const { session, emit, held: waiting } = await stage({ ...hand, hold: ['sendToolResult'], maxConcurrentTools: 3 });
    await emit(
      toolCall('abandoned', 'hand'),
      { type: 'interrupted' },
      toolCall('completed', 'hand'),
      toolCall('unconfirmed', 'hand'),
      toolCall('runs', 'hand'),
      toolCall('queued', 'hand'),
      toolCall('asks', 'hand', { ask: true }),
    );
    hand.code('completed').resolve('');
    hand.code('unconfirmed').resolve('');
    await quiet();
    waiting[0]?.resolve();
    await quiet();
    await session.close();
    const report = await session.closed;
    expect(report).toMatchObject({ reason: 'host' });
    expect(report.calls.map(({ id, name, state }) => `${id} ${name} ${state}`)).toEqual([
      'abandoned hand abandoned',
      'completed hand completed',
      'unconfirmed hand unconfirmed',
      'runs hand cancelled',
      // it had got a freed place
      'queued hand cancelled',
      'asks hand cancelled',
    ]);
  });

  it('every close() shares one outcome', async () => {
    const { session, held: waiting, driverCalls } = await stage({ hold: ['close'] });
    const closes = [session.close(), session.close(), session.close()].map(outcomeOf);
    await quiet();
    waiting[0]?.reject(new TypeError('no way out'));
    const outcomes = await Promise.all(closes);
    expect(outcomes).toEqual(Array(3).fill({ error: new TypeError('no way out') }));
    expect(driverCalls.filter(({ method }) => method === 'close')).toHaveLength(1);
  });

  it('is bounded by closeTimeoutMs, but for 0', async () => {
    const bounded = await stage({ hold: ['close'], closeTimeoutMs: 20 });
    const closing = outcomeOf(bounded.session.close());
    await bounded.clock.advance(20, quiet);
    const outcome = await closing;
    expect(outcome).toEqual({ error: expect.any(SessionCloseTimeoutError) });
    expect(outcome).toMatchObject({ error: { code: 'session_close_timeout', timeoutMs: 20 } });
    expect(await bounded.session.closed).toMatchObject({ reason: 'host' });

    const unbounded = await stage({ hold: ['close'], closeTimeoutMs: 0 });
    unbounded.session.close();
    await unbounded.clock.advance(2 ** 31, quiet);
    expect(await isSettled(unbounded.session.closed)).toBe(false);
    unbounded.held[0]?.resolve();
    await unbounded.session.closed;
  });

  it('closes with `await using`', async () => {
    const { session } = await stage();
    {
      await using closing = session;
      expect(closing.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    }
    expect(session.actor.getSnapshot().value).toBe('closed');
    expect(session[Symbol.asyncDispose]).toBeTypeOf('function');
    await session[Symbol.asyncDispose]();
  });

  it('a tool that closes its own session does not deadlock (D11)', async () => {
    const late: unknown[] = [];
    let signal: AbortSignal | undefined;
    const session: { current?: Session } = {};
    const tool = defineTool({
      name: 'hang_up',
      description: '',
      input: {},
      execute: async (_, context) => {
        signal = context.signal;
        await session.current?.close();
        return 'goodbye';
      },
      onLate: (outcome) => {
        late.push(outcome);
      },
    });
    const on = await stage({ tools: [tool] });
    session.current = on.session;
    const { seen, ended } = readAll(on.session);
    await on.emit(toolCall('c1', 'hang_up'));
    await ended;
    expect(await on.session.closed).toEqual({
      reason: 'host',
      calls: [{ id: 'c1', name: 'hang_up', state: 'cancelled' }],
    });
    await quiet();
    expect(signal?.reason).toBeInstanceOf(SessionEndedError);
    expect(late).toEqual([{ status: 'resolved', value: 'goodbye' }]);
    expect(seen.map(({ type }) => type)).toEqual(['tool_started']);
    expect(on.driverCalls.map(({ method }) => method)).toEqual(['connect', 'close']);
  });

  it('a tool that waits for `closed` or for its own approval is no deadlock either', async () => {
    const tool = defineTool({ name: 'waits', description: '', input: {}, execute: () => session.current?.closed });
    const session: { current?: Session } = {};
    const on = await stage({ tools: [tool] });
    session.current = on.session;
    await on.emit(toolCall('c1', 'waits'));
    await on.session.close();
    expect(await on.session.closed).toMatchObject({ reason: 'host' });
  });
});

describe('the start', () => {
  const good: SessionOptions = { provider: scriptedProvider(), connect: { model: 'm' } };
  const tool = defineTool({ name: 'a', description: '', input: {}, execute: () => '' });
  let connects = 0;
  const counting = {
    id: 'counting',
    connect: () => {
      connects++;
      return new Promise<never>(() => {});
    },
  };

  it.each<[string, Record<string, unknown>, new (...args: never[]) => Error, string]>([
    ['no provider', { provider: undefined }, TypeError, 'provider'],
    ['a provider without connect', { provider: {} }, TypeError, 'provider'],
    ['no connect', { connect: undefined }, TypeError, 'connect'],
    ['no model', { connect: {} }, TypeError, 'model'],
    ['tools that are none', { tools: [{ name: 'x' }] }, TypeError, 'defineTool'],
    ['two tools of one name', { tools: [tool, tool] }, TypeError, 'a'],
    ['a session id that is none', { sessionId: 'sess-1' }, InvalidIdError, 'ses_'],
    ['a turn id that is none', { turnId: '' }, InvalidIdError, 'turn_'],
    ['a signal that is none', { signal: {} }, TypeError, 'signal'],
    ['a clock that is none', { clock: { now: () => 0 } }, TypeError, 'clock'],
    ['an inspector that is none', { inspect: 'console' }, TypeError, 'inspect'],
    ['a flag that is none', { dropUnreadAudio: 1 }, TypeError, 'dropUnreadAudio'],
    ['a negative time', { closeTimeoutMs: -1 }, RangeError, 'closeTimeoutMs'],
    ['a time beyond timers', { connectTimeoutMs: 2 ** 31 }, RangeError, 'connectTimeoutMs'],
    ['half a millisecond', { publishTimeoutMs: 0.5 }, RangeError, 'publishTimeoutMs'],
    ['a time that is no number', { closeTimeoutMs: '5' }, RangeError, 'closeTimeoutMs'],
    ['no places', { maxConcurrentTools: 0 }, RangeError, 'maxConcurrentTools'],
    ['no open calls', { maxOpenCalls: 0 }, RangeError, 'maxOpenCalls'],
    ['no buffer', { maxBufferedEvents: 0 }, RangeError, 'maxBufferedEvents'],
    ['a buffer that is no number', { maxBufferedEvents: Number.NaN }, RangeError, 'maxBufferedEvents'],
  ])('%s: rejects, and nothing was connected', async (_, wrong, error, words) => {
    connects = 0;
    const options = { ...good, ...('provider' in wrong ? {} : { provider: counting }), ...wrong };
    const outcome = await outcomeOf(startSession(options as never));
    expect(outcome).toEqual({ error: expect.any(error) });
    expect(String((outcome as { error: unknown }).error)).toContain(words);
    expect(connects).toBe(0);
  });

  it.each([undefined, null, 1, 'options'])('%s instead of options rejects with a TypeError', async (options) => {
    expect(await outcomeOf(startSession(options as never))).toEqual({ error: expect.any(TypeError) });
  });

  it('a signal that is aborted already: rejects with its exact reason, connect is not called', async () => {
    connects = 0;
    const reason = { because: 'too late' };
    const outcome = await outcomeOf(startSession({ ...good, provider: counting, signal: AbortSignal.abort(reason) }));
    expect((outcome as { error: unknown }).error).toBe(reason);
    expect(connects).toBe(0);
  });

  /** A session whose connection waits. */
  function connecting(options: Partial<SessionOptions> = {}) {
    const clock = new VirtualClock();
    const methods: string[] = [];
    const answers: { resolve(): void; reject(error: unknown): void }[] = [];
    const provider = scriptedProvider({
      onCall: (call, answer) => {
        methods.push(call.method);
        if (call.method === 'connect') answers.push(answer);
        else answer.resolve();
      },
    });
    const { session, started } = openSession({ connect: { model: 'm' }, ...options, provider, clock });
    const outcome = outcomeOf(started);
    return { session, started: outcome, clock, methods, connect: answers[0] as (typeof answers)[number] };
  }

  it('an abort while connecting: start rejects at once with the exact reason; a late session is closed', async () => {
    const abort = new AbortController();
    const { session, started, methods, connect } = connecting({ signal: abort.signal });
    const reason = new TypeError('changed my mind');
    abort.abort(reason);
    expect(await started).toEqual({ error: reason });
    expect(session.actor.getSnapshot().value).toBe('closing');
    connect.resolve();
    expect(await session.closed).toEqual({ reason: 'aborted', calls: [] });
    expect(methods).toEqual(['connect', 'close']);
  });

  it('a close while connecting: start rejects with a ConnectAbortedError', async () => {
    const { session, started, methods, connect } = connecting();
    const closing = outcomeOf(session.close());
    const outcome = await started;
    expect(outcome).toEqual({ error: expect.any(ConnectAbortedError) });
    expect(outcome).toMatchObject({ error: { code: 'connect_aborted' } });
    connect.reject(new TypeError('down'));
    expect(await closing).toEqual({ value: undefined });
    expect(await session.closed).toEqual({ reason: 'host', calls: [] });
    expect(methods).toEqual(['connect']);
  });

  it('a connect that takes too long: ConnectTimeoutError, closed with connect_failed, a late session is closed', async () => {
    const { session, started, clock, methods, connect } = connecting({ connectTimeoutMs: 100 });
    await clock.advance(100, quiet);
    const outcome = await started;
    expect(outcome).toEqual({ error: expect.any(ConnectTimeoutError) });
    expect(outcome).toMatchObject({ error: { code: 'connect_timeout', timeoutMs: 100 } });
    expect(await session.closed).toMatchObject({ reason: 'connect_failed' });
    connect.resolve();
    await quiet();
    expect(methods).toEqual(['connect', 'close']);
  });

  it('a connect that fails: start rejects with the driver’s own error, closed with connect_failed', async () => {
    const { session, started, connect } = connecting();
    const error = new TypeError('refused');
    connect.reject(error);
    expect(await started).toEqual({ error });
    expect(await session.closed).toEqual({ reason: 'connect_failed', message: 'refused', calls: [] });
  });

  it('acts while connecting are refused; nothing reaches the driver', async () => {
    const { session, methods, connect } = connecting();
    for (const act of [session.send({ type: 'text', text: 'a' }), session.interrupt(), session.approve('c')]) {
      expect(await outcomeOf(act)).toEqual({ error: expect.any(NotSupportedError) });
    }
    connect.resolve();
    await quiet();
    expect(methods).toEqual(['connect']);
    await session.close();
  });

  it('mints ids of the right shape, each once', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => stage()));
    const ids = sessions.flatMap(({ session }) => [session.sessionId, session.turnId]);
    expect(new Set(ids).size).toBe(40);
    for (const id of ids) expect(id).toMatch(/^(ses|turn)_[A-Za-z0-9_-]+$/);
  });
});

describe('errors', () => {
  it('are known by a brand and by a code of a closed list', () => {
    const all: [Error & { code: ErrorCode }, ErrorCode][] = [
      [new CallInterruptedError('c'), 'call_interrupted'],
      [new CallNotWaitingError('c', 'executing'), 'call_not_waiting'],
      [new CallTimeoutError('c', 1), 'call_timeout'],
      [new CallWithdrawnError('c'), 'call_withdrawn'],
      [new ConnectAbortedError(), 'connect_aborted'],
      [new ConnectTimeoutError(1), 'connect_timeout'],
      [new InvalidIdError('an id', 1), 'invalid_id'],
      [new InvalidInputError('input', 'a text', 1), 'invalid_input'],
      [new NotSupportedError('a', 'b'), 'not_supported'],
      [new SessionCloseTimeoutError(1), 'session_close_timeout'],
      [new SessionEndedError('host'), 'session_ended'],
    ];
    for (const [error, code] of all) {
      expect(isCommitpointError(error)).toBe(true);
      expect(error.code).toBe(code);
      expect(error.name).toBe(error.constructor.name);
      expect(Object.keys(error)).not.toContain('message');
    }
    expect(isCommitpointError(new TypeError('no'))).toBe(false);
    expect(isCommitpointError(null)).toBe(false);
    expect(isCommitpointError({ code: 'session_ended' })).toBe(false);
  });
});
