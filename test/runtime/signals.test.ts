/** When the signals of code and of the connection abort, and with which reason (duplex page, §1, §5). */
import { describe, expect, it } from 'vitest';
import {
  CallInterruptedError,
  CallTimeoutError,
  CallWithdrawnError,
  SessionEndedError,
} from '../../src/contract/errors.js';
import type { ToolContext } from '../../src/contract/tool.js';
import { startSession } from '../../src/runtime/index.js';
import { scriptedProvider, VirtualClock } from '../../src/testing/index.js';
import { handTools } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { quiet, stage, toolCall } from './stage.js';

expectNoHarm();

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
