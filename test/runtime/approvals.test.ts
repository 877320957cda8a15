/** Calls that wait for the host’s word (duplex page, §1). */
import { describe, expect, it } from 'vitest';
import { CallNotWaitingError } from '../../src/contract/errors.js';
import { handTools, ofType, path } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { outcomeOf, quiet, stage, toolCall } from './stage.js';

expectNoHarm();

describe('approvals', () => {
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
});
