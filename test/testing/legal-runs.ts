/** Legal runs that between them show every rule, for the trace checker to be silent about and for faults to be made in. */
import type { ScenarioHeader } from '../../src/scenario/scenario.js';
import * as t from './runs.js';

/** One tool for every policy. */
export const tools: NonNullable<ScenarioHeader['tools']> = {
  look: {},
  search: { onInterruption: 'cancel' },
  order: { onInterruption: 'deliver' },
  pay: { needsApproval: true },
  slow: { timeoutMs: 100 },
  strict: { input: { type: 'object', required: ['city'] } },
  quick: { result: 'ok' },
};

/** One interruption finds every policy, an unstarted call and a publishing one; the host closes. */
export const mixed = t.tell(
  {
    tools,
    options: { maxConcurrentTools: 4 },
    provider: { holdPublish: true, holdClose: true, abandonToolCall: true },
  },
  [t.connect],
  [t.said('a'), t.heard('a')],
  [t.call('t1', 'look', '{"q":1}'), t.started('t1', 'look'), t.executes('t1', { q: 1 })],
  [t.call('t2', 'search'), t.started('t2', 'search'), t.executes('t2')],
  [t.call('t3', 'order'), t.started('t3', 'order'), t.executes('t3')],
  [t.call('t4', 'look'), t.started('t4', 'look'), t.executes('t4')],
  [t.call('t5', 'look'), t.started('t5', 'look')],
  [{ tool: 't4', resolve: 'seen' }, t.result('t4', 'seen'), t.executes('t5')],
  [t.call('t6', 'look'), t.started('t6', 'look')],
  [
    t.interruption,
    t.interrupted,
    t.abandoned('t1', 'look'),
    t.stub('t1'),
    t.abandoned('t2', 'search'),
    t.aborted('t2'),
    t.stub('t2'),
    t.abandoned('t5', 'look'),
    t.stub('t5'),
    t.abandoned('t6', 'look'),
    t.stub('t6'),
  ],
  [t.completion, t.turnComplete],
  [{ publish: 't4', accept: true }, t.completed('t4', 'look', 'seen')],
  [t.far({ type: 'tool_call_cancelled', ids: ['t3', 't4'] }), t.abandoned('t3', 'order'), t.aborted('t3')],
  [{ tool: 't2', reject: 'x' }, t.late('t2', 'rejected')],
  [t.said('b'), t.heard('b')],
  [t.call('t7', 'order'), t.started('t7', 'order'), t.executes('t7')],
  [{ tool: 't7', resolve: 'x' }, t.result('t7', 'x')],
  [t.interruption, t.interrupted],
  [t.call('t8', 'look'), t.started('t8', 'look'), t.executes('t8')],
  [{ host: 'close' }, t.aborted('t1'), t.aborted('t5'), t.aborted('t8'), t.driverClose],
  [{ host: 'send', input: { type: 'text', text: 'x' } }, t.refused('send', 'session ended: host')],
  [t.said('ghost')],
  [{ publish: 't7', accept: true }],
  [{ tool: 't8', resolve: 'x' }],
  [
    { close: 'resolve' },
    t.closed('host', {
      t1: 'abandoned',
      t2: 'abandoned',
      t3: 'abandoned',
      t4: 'completed',
      t5: 'abandoned',
      t6: 'abandoned',
      t7: 'unconfirmed',
      t8: 'cancelled',
    }),
  ],
  [{ tool: 't1', resolve: 'x' }],
);

/** Input that must reach no code, and a decision of the host on each of three calls. */
export const inputs = t.tell(
  { tools },
  [t.connect],
  [
    t.call('t1', 'look', '{bad'),
    t.started('t1', 'look'),
    t.result('t1', 'no JSON', true),
    t.completed('t1', 'look', 'no JSON', true),
  ],
  [
    t.call('t2', 'strict', '{}'),
    t.started('t2', 'strict'),
    t.result('t2', 'city', true),
    t.completed('t2', 'strict', 'city', true),
  ],
  [
    t.call('t3', 'nope'),
    t.started('t3', 'nope'),
    t.result('t3', 'nope', true),
    t.completed('t3', 'nope', 'nope', true),
  ],
  [t.call('t4', 'pay'), t.started('t4', 'pay')],
  [t.call('t5', 'pay'), t.started('t5', 'pay')],
  [t.call('t6', 'pay'), t.started('t6', 'pay')],
  [{ host: 'deny', id: 't4', message: 'no' }, t.result('t4', 'no', true), t.completed('t4', 'pay', 'no', true)],
  [{ host: 'approve', id: 't5' }, t.executes('t5')],
  [{ host: 'approve', id: 't5' }, t.refused('approve', 'call t5 does not wait')],
  [{ tool: 't5', resolve: 'paid' }, t.result('t5', 'paid'), t.completed('t5', 'pay', 'paid')],
  [
    t.call('t7', 'quick'),
    t.started('t7', 'quick'),
    t.executes('t7'),
    t.result('t7', 'ok'),
    t.completed('t7', 'quick', 'ok'),
  ],
  [t.call('t8', 'slow'), t.started('t8', 'slow'), t.executes('t8')],
  [{ clock: 100 }, t.aborted('t8'), t.result('t8', 'too slow', true), t.completed('t8', 'slow', 'too slow', true)],
  [t.completion, t.turnComplete],
  [
    t.call('t7', 'quick'),
    t.error('t7: identical'),
    t.driverClose,
    t.closed('protocol_failure', {
      t1: 'completed',
      t2: 'completed',
      t3: 'completed',
      t4: 'completed',
      t5: 'completed',
      t6: 'cancelled',
      t7: 'completed',
      t8: 'completed',
    }),
  ],
);

/** A host that pauses, with a small buffer, until it overflows. */
export const paused = t.tell(
  { tools, options: { maxBufferedEvents: 3, dropUnreadAudio: true } },
  [t.connect],
  [{ host: 'pause' }],
  [t.said('a')],
  [t.far({ type: 'audio', data: 'AA', mediaType: 'm' })],
  [t.interruption],
  [{ host: 'resume' }, t.heard('a'), t.interrupted],
  [{ host: 'pause' }],
  [t.said('b')],
  [t.call('t1', 'quick'), t.executes('t1'), t.result('t1', 'ok')],
  [t.said('c'), t.driverClose, t.closed('overflow', { t1: 'completed' })],
  [{ host: 'resume' }, t.heard('b'), t.started('t1', 'quick'), t.completed('t1', 'quick', 'ok'), t.error('overflow')],
);

/** The far side closes; one result is out, one refused, one was never answered. */
export const farSideCloses = t.tell(
  { tools, options: { publishTimeoutMs: 50 }, provider: { holdPublish: true } },
  [t.connect],
  [t.call('t1', 'look'), t.started('t1', 'look'), t.executes('t1')],
  [t.call('t2', 'look'), t.started('t2', 'look'), t.executes('t2')],
  [t.call('t3', 'look'), t.started('t3', 'look'), t.executes('t3')],
  [{ tool: 't1', resolve: 'x' }, t.result('t1', 'x')],
  [{ publish: 't1', reject: 'no' }, t.error('t1: refused')],
  [{ tool: 't2', resolve: 'x' }, t.result('t2', 'x')],
  [{ clock: 50 }, t.error('t2: no answer')],
  [{ publish: 't2', accept: true }],
  [t.call('t4', 'look'), t.started('t4', 'look'), t.executes('t4')],
  [{ tool: 't4', resolve: 'x' }, t.result('t4', 'x')],
  [
    t.far({ type: 'closed', reason: 'bye' }),
    { event: { type: 'closed', reason: 'bye' } },
    t.aborted('t3'),
    t.closed('far_side', { t1: 'rejected', t2: 'unconfirmed', t3: 'cancelled', t4: 'unconfirmed' }),
  ],
  [{ tool: 't3', resolve: 'x' }],
);

/** An abort while connecting; the connection comes too late. */
export const lateConnection = t.tell(
  { provider: { holdConnect: true, holdClose: true } },
  [t.connect],
  [{ host: 'abort', reason: 'enough' }, t.refused('start', 'enough')],
  [{ clock: 1_000 }],
  [{ connect: 'resolve' }, t.driverClose],
  [{ clock: 4_000 }, t.closed('aborted')],
);

/** Two places, and room for two calls. */
export const crowded = t.tell(
  { tools, options: { maxConcurrentTools: 1, maxOpenCalls: 2 } },
  [t.connect],
  [t.call('t1', 'look'), t.started('t1', 'look'), t.executes('t1')],
  [t.call('t2', 'look'), t.started('t2', 'look')],
  [
    t.call('t3', 'look'),
    t.started('t3', 'look'),
    t.result('t3', 'too many', true),
    t.completed('t3', 'look', 'too many', true),
  ],
  [{ tool: 't1', resolve: 'x' }, t.result('t1', 'x'), t.executes('t2'), t.completed('t1', 'look', 'x')],
  [t.call('t4', 'look'), t.started('t4', 'look')],
  [
    { far_stream: 'fail', message: 'gone' },
    t.error('gone'),
    t.aborted('t2'),
    t.driverClose,
    t.closed('stream_failed', { t1: 'completed', t2: 'cancelled', t3: 'completed', t4: 'cancelled' }),
  ],
);

/** What came before the connection is handled in one go when it is there. */
export const backlog = t.tell(
  { tools, provider: { holdConnect: true } },
  [t.connect],
  [t.said('a')],
  [t.call('t1', 'look')],
  [t.interruption],
  [t.call('t2', 'search')],
  [
    { connect: 'resolve' },
    t.heard('a'),
    t.started('t1', 'look'),
    t.executes('t1'),
    t.interrupted,
    t.abandoned('t1', 'look'),
    t.started('t2', 'search'),
    t.executes('t2'),
  ],
  [
    { far_stream: 'end' },
    t.error('ended'),
    t.aborted('t1'),
    t.aborted('t2'),
    t.driverClose,
    t.closed('stream_ended', { t1: 'abandoned', t2: 'cancelled' }),
  ],
);

/** A durable journal whose flushes wait; one fails. */
export const durable = t.tell(
  { tools, journal: { durable: true, holdFlush: true } },
  [t.connect],
  [t.call('t1', 'look'), t.started('t1', 'look')],
  [{ flush: 'resolve' }, t.executes('t1')],
  [{ tool: 't1', resolve: 'x' }],
  [t.call('t2', 'look', '{bad'), t.started('t2', 'look')],
  [t.interruption, t.interrupted, t.abandoned('t1', 'look'), t.abandoned('t2', 'look')],
  [t.call('t3', 'look'), t.started('t3', 'look')],
  [
    { flush: 'reject', message: 'disk' },
    t.error('disk'),
    t.driverClose,
    t.closed('journal_failed', { t1: 'abandoned', t2: 'abandoned', t3: 'cancelled' }),
  ],
);

/** All of them, by name. */
export const legal = { mixed, inputs, paused, farSideCloses, lateConnection, crowded, backlog, durable };
