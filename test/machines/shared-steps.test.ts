/**
 * P1 of `stepping.ts`, of ours: what all lives share can be changed by none of
 * them, and there is one of each, however one came to it.
 */
import { describe, expect, test } from 'vitest';
import {
  callStepper,
  createStepper,
  type Effect,
  responseStreamEvents,
  responseStreamStepper,
  type Stepped,
  sessionEvents,
  sessionMachine,
  sessionStepper,
  transactionEvents,
  transactionStepper,
} from '../../machines/index.js';
import { everyRules, reachableCalls, reachableSessions } from './reachable.js';

const nothing = undefined as never;
const levelRules = {
  nested: 'savepoint',
  onDoomedCommit: 'rollback',
  onFailure: 'commit',
  onCancel: 'commit',
  dooms: true,
} as const;

interface Held {
  readonly value: unknown;
  readonly context: unknown;
}

/** The objects in a value, and in those, to the ground. */
function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

/** All snapshots that some events lead to. */
function reachable<Snapshot extends object, Type>(
  { snapshot }: Stepped<Snapshot>,
  events: readonly Type[],
  step: (from: Snapshot, type: Type) => Stepped<Snapshot>,
): Set<Snapshot> {
  const known = new Set([snapshot]);
  for (const from of known) for (const type of events) known.add(step(from, type).snapshot);
  return known;
}

describe('what lives share', () => {
  test('P1: snapshots cannot be changed, nor what is in them', () => {
    const all: Held[] = [
      ...reachableSessions().snapshots,
      ...everyRules.flatMap((rules) => reachableCalls(rules).snapshots),
      ...reachable(transactionStepper.initial(levelRules), transactionEvents, transactionStepper.step),
      ...reachable(responseStreamStepper.initial(nothing), responseStreamEvents, responseStreamStepper.step),
    ];
    expect(all.length).toBeGreaterThan(100);
    for (const snapshot of all) {
      expect(Object.isFrozen(snapshot)).toBe(true);
      for (const inner of [...objectsIn(snapshot.value), ...objectsIn(snapshot.context)]) {
        expect(Object.isFrozen(inner), JSON.stringify(snapshot.value)).toBe(true);
      }
    }
  });

  test('P2: nor can effects', () => {
    const effects: Effect[] = [...reachableSessions().edges, ...reachableCalls(everyRules[0] as never).edges].flatMap(
      (edge) => edge.effects,
    );
    expect(effects.length).toBeGreaterThan(100);
    for (const effect of effects) expect(Object.isFrozen(effect)).toBe(true);
  });

  test('P1: there is one beginning for inputs that are alike, and another one for others', () => {
    const [one, other] = everyRules as unknown as [(typeof everyRules)[0], (typeof everyRules)[0]];
    const begun = callStepper.initial(one);
    expect(callStepper.initial(one)).toBe(begun);
    expect(callStepper.initial({ ...one })).toBe(begun);
    const begunOtherwise = callStepper.initial(other);
    expect(begunOtherwise).not.toBe(begun);
    expect(begunOtherwise.snapshot.context).toMatchObject(other);
    expect(callStepper.initial(one)).toBe(begun);
    expect(begun.snapshot.context).toEqual({ ...one, codeRuns: false, holdsOutcome: false });
    expect(begun.effects.map(({ type }) => type)).toEqual(['reportStarted', 'validate']);
    // a machine that takes no input
    const stepper = createStepper(sessionMachine, sessionEvents);
    const first = stepper.initial(nothing);
    expect(stepper.initial(nothing)).toBe(first);
    expect(stepper.initial(null as never)).toBe(first);
    expect(stepper.initial(nothing)).toBe(first);
  });

  test('P1: steps are remembered by the snapshot that they were taken from', () => {
    const { snapshot: connecting } = sessionStepper.initial(nothing);
    const opened = sessionStepper.step(connecting, 'connected');
    const closing = sessionStepper.step(connecting, 'host_close');
    // one after the other, and back again
    for (let round = 0; round < 2; round++) {
      expect(sessionStepper.step(connecting, 'connected')).toBe(opened);
      expect(sessionStepper.step(opened.snapshot, 'connected').snapshot).toBe(opened.snapshot);
      expect(sessionStepper.step(closing.snapshot, 'connected').snapshot).not.toBe(opened.snapshot);
      expect(sessionStepper.step(connecting, 'host_close')).toBe(closing);
    }
  });

  test('P1: memory is bounded by the alphabet: what is outside it is not remembered', () => {
    const { snapshot } = sessionStepper.initial(nothing);
    const strange = () => sessionStepper.step(snapshot, 'unheard' as never);
    expect(strange()).toEqual({ snapshot, effects: [] });
    expect(strange()).not.toBe(strange());
    const over = sessionStepper.step(snapshot, 'connect_rejected').snapshot;
    expect(sessionStepper.step(over, 'text')).toBe(sessionStepper.step(over, 'text'));
  });

  test('an event of the alphabet is one object, and one outside it is an event all the same', () => {
    const text = sessionStepper.event('text');
    expect(text).toEqual({ type: 'text' });
    expect(sessionStepper.event('text')).toBe(text);
    expect(Object.isFrozen(text)).toBe(true);
    expect(sessionStepper.event('unheard' as never)).toEqual({ type: 'unheard' });
  });

  test('a life that is stopped from outside stays where it was, with one snapshot for all', () => {
    const { snapshot } = sessionStepper.step(sessionStepper.initial(nothing).snapshot, 'connected');
    const stopped = sessionStepper.stopped(snapshot);
    expect(stopped).toMatchObject({ status: 'stopped', value: { open: 'waiting' }, context: snapshot.context });
    expect(sessionStepper.stopped(snapshot)).toBe(stopped);
    expect(Object.isFrozen(stopped)).toBe(true);
    expect(sessionStepper.step(stopped, 'text')).toEqual({ snapshot: stopped, effects: [] });
    expect(sessionStepper.machine).toBe(sessionMachine);
  });
});
