/**
 * `onLate` (duplex.md §1): told once how the code of a call ended whose outcome
 * was not published, whatever kept it from being published.
 */
import { describe, expect, test } from 'vitest';
import type { LateOutcome } from '../../src/contract/tool.js';
import { defineTool } from '../../src/runtime/index.js';
import { openSession } from '../../src/runtime/start-session.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';

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
  const { session } = openSession(
    { provider: far, tools: [look], connect: { model: 'scripted' }, clock },
    { durable: options.durable, flush: () => new Promise((resolve) => flushes.push(() => resolve(undefined))) },
  );
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
      flushes.shift()?.();
      await quiet();
    },
  };
}

describe('an outcome that was ready to be published and was not', () => {
  test('is told when an interruption finds the call committing', async () => {
    const run = opened({ durable: true });
    await run.call('t1');
    await run.settle('t1', 'booked');
    expect(run.stateOf('t1')).toBe('committing');
    expect(run.heard).toEqual([]);
    await run.emit({ type: 'interrupted' });
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'booked' } }]);
    await run.flush();
    await run.session.close();
    expect(run.heard).toHaveLength(1);
  });

  test('is told when the far side withdraws the call while it is committing', async () => {
    const run = opened({ durable: true });
    const error = new TypeError('no room');
    await run.call('t1');
    await run.fail('t1', error);
    await run.emit({ type: 'tool_call_cancelled', ids: ['t1'] });
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'rejected', error } }]);
  });

  test('is told when the session ends while the call is committing', async () => {
    const run = opened({ durable: true });
    await run.call('t1');
    await run.settle('t1', 'booked');
    await run.session.close();
    expect(run.stateOf('t1')).toBe('cancelled');
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'booked' } }]);
  });
});

describe('an outcome that came too late', () => {
  test('is told once, though the call is abandoned after its timeout while committing', async () => {
    const run = opened({ durable: true, timeoutMs: 100 });
    await run.call('t1');
    await run.clock.advance(100, quiet);
    expect(run.stateOf('t1')).toBe('committing');
    await run.settle('t1', 'late');
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'late' } }]);
    await run.emit({ type: 'interrupted' });
    expect(run.stateOf('t1')).toBe('abandoned');
    await run.session.close();
    expect(run.heard).toHaveLength(1);
  });

  test('is told after `closed` too', async () => {
    const run = opened({ durable: false });
    await run.call('t1');
    await run.session.close();
    await run.session.closed;
    await run.settle('t1', 'late');
    expect(run.heard).toEqual([{ id: 't1', outcome: { status: 'resolved', value: 'late' } }]);
  });
});

test('an outcome that was published is told to nobody', async () => {
  const run = opened({ durable: true });
  await run.call('t1');
  await run.settle('t1', 'booked');
  await run.flush();
  expect(run.stateOf('t1')).toBe('completed');
  await run.emit({ type: 'interrupted' });
  await run.session.close();
  expect(run.heard).toEqual([]);
});
