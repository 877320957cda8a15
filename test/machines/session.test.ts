/**
 * The invariants at the head of `session.machine.ts`, held against every
 * history: all snapshots that a session can come to are walked.
 */
import { describe, expect, test } from 'vitest';
import {
  type SessionEventType,
  type SessionSnapshot,
  sessionEvents,
  sessionStateOf,
  sessionStepper,
} from '../../machines/index.js';
import { reachableSessions, typesOf, walk } from './reachable.js';

const { initial, snapshots, edges } = reachableSessions();
const stateOf = (snapshot: SessionSnapshot) => sessionStateOf(snapshot);
const isOpen = (snapshot: SessionSnapshot) => stateOf(snapshot).startsWith('open.');
const isEnding = (snapshot: SessionSnapshot) => stateOf(snapshot) === 'closing' || stateOf(snapshot) === 'closed';

describe('a session', () => {
  test("S1: `connecting` is left once, by the driver's answer, the timeout, the host, or a journal that takes no more", () => {
    const leaving = edges.filter(({ from, to }) => stateOf(from) === 'connecting' && stateOf(to) !== 'connecting');
    expect(new Set(leaving.map(({ event }) => event))).toEqual(
      new Set<SessionEventType>([
        'connected',
        'connect_rejected',
        'flush_failed',
        'connect_timed_out',
        'host_close',
        'host_abort',
      ]),
    );
    for (const { from, to } of edges) if (stateOf(from) !== 'connecting') expect(stateOf(to)).not.toBe('connecting');
    // whatever leaves it settles the start, and nothing settles it twice
    for (const { event, effects, from } of edges) {
      const settles = typesOf(effects).filter((type) => type === 'resolveStart' || type === 'refuseStart');
      const leaves = leaving.some((edge) => edge.event === event && edge.from === from);
      expect(settles, `${stateOf(from)} at ${event}`).toHaveLength(leaves ? 1 : 0);
    }
  });

  test('S2: the first cause of an end wins', () => {
    for (const { from, event, to } of edges) {
      if (isEnding(from)) expect(to.context.reason, `${stateOf(from)} at ${event}`).toBe(from.context.reason);
    }
    for (const snapshot of snapshots) {
      expect(snapshot.context.reason === 'none', stateOf(snapshot)).toBe(!isEnding(snapshot));
    }
  });

  test('S3: an end of an open session asks for the last event or the throwing away, the fence, the lifetime, the close', () => {
    const ends = edges.filter(({ from, to }) => isOpen(from) && isEnding(to));
    expect(new Set(ends.map(({ event }) => event))).toEqual(
      new Set<SessionEventType>([
        'closed',
        'malformed',
        'repeated_call',
        'stream_ended',
        'stream_failed',
        'overflow',
        'flush_failed',
        'host_close',
        'host_abort',
      ]),
    );
    for (const { event, effects } of ends) {
      const byHost = event === 'host_close' || event === 'host_abort';
      const order = [byHost ? 'discardUnread' : 'reportEnd', 'fence', 'abortLifetime'];
      if (event !== 'closed') order.push('armCloseTimeout', 'closeDriver');
      expect(typesOf(effects).slice(0, order.length), event).toEqual(order);
    }
  });

  test('S3: pending host calls are refused before `closed` resolves, once, when the end is reached', () => {
    for (const { from, event, to, effects } of edges) {
      const ends = typesOf(effects).filter((type) => type === 'refusePending' || type === 'resolveClosed');
      const isLast = stateOf(from) !== 'closed' && stateOf(to) === 'closed';
      expect(ends, `${stateOf(from)} at ${event}`).toEqual(isLast ? ['refusePending', 'resolveClosed'] : []);
    }
  });

  test('S4: the driver is closed at most once, never when the far side closed, and always before the end of a connection', () => {
    interface Closing {
      readonly snapshot: SessionSnapshot;
      readonly closes: number;
      readonly isConnected: boolean;
      readonly farClosed: boolean;
    }
    const states = walk<Closing>(
      { snapshot: initial, closes: 0, isConnected: false, farClosed: false },
      ({ snapshot, ...rest }) => JSON.stringify([snapshot.value, snapshot.context, rest]),
      (state) =>
        sessionEvents.map((event) => {
          const { snapshot, effects } = sessionStepper.step(state.snapshot, event);
          const closes = typesOf(effects).filter((type) => type === 'closeDriver').length;
          return {
            snapshot,
            closes: Math.min(state.closes + closes, 2),
            isConnected: state.isConnected || snapshot.context.connection === 'open',
            farClosed: state.farClosed || (event === 'closed' && isOpen(state.snapshot)),
          };
        }),
    );
    for (const { snapshot, closes, isConnected, farClosed } of states) {
      const expected = isConnected && !farClosed && isEnding(snapshot) ? 1 : 0;
      expect(closes, JSON.stringify([snapshot.value, snapshot.context])).toBe(expected);
    }
    expect(states.some(({ closes }) => closes === 1)).toBe(true);
    expect(states.some(({ farClosed }) => farClosed)).toBe(true);
  });

  test('S5: in `closing` nothing is delivered and no call is admitted, interrupted or withdrawn', () => {
    const forbidden = [
      'deliver',
      'admitCall',
      'interruptCalls',
      'withdrawCalls',
      'note',
      'performAct',
      'reportEnd',
      'fence',
    ];
    for (const { from, event, effects } of edges) {
      if (!isEnding(from)) continue;
      const found = typesOf(effects).filter((type) => forbidden.includes(type));
      expect(found, `${stateOf(from)} at ${event}`).toEqual([]);
    }
  });

  test('S6: `turn_complete`, `interrupted` and `error` are legal in both open states', () => {
    const open = snapshots.filter(isOpen);
    expect(open.map(stateOf).sort()).toEqual(['open.responding', 'open.waiting']);
    for (const snapshot of open) {
      const complete = sessionStepper.step(snapshot, 'turn_complete');
      expect([stateOf(complete.snapshot), typesOf(complete.effects)]).toEqual(['open.waiting', ['deliver']]);
      const interrupted = sessionStepper.step(snapshot, 'interrupted');
      expect([stateOf(interrupted.snapshot), typesOf(interrupted.effects)]).toEqual([
        'open.waiting',
        ['deliver', 'resolveInterrupts', 'interruptCalls'],
      ]);
      const error = sessionStepper.step(snapshot, 'error');
      expect(error.snapshot).toBe(snapshot);
      expect(typesOf(error.effects)).toEqual(['deliver']);
    }
  });

  test('ends from wherever it stands, when the host closes and the driver answers or its time is up', () => {
    for (const snapshot of snapshots) {
      for (const answer of ['close_settled', 'close_timed_out'] as const) {
        const closing = sessionStepper.step(snapshot, 'host_close').snapshot;
        expect(stateOf(sessionStepper.step(closing, answer).snapshot), stateOf(snapshot)).toBe('closed');
      }
    }
  });

  test('a timer that is armed is disarmed by what it would have come after, unless it has fired', () => {
    for (const { from, event, to, effects } of edges) {
      const types = typesOf(effects);
      const where = `${stateOf(from)} at ${event}`;
      if (stateOf(from) === 'connecting' && stateOf(to) !== 'connecting' && event !== 'connect_timed_out') {
        expect(types, where).toContain('disarmConnectTimeout');
      }
      if (stateOf(from) === 'closing' && stateOf(to) === 'closed') expect(types, where).toContain('disarmCloseTimeout');
      expect(types.includes('armCloseTimeout'), where).toBe(stateOf(from) !== 'closing' && stateOf(to) === 'closing');
    }
  });
});
