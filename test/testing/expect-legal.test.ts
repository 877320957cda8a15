import { describe, expect, test } from 'vitest';
import {
  asSessionId,
  asTurnId,
  type BidiTurnEvent,
  IllegalOrderError,
  isCommitpointError,
} from '../../src/contract/index.js';
import type { TraceEvent } from '../../src/scenario/scenario.js';
import { expectLegal } from '../../src/testing/expect-legal.js';
import { expectedRun, given } from '../scenario/given.js';

const ids = { sessionId: asSessionId('ses_a'), turnId: asTurnId('turn_a') };
const withIds = (event: TraceEvent): BidiTurnEvent => ({ ...event, ...ids }) as BidiTurnEvent;

const text = withIds({ type: 'text', text: 'a' });
const closed = withIds({ type: 'closed', reason: 'bye' });
const interrupted = withIds({ type: 'interrupted' });
const started = (id: string, name = 'look') => withIds({ type: 'tool_started', toolUseId: id, toolName: name });
const abandoned = (id: string, name = 'look') => withIds({ type: 'tool_abandoned', toolUseId: id, toolName: name });
const completed = (id: string, name = 'look') =>
  withIds({ type: 'tool_completed', toolUseId: id, toolName: name, output: 'x', isError: false });

function problemsOf(...events: unknown[]): readonly string[] {
  try {
    expectLegal(events as BidiTurnEvent[]);
  } catch (error) {
    if (error instanceof IllegalOrderError) return error.problems;
    throw error;
  }
  return [];
}

describe('is silent about', () => {
  test.each<[string, BidiTurnEvent[]]>([
    ['nothing', []],
    [
      'a conversation',
      [text, started('t1'), interrupted, abandoned('t1'), text, started('t2'), completed('t2'), closed],
    ],
    ['a call that ends with an error', [started('t1'), withIds({ type: 'error', message: 't1 was refused' }), text]],
    ['a withdrawal, which has no event of its own', [started('t1'), abandoned('t1')]],
    ['a recording that stops early', [started('t1')]],
    ['calls that overlap', [started('t1'), started('t2'), completed('t2'), completed('t1')]],
  ])('%s', (_what, events) => {
    expect(() => expectLegal(events)).not.toThrow();
  });

  test.skipIf(given.length === 0)('the given cases', () => {
    for (const { name, scenario } of given) {
      const events = expectedRun(scenario).flatMap((entry) =>
        'line' in entry && 'event' in entry.line ? [entry.line.event] : [],
      );
      expect(() => expectLegal(events.map(withIds)), name).not.toThrow();
    }
  });
});

describe('tells', () => {
  test.each<[string, unknown[], string[]]>([
    ['a completion without a start', [completed('t1')], ['event 0: tool_completed of t1 without tool_started']],
    ['an abandonment without a start', [text, abandoned('t1')], ['event 1: tool_abandoned of t1 without tool_started']],
    ['two starts', [started('t1'), started('t1')], ['event 1: tool_started of t1, which had started before']],
    [
      'two ends',
      [started('t1'), abandoned('t1'), completed('t1')],
      ['event 2: tool_completed of t1 after its tool_abandoned'],
    ],
    [
      'a start after an end',
      [started('t1'), completed('t1'), started('t1')],
      ['event 2: tool_started of t1, which had started before'],
    ],
    [
      'another name',
      [started('t1'), completed('t1', 'book')],
      ['event 1: tool_completed of t1: expected toolName look, found book'],
    ],
    [
      'what follows closed',
      [closed, text, closed],
      ['event 1: text after closed (event 0)', 'event 2: closed after closed (event 0)'],
    ],
    ['another session', [text, { ...text, sessionId: 'ses_b' }], ['event 1: expected sessionId ses_a, found ses_b']],
    ['another turn', [text, { ...text, turnId: 'turn_b' }], ['event 1: expected turnId turn_a, found turn_b']],
    [
      'what is no event',
      [null, 5, {}, { ...text, type: 'toString' }],
      [
        'event 0: expected an event, found null',
        'event 1: expected an event, found 5',
        'event 2: expected a known type, found undefined',
        'event 3: expected a known type, found toString',
      ],
    ],
    ['a field of another type', [{ ...text, text: 5 }], ['event 0: text: expected text to be a string, found number']],
    [
      'a missing id',
      [{ type: 'interrupted', sessionId: 'ses_a' }],
      ['event 0: interrupted: expected turnId to be a string, found undefined'],
    ],
  ])('%s', (_what, events, problems) => {
    expect(problemsOf(...events)).toEqual(problems);
  });

  test('a session that was not closed, where all was to be there', () => {
    expect(() => expectLegal([text, closed], { complete: true })).not.toThrow();
    expect(() => expectLegal([text], { complete: true })).toThrow('end: expected closed, found none');
  });

  test('all that is wrong in one error of the family', () => {
    try {
      expectLegal([completed('t1'), closed, text]);
      expect.unreachable();
    } catch (error) {
      expect(isCommitpointError(error)).toBe(true);
      expect(error).toMatchObject({
        code: 'illegal_order',
        message:
          'illegal order of events: event 0: tool_completed of t1 without tool_started; event 2: text after closed (event 1)',
      });
    }
  });
});
