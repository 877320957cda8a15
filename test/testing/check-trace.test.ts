/** The trace checker: silent about legal runs, and telling a fault by its right number. Numbers as in `docs/design/duplex.md` §4. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import { printTraceLine } from '../../src/scenario/print.js';
import type { ScenarioHeader, TimelineEntry, TraceLine } from '../../src/scenario/scenario.js';
import { violationsOf } from '../../src/testing/check-trace.js';
import { simulate } from '../../src/testing/simulate.js';
import { expectedRun, given } from '../scenario/given.js';
import * as t from './runs.js';

const ownFolder = fileURLToPath(new URL('../scenarios/', import.meta.url));
const own = (existsSync(ownFolder) ? readdirSync(ownFolder) : [])
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => ({ name, scenario: parseScenario(readFileSync(`${ownFolder}${name}`, 'utf8'), name) }));

/** The run up to a step, for every step. */
function* beginnings({ header, entries }: t.Run): Iterable<t.Run> {
  for (const [index, entry] of entries.entries())
    if ('step' in entry) yield { header, entries: entries.slice(0, index) };
}

function expectSilence(run: t.Run, name: string): void {
  expect(violationsOf(run.entries, run.header), name).toEqual([]);
  for (const { header, entries } of beginnings(run)) expect(violationsOf(entries, header), name).toEqual([]);
}

// ── legal runs ──

const tools: NonNullable<ScenarioHeader['tools']> = {
  look: {},
  search: { onInterruption: 'cancel' },
  order: { onInterruption: 'deliver' },
  pay: { needsApproval: true },
  slow: { timeoutMs: 100 },
  strict: { input: { type: 'object', required: ['city'] } },
  quick: { result: 'ok' },
};

/** One interruption finds every policy, an unstarted call and a publishing one; the host closes. */
const mixed = t.tell(
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
const inputs = t.tell(
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
const paused = t.tell(
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
const farSideCloses = t.tell(
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
const lateConnection = t.tell(
  { provider: { holdConnect: true, holdClose: true } },
  [t.connect],
  [{ host: 'abort', reason: 'enough' }, t.refused('start', 'enough')],
  [{ clock: 1_000 }],
  [{ connect: 'resolve' }, t.driverClose],
  [{ clock: 4_000 }, t.closed('aborted')],
);

/** Two places, and room for two calls. */
const crowded = t.tell(
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
const backlog = t.tell(
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
const durable = t.tell(
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

const legal = { mixed, inputs, paused, farSideCloses, lateConnection, crowded, backlog, durable };

describe('says nothing about legal runs', () => {
  for (const [name, run] of Object.entries(legal)) test(`${name}, wherever it stops`, () => expectSilence(run, name));

  test.skipIf(given.length === 0)('the given cases as they are written, wherever they stop', () => {
    for (const { name, scenario } of given) {
      expectSilence({ header: scenario.header, entries: expectedRun(scenario) }, name);
    }
  });

  test('our own scenarios as they run, wherever they stop', async () => {
    expect(own.length).toBeGreaterThan(0);
    for (const { name, scenario } of own) {
      const { entries } = await simulate(scenario, name);
      expectSilence({ header: scenario.header, entries }, name);
    }
  });

  test('a run of nothing', () => {
    expect(violationsOf([], {})).toEqual([]);
  });
});

// ── faults ──

const callsOf = ({ entries }: t.Run) => {
  const line = entries.flatMap((entry) => ('line' in entry && 'closed' in entry.line ? [entry.line] : []))[0];
  if (line === undefined) throw new RangeError('the run has no `closed`');
  return line;
};

/** `closed` with one call said to have ended otherwise, or, without a state, not named. */
function ended(run: t.Run, id: string, state?: string): t.Change {
  const line = callsOf(run) as Extract<TraceLine, { closed: unknown }>;
  const calls = new Map(line.closed.calls);
  if (state === undefined) calls.delete(id);
  else calls.set(id, state);
  return t.replace(line, { closed: { reason: line.closed.reason, calls } });
}

const because = (run: t.Run, reason: Extract<TraceLine, { closed: unknown }>['closed']['reason']): t.Change => {
  const line = callsOf(run) as Extract<TraceLine, { closed: unknown }>;
  return t.replace(line, { closed: { reason, calls: line.closed.calls } });
};

const faults: readonly [expected: string, what: string, run: t.Run, change: t.Change][] = [
  ['D1: the start of call t1 was not given', 'a call without tool_started', mixed, t.drop(t.started('t1', 'look'))],
  ['D1: call t1 was reported as started, a second', 'tool_started twice', mixed, t.twice(t.started('t1', 'look'))],
  [
    'D1: call t9 was reported as started, which',
    'tool_started of nobody',
    mixed,
    t.after(t.heard('b'), t.started('t9', 'look')),
  ],
  [
    'D1: call t4 is completed, the host was not told',
    'no tool_completed',
    mixed,
    t.drop(t.completed('t4', 'look', 'seen')),
  ],
  [
    'D1: the end of call t4 was reported twice',
    'tool_completed twice',
    mixed,
    t.twice(t.completed('t4', 'look', 'seen')),
  ],
  [
    'D1: call t3 was reported as completed, its result was never sent',
    'completed without a publish',
    mixed,
    t.after(t.heard('b'), t.completed('t3', 'order', 'x')),
  ],
  [
    'D1: call t9 was reported as completed, which',
    'tool_completed of nobody',
    mixed,
    t.after(t.heard('b'), t.completed('t9', 'look', 'x')),
  ],
  [
    'D1: call t4 was reported as completed with another result',
    'another output than was sent',
    mixed,
    t.replace(t.completed('t4', 'look', 'seen'), t.completed('t4', 'look', 'other')),
  ],
  [
    'D1: call t4 was reported as completed with another result',
    'another isError than was sent',
    mixed,
    t.replace(t.completed('t4', 'look', 'seen'), t.completed('t4', 'look', 'seen', true)),
  ],
  [
    'D1: call t7 was reported as completed, the trace says that it is publishing',
    'completed before the far side accepted',
    mixed,
    t.after(t.result('t7', 'x'), t.completed('t7', 'order', 'x')),
  ],
  [
    'D1: the abandonment of call t3 was not given',
    'a withdrawal that nobody is told of',
    mixed,
    t.drop(t.abandoned('t3', 'order')),
  ],
  ['D1: call t1 was reported as abandoned a second', 'tool_abandoned twice', mixed, t.twice(t.abandoned('t1', 'look'))],
  [
    'D1: `closed` says that call t1 is completed',
    'an abandoned call ends as completed',
    mixed,
    ended(mixed, 't1', 'completed'),
  ],
  ['D1: `closed` says that call t8 is executing', 'a call without an outcome', mixed, ended(mixed, 't8', 'executing')],
  ['D1: `closed` does not name call t8', 'a call that the end forgets', mixed, ended(mixed, 't8')],
  ['D1: `closed` names call t9, which', 'a call that nobody asked for', mixed, ended(mixed, 't9', 'cancelled')],
  [
    'D1: `closed` names the calls in another order',
    'calls out of order',
    mixed,
    t.both(ended(mixed, 't1'), (entries) => ended({ header: {}, entries }, 't1', 'abandoned')(entries)),
  ],
  [
    'D1: call t1 is rejected, the host was not told',
    'a refusal that nobody is told of',
    farSideCloses,
    t.drop(t.error('t1: refused')),
  ],
  [
    'D1: call t2 is unconfirmed, the host was not told',
    'a result without an answer that nobody is told of',
    farSideCloses,
    t.drop(t.error('t2: no answer')),
  ],
  [
    'D1: `closed` says that call t2 is completed',
    'an answer that came too late counts',
    farSideCloses,
    ended(farSideCloses, 't2', 'completed'),
  ],
  [
    'D1: `closed` says that call t4 is completed',
    'an unanswered call ends as completed',
    farSideCloses,
    ended(farSideCloses, 't4', 'completed'),
  ],
  [
    'D1: the code of call t4 settled late',
    'code that settled in time settles late',
    mixed,
    t.after(t.heard('b'), t.late('t4')),
  ],
  ['D1: the code of call t2 settled late twice', 'late twice', mixed, t.twice(t.late('t2', 'rejected'))],

  ['D2: call t1 was executed twice', 'two executions', mixed, t.twice(t.executes('t1', { q: 1 }))],
  ['D2: call t4 was published twice', 'two publishes', mixed, t.twice(t.result('t4', 'seen'))],
  [
    'D2: call t6 was executed after it had been abandoned',
    'execution after abandonment',
    mixed,
    t.after(t.heard('b'), t.executes('t6')),
  ],
  [
    'D2: call t1 was published after it had been abandoned',
    'publish after abandonment',
    mixed,
    t.after(t.heard('b'), t.result('t1', 'x')),
  ],
  [
    'D2: call t8 was published after the end',
    'publish after a local close',
    mixed,
    t.after({ tool: 't8', resolve: 'x' }, t.result('t8', 'x')),
  ],
  [
    'D2: call t3 was published after the end',
    'publish after the far side closed',
    farSideCloses,
    t.after({ tool: 't3', resolve: 'x' }, t.result('t3', 'x')),
  ],
  [
    'D2: call t6 was executed after the end',
    'execution after the end',
    inputs,
    t.after(callsOf(inputs), t.executes('t6')),
  ],
  ['D2: code ran for call t9', 'code of nobody', mixed, t.after(t.heard('b'), t.executes('t9'))],
  ['D2: a result was sent for call t9', 'a result of nobody', mixed, t.after(t.heard('b'), t.result('t9', 'x'))],
  [
    'D2: call t4 was published while its code ran',
    'a result before the code settled',
    mixed,
    t.after(t.executes('t4'), t.result('t4', 'x')),
  ],
  [
    'D2: call t5 was published without having been executed',
    'a result of code that did not run',
    inputs,
    t.drop(t.executes('t5')),
  ],

  [
    'D3: the abandonment of call t1 did not come before',
    'an interruption that abandons nothing',
    mixed,
    t.drop(t.abandoned('t1', 'look')),
  ],
  [
    'D3: call t3 was abandoned by an interruption though its policy is deliver',
    'deliver is abandoned',
    mixed,
    t.after(t.stub('t2'), t.abandoned('t3', 'order')),
  ],
  [
    'D3: call t6 was started though an interruption had abandoned it',
    'unstarted code starts after the interruption',
    mixed,
    t.after(t.heard('b'), t.executes('t6')),
  ],
  [
    'D3: call t8 was reported as abandoned, nothing had',
    'abandoned without a cause',
    mixed,
    t.after(t.executes('t8'), t.abandoned('t8', 'look')),
  ],
  [
    'D3: the abandonment of call t1 did not come before',
    'abandonments out of order',
    mixed,
    t.swap(t.abandoned('t1', 'look'), t.abandoned('t2', 'search')),
  ],

  [
    'D4: call t7 was reported as abandoned after its commit point',
    'an interruption recalls a result',
    mixed,
    t.after({ tool: 't7', resolve: 'x' }, t.result('t7', 'x'), t.abandoned('t7', 'order')),
  ],
  [
    'D4: `closed` says that call t7 is abandoned',
    'a committed call ends as abandoned',
    mixed,
    ended(mixed, 't7', 'abandoned'),
  ],
  [
    'D4: `closed` says that call t4 is abandoned',
    'a completed call ends as abandoned',
    mixed,
    ended(mixed, 't4', 'abandoned'),
  ],

  [
    'D5: the signal of call t1 fired without a reason',
    'an interruption aborts under policy abandon',
    mixed,
    t.after(t.abandoned('t1', 'look'), t.aborted('t1')),
  ],
  [
    'D5: the signal of call t3 fired without a reason',
    'an interruption aborts under policy deliver',
    mixed,
    t.after(t.aborted('t2'), t.aborted('t3')),
  ],
  ['D5: the signal of call t2 did not fire', 'policy cancel aborts nothing', mixed, t.drop(t.aborted('t2'))],
  ['D5: the signal of call t3 did not fire', 'a withdrawal aborts nothing', mixed, t.drop(t.aborted('t3'))],
  ['D5: the signal of call t8 did not fire', 'the end leaves code alone', mixed, t.drop(t.aborted('t8'))],
  ['D5: the signal of call t1 did not fire', 'the end leaves draining code alone', mixed, t.drop(t.aborted('t1'))],
  ['D5: the signal of call t2 fired twice', 'a signal twice', mixed, t.twice(t.aborted('t2'))],
  [
    'D5: the signal of call t4 fired after its code had settled',
    'a signal of settled code',
    mixed,
    t.after(t.aborted('t8'), t.aborted('t4')),
  ],
  [
    'D5: a signal fired for call t6, which runs no code',
    'a signal of code that never started',
    mixed,
    t.after(t.aborted('t8'), t.aborted('t6')),
  ],
  [
    'D5: the signal of call t8 fired after the driver had been closed',
    'a signal after the driver was closed',
    mixed,
    t.swap(t.aborted('t8'), t.driverClose),
  ],
  [
    'D5: the signal of call t8 fired without a reason',
    'a timeout before its time',
    inputs,
    t.both(t.drop(t.aborted('t8')), t.after(t.executes('t8'), t.aborted('t8'))),
  ],

  [
    'D6: there was the signal of call t8',
    'turn_complete aborts',
    mixed,
    t.both(t.drop(t.turnComplete), t.after(t.completion, t.turnComplete, t.aborted('t8'))),
  ],
  [
    'D6: there was `tool_abandoned` of call t3',
    'turn_complete abandons',
    mixed,
    t.after(t.turnComplete, t.abandoned('t3', 'order')),
  ],
  ['D6: there was abandonToolCall of call t3', 'turn_complete stubs', mixed, t.after(t.turnComplete, t.stub('t3'))],

  ['D7: the text "a" of the far side was not given', 'a text is lost', mixed, t.drop(t.heard('a'))],
  [
    'D7: the host was given the text "a", which the far side had not sent',
    'a text is repeated',
    mixed,
    t.twice(t.heard('a')),
  ],
  [
    'D7: the `interrupted` of the far side did not come before',
    'an interruption is lost',
    mixed,
    t.drop(t.interrupted),
  ],
  ['D7: the `turn_complete` of the far side was not given', 'a completion is lost', mixed, t.drop(t.turnComplete)],
  ['D7: the host was given the error "x"', 'an error is made up', mixed, t.after(t.heard('a'), t.error('x'))],
  [
    'D7: the text "a" of the far side did not come before',
    'waiting events are reordered',
    paused,
    t.swap(t.heard('a'), t.interrupted),
  ],
  ['D7: the text "b" of the far side did not come before', 'a waiting event is lost', paused, t.drop(t.heard('b'))],
  [
    'D7: the host was given `audio`',
    'dropped audio comes all the same',
    paused,
    t.after(t.heard('a'), { event: { type: 'audio', data: 'AA', mediaType: 'm' } }),
  ],
  [
    'D7: the error that tells of the end was not given',
    'an overflow that nobody is told of',
    paused,
    t.drop(t.error('overflow')),
  ],
  [
    'D7: the error that tells of the end was not given',
    'a failed stream that nobody is told of',
    crowded,
    t.drop(t.error('gone')),
  ],
  [
    'D7: the `closed` of the far side was not given',
    'the last event is lost',
    farSideCloses,
    t.drop({ event: { type: 'closed', reason: 'bye' } }),
  ],
  [
    'D7: the session ended with overflow though',
    'an overflow of a host that reads',
    mixed,
    t.both(t.after(t.heard('a'), t.driverClose, t.closed('overflow'))),
  ],

  [
    'D9: the host was given the text "ghost" after the end',
    'an event after a local close',
    mixed,
    t.after(t.said('ghost'), t.heard('ghost')),
  ],
  [
    'D9: the host was given `closed` after the end',
    'an event after closed',
    farSideCloses,
    t.after({ event: { type: 'closed', reason: 'bye' } }, { event: { type: 'closed', reason: 'bye' } }),
  ],
  [
    "D9: the driver's send was called after the end",
    'input after the end',
    mixed,
    t.after(t.refused('send', 'session ended: host'), { provider: 'send', input: { type: 'text', text: 'x' } }),
  ],
  [
    'D9: the driver was given the result of call t8',
    'a result after the end',
    mixed,
    t.after({ tool: 't8', resolve: 'x' }, t.result('t8', 'x')),
  ],
  [
    'D9: abandonToolCall was called for t8 after the end',
    'a stub after the end',
    mixed,
    t.after({ tool: 't8', resolve: 'x' }, t.stub('t8')),
  ],
  [
    'D9: the host was given `tool_completed` of call t7',
    'a completion after the end',
    mixed,
    t.after({ publish: 't7', accept: true }, t.completed('t7', 'order', 'x')),
  ],
  [
    'D9: the late end of the code of call t1',
    'a late end after closed',
    mixed,
    t.after({ tool: 't1', resolve: 'x' }, t.late('t1')),
  ],

  ['D10: the driver was closed 2 times', 'the driver is closed twice', mixed, t.twice(t.driverClose)],
  ['D10: the session ended, the driver was not closed', 'the driver is not closed', mixed, t.drop(t.driverClose)],
  [
    'D10: the driver was closed though the far side had closed',
    'a close after the far side closed',
    farSideCloses,
    t.after(t.aborted('t3'), t.driverClose),
  ],
  [
    'D10: the session ended, the driver was not closed',
    'a late connection is left open',
    lateConnection,
    t.drop(t.driverClose),
  ],
  [
    'D10: the driver was closed though there was no connection',
    'a close before there is a connection',
    lateConnection,
    t.after(t.refused('start', 'enough'), t.driverClose),
  ],

  ['D11: `closed` resolved twice', 'closed twice', mixed, t.twice(callsOf(mixed))],
  ['D11: the session ended and nothing held it up', 'closed never', mixed, t.drop(callsOf(mixed))],
  [
    'D11: the session ended, `closed` did not resolve within 5000 ms',
    'closed not in time',
    lateConnection,
    t.drop(callsOf(lateConnection)),
  ],
  [
    'D11: `closed` resolved before the driver was closed',
    'closed too early',
    mixed,
    t.both(t.drop(callsOf(mixed)), t.after({ host: 'close' }, callsOf(mixed))),
  ],
  [
    'D11: `closed` resolved though nothing had ended',
    'closed without an end',
    mixed,
    t.after(t.heard('a'), t.closed('host')),
  ],
  ['D11: the reason is aborted, the first cause was host', 'another reason', mixed, because(mixed, 'aborted')],
  [
    'D11: the reason is overflow, the first cause was far_side',
    'the second cause',
    farSideCloses,
    because(farSideCloses, 'overflow'),
  ],
  [
    'D11: the reason is overflow, nothing of the kind',
    'a failed flush called an overflow',
    durable,
    because(durable, 'overflow'),
  ],

  [
    'D12: call t1 was executed though its arguments are no JSON',
    'malformed arguments reach code',
    inputs,
    t.after(t.started('t1', 'look'), t.executes('t1')),
  ],
  [
    'D12: call t2 was executed though its schema refuses',
    'refused input reaches code',
    inputs,
    t.after(t.started('t2', 'strict'), t.executes('t2')),
  ],
  [
    'D12: call t3 was executed though there is no such tool',
    'a tool that is not there',
    inputs,
    t.after(t.started('t3', 'nope'), t.executes('t3')),
  ],
  [
    'D12: call t4 was executed though it was denied',
    'a denied call runs',
    inputs,
    t.after({ host: 'deny', id: 't4', message: 'no' }, t.executes('t4')),
  ],
  [
    'D12: call t6 was executed before it was approved',
    'an unapproved call runs',
    inputs,
    t.after(t.turnComplete, t.executes('t6')),
  ],
  [
    'D12: call t1 was executed with another input',
    'another input',
    mixed,
    t.replace(t.executes('t1', { q: 1 }), t.executes('t1', { q: 2 })),
  ],
  [
    'D12: call t2 got no error result though its schema',
    'refused input gets no answer',
    inputs,
    t.both(t.drop(t.result('t2', 'city', true)), t.drop(t.completed('t2', 'strict', 'city', true))),
  ],
  [
    'D12: call t4 got no error result though it was denied',
    'a denied call gets no answer',
    inputs,
    t.both(t.drop(t.result('t4', 'no', true)), t.drop(t.completed('t4', 'pay', 'no', true))),
  ],
  [
    'D12: call t1 got a result that is no error',
    'malformed arguments get a good answer',
    inputs,
    t.replace(t.result('t1', 'no JSON', true), t.result('t1', 'no JSON')),
  ],

  [
    'D13: the repeat of call t7 was executed',
    'a repeat runs',
    inputs,
    t.after(t.error('t7: identical'), t.executes('t7')),
  ],
  [
    'D13: the repeat of call t7 was answered',
    'a repeat is answered',
    inputs,
    t.after(t.error('t7: identical'), t.result('t7', 'ok')),
  ],
  [
    'D13: the error that tells of the end was not given',
    'a repeat that nobody is told of',
    inputs,
    t.drop(t.error('t7: identical')),
  ],

  [
    'D15: call t3 was executed though 2 calls were open',
    'more open calls than there may be',
    crowded,
    t.both(
      t.drop(t.result('t3', 'too many', true)),
      t.drop(t.completed('t3', 'look', 'too many', true)),
      t.after(t.started('t3', 'look'), t.executes('t3')),
    ),
  ],
  [
    'D15: 2 calls executed at once, maxConcurrentTools is 1',
    'more code than there are places',
    crowded,
    t.after(t.started('t2', 'look'), t.executes('t2')),
  ],
  ['D15: 5 events waited, maxBufferedEvents is 3', 'more events than fit', paused, t.after(t.heard('b'), t.heard('x'))],

  ['D16: abandonToolCall was not called for t1', 'no stub', mixed, t.drop(t.stub('t1'))],
  ['D16: abandonToolCall was called 2 times for t1', 'two stubs', mixed, t.twice(t.stub('t1'))],
  [
    'D16: abandonToolCall was called for t3, which no interruption',
    'a stub for a withdrawn call',
    mixed,
    t.after(t.aborted('t3'), t.stub('t3')),
  ],
  [
    'D16: abandonToolCall was called for t3, which no interruption',
    'a stub for a call that goes on',
    mixed,
    t.after(t.stub('t2'), t.stub('t3')),
  ],
  [
    'D16: abandonToolCall was called for t9, which was never',
    'a stub for nobody',
    mixed,
    t.after(t.heard('b'), t.stub('t9')),
  ],
  [
    'D16: abandonToolCall was called on a driver that has none',
    'a stub for a driver without',
    backlog,
    t.after(t.abandoned('t1', 'look'), t.stub('t1')),
  ],
];

describe('tells a fault by its number', () => {
  test.each(faults)('%s (%s)', (expected, _what, { header, entries }, change) => {
    const found = violationsOf(change(entries), header);
    expect(
      found.filter((finding) => finding.startsWith(expected)),
      found.join('\n'),
    ).not.toHaveLength(0);
  });

  test('of every invariant that leaves a mark', () => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16].map((number) => `D${number}`);
    expect(new Set(faults.map(([expected]) => expected.split(':')[0]))).toEqual(new Set(numbers));
  });

  test('in a summary as in `closed`', () => {
    const run = t.tell({ tools }, [t.connect], [t.call('t1', 'look'), t.started('t1', 'look'), t.executes('t1')]);
    const with_ = (state: string, of: string) =>
      violationsOf([...run.entries, { at: 0, line: t.summary(state, { t1: of }) }], run.header);
    expect(with_('open.responding', 'executing')).toEqual([]);
    expect(with_('open.responding', 'queued')).toEqual([
      'D1: the summary says that call t1 is queued, the trace that it is running',
    ]);
    expect(with_('open.responding', 'completed')).toHaveLength(1);
    expect(with_('closed', 'executing')).toEqual([
      'D11: the summary says that the session is closed, the trace that it is open',
    ]);
  });
});

// ── any line of any given case ──

/** Lines that no invariant of §4 asks for: nobody but an `expect` misses them. */
const unasked = /^\{"provider":"(connect|send|interrupt)"|^\{"host":|"settled_late":|^\{"summary":/;

const linesOf = (entries: readonly TimelineEntry[]) =>
  entries.flatMap((entry, index) => ('line' in entry ? [[index, printTraceLine(entry.line)] as const] : []));

describe.skipIf(given.length === 0)('in the given cases', () => {
  test('no line can be left out that an invariant asks for', () => {
    const unnoticed: string[] = [];
    for (const { name, scenario } of given) {
      const entries = expectedRun(scenario);
      for (const [index, text] of linesOf(entries)) {
        const found = violationsOf(entries.toSpliced(index, 1), scenario.header);
        if (found.length === 0 && !unasked.test(text)) unnoticed.push(`${name}: ${text}`);
      }
    }
    // Code that never settles leaves nothing that shows whether it ran.
    expect(unnoticed).toEqual(['hanging-tool-delays-no-event: {"tool":"t1","execute":{}}']);
  });

  test('no line can come twice', () => {
    const mayComeTwice = /^\{"provider":"(connect|send|interrupt)"|^\{"host":|^\{"summary":/;
    const unnoticed: string[] = [];
    for (const { name, scenario } of given) {
      const entries = expectedRun(scenario);
      for (const [index, text] of linesOf(entries)) {
        const doubled = entries.toSpliced(index, 0, entries[index] as TimelineEntry);
        if (violationsOf(doubled, scenario.header).length === 0 && !mayComeTwice.test(text))
          unnoticed.push(`${name}: ${text}`);
      }
    }
    expect(unnoticed).toEqual([]);
  });
});
