/** Faults in what becomes of calls: D1 to D6 of `docs/design/duplex.md` §4. */
import { callsOf, ended, type Fault } from './faults.js';
import { farSideCloses, inputs, mixed } from './legal-runs.js';
import * as t from './runs.js';

/** Each names the finding that it must bring: D1 to D6. */
export const callFaults: readonly Fault[] = [
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
];
