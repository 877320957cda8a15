/** How a session closes: `close()`, `closed` and what they say (duplex page, §5). */
import { describe, expect, it } from 'vitest';
import { SessionCloseTimeoutError, SessionEndedError } from '../../src/contract/errors.js';
import { defineTool, type Session } from '../../src/runtime/index.js';
import { handTools } from './hand-tools.js';
import { expectNoHarm } from './no-harm.js';
import { isSettled, outcomeOf, quiet, readAll, stage, toolCall } from './stage.js';

expectNoHarm();

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
