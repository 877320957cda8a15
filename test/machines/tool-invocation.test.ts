/**
 * The invariants at the head of `tool-invocation.machine.ts`, held against every
 * history: all snapshots that a call can come to are walked, for every policy
 * and every way of writing ahead.
 */
import { describe, expect, test } from 'vitest';
import {
  type CallEventType,
  type CallRules,
  type CallSnapshot,
  callEvents,
  callStateOf,
  callStepper,
  type Effect,
} from '../../machines/index.js';
import { everyRules, reachableCalls, typesOf, walk } from './reachable.js';

const outcomes = ['completed', 'rejected', 'unconfirmed', 'abandoned', 'cancelled'];
const beforeCommitPoint = ['admitted', 'awaiting_approval', 'queued', 'starting', 'executing', 'committing'];

const isDecided = (snapshot: CallSnapshot) => outcomes.includes(callStateOf(snapshot));

/** Whether nothing is stepped any more: XState has stopped, or the call was let go. */
const isOver = ({ status, value }: CallSnapshot) =>
  status !== 'active' || (typeof value !== 'string' && value.abandoned === 'settled');

const because = (effects: readonly Effect[]) =>
  effects.filter(({ type }) => type === 'abortSignal').map(({ params }) => (params as { because: string }).because);

function titleOf({ policy, writeStart, writePublish }: CallRules): string {
  const journal = writeStart
    ? 'start and publish written ahead'
    : writePublish
      ? 'publish written ahead'
      : 'no journal';
  return `${policy}, ${journal}`;
}

describe.each(everyRules.map((rules) => ({ title: titleOf(rules), rules })))('a call ($title)', ({ rules }) => {
  const { initial, snapshots, edges } = reachableCalls(rules);
  const { policy, writeStart, writePublish } = rules;

  test('T1: an outcome is never left, and from everywhere one is reached', () => {
    for (const { from, event, to } of edges) {
      if (isDecided(from)) expect(callStateOf(to), `${callStateOf(from)} at ${event}`).toBe(callStateOf(from));
    }
    for (const snapshot of snapshots) {
      const ended = callStepper.step(snapshot, 'session_ended').snapshot;
      expect(isDecided(ended), `${callStateOf(snapshot)} when the session ends`).toBe(true);
    }
    const reached = new Set(snapshots.filter(isDecided).map(callStateOf));
    expect(reached).toEqual(new Set(outcomes));
  });

  test.each(['execute', 'publish'])('T2: %s is asked for at most once', (effect) => {
    interface Asked {
      readonly snapshot: CallSnapshot;
      readonly times: number;
    }
    const states = walk<Asked>(
      { snapshot: initial, times: 0 },
      ({ snapshot, times }) => `${JSON.stringify([snapshot.value, snapshot.context])} ${times}`,
      ({ snapshot, times }) =>
        callEvents.map((event) => {
          const stepped = callStepper.step(snapshot, event);
          const more = typesOf(stepped.effects).filter((type) => type === effect).length;
          return { snapshot: stepped.snapshot, times: Math.min(times + more, 2) };
        }),
    );
    expect(new Set(states.map(({ times }) => times))).toEqual(new Set([0, 1]));
  });

  test('T3: an interruption abandons what is before the commit point, unless it is delivered', () => {
    let met = 0;
    for (const { from, event, to, effects } of edges) {
      if (event !== 'interrupted' || !beforeCommitPoint.includes(callStateOf(from))) continue;
      met++;
      if (policy === 'deliver') {
        expect(to).toBe(from);
        expect(effects).toEqual([]);
      } else {
        expect(callStateOf(to)).toBe('abandoned');
        expect(typesOf(effects)).toContain('reportAbandoned');
      }
    }
    expect(met).toBeGreaterThan(0);
  });

  test('T3: code that had not started when the call was abandoned never starts', () => {
    for (const { from, event, effects } of edges) {
      if (isDecided(from)) expect(typesOf(effects), `${callStateOf(from)} at ${event}`).not.toContain('execute');
    }
  });

  test("T4: in `publishing` only the far side's answer, its absence and the end of the session count", () => {
    const counts: CallEventType[] = ['publish_accepted', 'publish_rejected', 'publish_timed_out', 'session_ended'];
    const leaving = edges.filter(
      ({ from, to }) => callStateOf(from) === 'publishing' && callStateOf(to) !== 'publishing',
    );
    expect(new Set(leaving.map(({ event }) => event))).toEqual(new Set(counts));
    for (const { from, event, to, effects } of edges) {
      if (callStateOf(from) !== 'publishing' || !['interrupted', 'withdrawn'].includes(event)) continue;
      expect(to).toBe(from);
      expect(effects).toEqual([]);
    }
  });

  test('T5: an interruption aborts the signal of running code under policy `cancel` alone, a withdrawal always', () => {
    for (const { from, event, to, effects } of edges) {
      const aborts = because(effects);
      const isAbandoned = callStateOf(from) !== 'abandoned' && callStateOf(to) === 'abandoned';
      const executes = callStateOf(from) === 'executing';
      const where = `${callStateOf(from)} at ${event}`;
      if (event === 'interrupted') {
        const expected = isAbandoned && executes && policy === 'cancel' ? ['interruption'] : [];
        expect(aborts, where).toEqual(expected);
      } else if (event === 'withdrawn') expect(aborts, where).toEqual(executes ? ['withdrawal'] : []);
      else if (event === 'timed_out') expect(aborts, where).toEqual(executes ? ['timeout'] : []);
      else if (event !== 'session_ended') expect(aborts, where).toEqual([]);
    }
  });

  test('T5: at the end of the session the signal of code that still runs is aborted, if it was not before', () => {
    interface Aborting {
      readonly snapshot: CallSnapshot;
      readonly aborted: boolean;
    }
    const states = walk<Aborting>(
      { snapshot: initial, aborted: false },
      ({ snapshot, aborted }) => JSON.stringify([snapshot.value, snapshot.context, aborted]),
      ({ snapshot, aborted }) =>
        callEvents
          .filter((event) => event !== 'session_ended')
          .map((event) => {
            const stepped = callStepper.step(snapshot, event);
            return { snapshot: stepped.snapshot, aborted: aborted || because(stepped.effects).length > 0 };
          }),
    );
    let met = 0;
    for (const { snapshot, aborted } of states) {
      if (isOver(snapshot)) continue;
      const aborts = because(callStepper.step(snapshot, 'session_ended').effects);
      if (snapshot.context.codeRuns && !aborted) {
        met++;
        expect(aborts, callStateOf(snapshot)).toEqual(['session_end']);
      }
      if (!snapshot.context.codeRuns) expect(aborts, callStateOf(snapshot)).toEqual([]);
    }
    expect(met).toBeGreaterThan(0);
  });

  test('T6: a stub is asked for by the interruption that abandons the call, and by nothing else', () => {
    for (const { from, event, to, effects } of edges) {
      const stubs = typesOf(effects).filter((type) => type === 'stub').length;
      const abandons = event === 'interrupted' && !isDecided(from) && callStateOf(to) === 'abandoned';
      expect(stubs, `${callStateOf(from)} at ${event}`).toBe(abandons ? 1 : 0);
    }
  });

  test('T7: what is written ahead waits for `flushed`', () => {
    for (const { event, effects } of edges) {
      if (writeStart && typesOf(effects).includes('execute')) expect(event).toBe('flushed');
      if (writePublish && typesOf(effects).includes('publish')) expect(event).toBe('flushed');
    }
    const flushes = edges.flatMap(({ effects }) =>
      effects.filter(({ type }) => type === 'flush').map(({ params }) => (params as { of: string }).of),
    );
    expect(new Set(flushes)).toEqual(new Set([...(writeStart ? ['start'] : []), ...(writePublish ? ['publish'] : [])]));
  });

  test('T7: one flush is asked for each intent', () => {
    interface Flushing {
      readonly snapshot: CallSnapshot;
      readonly of: readonly string[];
    }
    const states = walk<Flushing>(
      { snapshot: initial, of: [] },
      ({ snapshot, of }) => JSON.stringify([snapshot.value, snapshot.context, of]),
      ({ snapshot, of }) =>
        callEvents.map((event) => {
          const stepped = callStepper.step(snapshot, event);
          const more = stepped.effects.filter(({ type }) => type === 'flush');
          return {
            snapshot: stepped.snapshot,
            of: [...of, ...more.map(({ params }) => (params as { of: string }).of)].slice(0, 3),
          };
        }),
    );
    for (const { of } of states) expect(of).toEqual([...new Set(of)]);
  });

  test('T8: how code ended that is not published is told once, and only then', () => {
    interface Telling {
      readonly snapshot: CallSnapshot;
      readonly code: 'none' | 'runs' | 'ended';
      /** What is sent is what the code gave. */
      readonly isItsOwn: boolean;
      readonly isPublished: boolean;
      readonly told: number;
    }
    const states = walk<Telling>(
      { snapshot: initial, code: 'none', isItsOwn: false, isPublished: false, told: 0 },
      ({ snapshot, ...rest }) => JSON.stringify([snapshot.value, snapshot.context, rest]),
      (state) =>
        callEvents
          // code ends once, and only where it was started
          .filter((event) => state.code === 'runs' || (event !== 'code_resolved' && event !== 'code_rejected'))
          .map((event) => {
            const { snapshot, effects } = callStepper.step(state.snapshot, event);
            const types = typesOf(effects);
            const ends = event === 'code_resolved' || event === 'code_rejected';
            // the end of code whose call is over is told by the coordination (K5)
            const told =
              state.told +
              types.filter((type) => type === 'tellLate').length +
              (ends && isOver(state.snapshot) ? 1 : 0);
            return {
              snapshot,
              code: types.includes('execute') ? ('runs' as const) : ends ? ('ended' as const) : state.code,
              isItsOwn: state.isItsOwn || (ends && callStateOf(state.snapshot) === 'executing'),
              isPublished: state.isPublished || types.includes('publish'),
              told: Math.min(told, 2),
            };
          }),
    );
    let met = 0;
    for (const { snapshot, code, isItsOwn, isPublished, told } of states) {
      const waits = isItsOwn && !isPublished && !isDecided(snapshot);
      const isLate = code === 'ended' && !(isItsOwn && isPublished) && !waits;
      if (isLate) met++;
      expect(told, `${JSON.stringify(snapshot.value)}, code ${code}`).toBe(isLate ? 1 : 0);
    }
    expect(met).toBeGreaterThan(0);
  });

  test('a timer that a state arms is disarmed when the state is left, and no other is armed', () => {
    const timers = [
      { state: 'executing', arms: 'armTimeout', disarms: 'disarmTimeout' },
      { state: 'publishing', arms: 'armPublishTimeout', disarms: 'disarmPublishTimeout' },
    ];
    for (const { state, arms, disarms } of timers) {
      for (const { from, event, to, effects } of edges) {
        const isIn = [from, to].map((snapshot) => callStateOf(snapshot) === state);
        const where = `${callStateOf(from)} at ${event}`;
        expect(typesOf(effects).includes(arms), where).toBe(!isIn[0] && isIn[1] === true);
        if (isIn[0] && !isIn[1]) expect(typesOf(effects), where).toContain(disarms);
        if (isIn[0] && isIn[1]) expect(typesOf(effects), where).not.toContain(disarms);
      }
    }
  });
});
