/**
 * `onLate` (duplex.md §1): told once how the code of a call ended whose outcome
 * was not published, whatever kept it from being published.
 */
import { describe, expect, it } from 'vitest';
import type { BidiEvent } from '../../src/contract/provider.js';
import type { LateOutcome, ToolDefinition } from '../../src/contract/tool.js';
import { defineTool } from '../../src/runtime/index.js';
import { openSession } from '../../src/runtime/start-session.js';
import { HandJournal } from '../../src/testing/hand-journal.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { handTools, ofType } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { type Held, quiet, stage, toolCall } from './stage.js';

expectNoHarm();

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

interface Heard {
  readonly id: string;
  readonly outcome: LateOutcome;
}

/** A session whose records become durable by hand, with one tool that reads and whose code ends by hand. */
function opened(options: { readonly durable: boolean; readonly timeoutMs?: number }) {
  const heard: Heard[] = [];
  const code = new Map<string, { resolve(value: unknown): void; reject(error: unknown): void }>();
  const flushes: (() => void)[] = [];
  const clock = new VirtualClock();
  const far = scriptedProvider();
  const look = defineTool({
    name: 'look',
    description: 'reads',
    input: { type: 'object' },
    effect: 'read',
    timeoutMs: options.timeoutMs ?? 0,
    execute: (_input, { toolUseId }) =>
      new Promise((resolve, reject) => {
        code.set(toolUseId, { resolve, reject });
      }),
    onLate: (outcome, { id }) => heard.push({ id, outcome }),
  });
  const { session } = openSession({
    provider: far,
    tools: [look],
    connect: { model: 'scripted' },
    clock,
    journal: new HandJournal(options.durable, () => new Promise((resolve) => flushes.push(resolve))),
  });
  const emit = async (event: Parameters<typeof far.emit>[0]) => {
    far.emit(event);
    await quiet();
  };
  return {
    session,
    clock,
    heard,
    emit,
    stateOf: (id: string) => session.calls().find((call) => call.id === id)?.state,
    call: (id: string) => emit({ type: 'tool_call', id, name: 'look', arguments: '{}' }),
    async settle(id: string, value: unknown) {
      code.get(id)?.resolve(value);
      await quiet();
    },
    async fail(id: string, error: unknown) {
      code.get(id)?.reject(error);
      await quiet();
    },
    async flush() {
      for (const flush of flushes.splice(0)) flush();
      await quiet();
    },
  };
}

describe('an outcome that was ready to be published and was not', () => {
  it('is told when an interruption finds the call committing', async () => {
    const run = opened({ durable: true });
    await run.call('t1');
    await run.settle('t1', 'booked');
    expect(run.stateOf('t1')).toBe('committing');
    expect(run.heard).toEqual([]);
    await run.emit({ type: 'interrupted' });
    // a recovery must not tell it again: first its record is durable
    expect(run.heard).toEqual([]);
    await run.flush();
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'booked' } }]);
    await run.session.close();
    expect(run.heard).toHaveLength(1);
  });

  it('is told when the far side withdraws the call while it is committing', async () => {
    const run = opened({ durable: true });
    const error = new TypeError('no room');
    await run.call('t1');
    await run.fail('t1', error);
    await run.emit({ type: 'tool_call_cancelled', ids: ['t1'] });
    await run.flush();
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'rejected', error } }]);
  });

  it('is told when the session ends while the call is committing', async () => {
    const run = opened({ durable: true });
    await run.call('t1');
    await run.settle('t1', 'booked');
    await run.session.close();
    expect(run.stateOf('t1')).toBe('cancelled');
    await run.flush();
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'booked' } }]);
  });
});

describe('an outcome that came too late', () => {
  it('is told once, though the call is abandoned after its timeout while committing', async () => {
    const run = opened({ durable: true, timeoutMs: 100 });
    await run.call('t1');
    await run.clock.advance(100, quiet);
    expect(run.stateOf('t1')).toBe('committing');
    await run.settle('t1', 'late');
    await run.emit({ type: 'interrupted' });
    expect(run.stateOf('t1')).toBe('abandoned');
    await run.flush();
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'late' } }]);
    await run.session.close();
    expect(run.heard).toHaveLength(1);
  });

  it('is told after `closed` too', async () => {
    const run = opened({ durable: false });
    await run.call('t1');
    await run.session.close();
    await run.session.closed;
    await run.settle('t1', 'late');
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'late' } }]);
  });
});

it('an outcome that was published is told to nobody', async () => {
  const run = opened({ durable: true });
  await run.call('t1');
  await run.settle('t1', 'booked');
  await run.flush();
  expect(run.stateOf('t1')).toBe('completed');
  await run.emit({ type: 'interrupted' });
  await run.session.close();
  expect(run.heard).toEqual([]);
});
