/** Faults in what a session tells and bounds, and in how it ends: D7 to D16 of `docs/design/duplex.md` §4. */
import { because, callsOf, type Fault } from './faults.js';
import { backlog, crowded, durable, farSideCloses, inputs, lateConnection, mixed, paused } from './legal-runs.js';
import * as t from './runs.js';

/** Each names the finding that it must bring: D7 to D16. */
export const sessionFaults: readonly Fault[] = [
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
