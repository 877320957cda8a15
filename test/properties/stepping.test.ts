/**
 * The memoised stepper against XState itself: P1 and P2 of `machines/stepping.ts`.
 * Three ways through the same events: our stepper, XState's pure `transition`,
 * and an actor of XState's own whose actions append to a list.
 */
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateMachine, createActor, initialTransition, transition } from 'xstate';
import {
  type CallRules,
  callEvents,
  callStepper,
  createStepper,
  type Effect,
  type Stepper,
  sessionEvents,
  sessionMachine,
  sessionStepper,
  toolInvocationMachine,
} from '../../machines/index.js';
import { property } from './property.js';

/** What there is to say of a snapshot. */
function seen({ value, context, status }: AnyMachineSnapshot): unknown {
  return { value, context, status };
}

/** The actions of a machine that are performed, not those that set the context. */
function performedBy(machine: AnyStateMachine): string[] {
  const { actions } = machine.implementations;
  return Object.entries(actions).flatMap(([name, action]) => {
    const isBuiltIn = typeof action === 'function' && 'type' in action && String(action.type).startsWith('xstate.');
    return isBuiltIn ? [] : [name];
  });
}

function effectsOf(actions: readonly { readonly type: string; readonly params: unknown }[]): Effect[] {
  return actions.map(({ type, params }) => ({ type, params }));
}

/** Sends the events to all three and holds them together after each. */
function holdTogether<Machine extends AnyStateMachine, Type extends string>(
  stepper: Stepper<Machine, Type>,
  input: unknown,
  types: readonly Type[],
): void {
  const { machine } = stepper;
  const list: Effect[] = [];
  const appending = machine.provide({
    actions: Object.fromEntries(
      performedBy(machine).map((type) => [type, (_: unknown, params: unknown) => void list.push({ type, params })]),
    ),
  } as never);
  const actor = createActor(appending, { input } as never);
  actor.start();
  const [first, firstActions] = initialTransition(machine, input as never);
  let pure = first as unknown as AnyMachineSnapshot;
  const begun = stepper.initial(input as never);
  let ours = begun.snapshot as unknown as AnyMachineSnapshot;

  expect(seen(ours)).toEqual(seen(pure));
  expect(seen(ours)).toEqual(seen(actor.getSnapshot() as never));
  expect(begun.effects).toEqual(effectsOf(firstActions));
  expect(begun.effects).toEqual(list.splice(0));
  // P1: the same input gives the very same result
  expect(stepper.initial(input as never)).toBe(begun);

  for (const type of types) {
    const stepped = stepper.step(ours as never, type);
    expect(stepper.step(ours as never, type), 'P1: one result for one snapshot and event').toBe(stepped);
    if (ours.status !== 'active') {
      // XState's own actor has stopped; nothing moves any more
      expect(stepped.snapshot).toBe(ours);
      expect(stepped.effects).toEqual([]);
      continue;
    }
    const [next, actions] = transition(machine, pure as never, { type } as never);
    actor.send({ type } as never);
    const snapshot = stepped.snapshot as unknown as AnyMachineSnapshot;
    expect(seen(snapshot), `after ${type}`).toEqual(seen(next as never));
    expect(seen(snapshot), `after ${type}`).toEqual(seen(actor.getSnapshot() as never));
    expect(stepped.effects, `after ${type}`).toEqual(effectsOf(actions));
    expect(stepped.effects, `after ${type}`).toEqual(list.splice(0));
    ours = snapshot;
    pure = next as never;
  }
}

/** Whether snapshots that are the same are one object, whatever led to them. */
function meetsAgain<Machine extends AnyStateMachine, Type extends string>(
  stepper: Stepper<Machine, Type>,
  inputs: readonly unknown[],
  histories: readonly (readonly Type[])[],
): void {
  const known = new Map<string, unknown>();
  for (const input of inputs) {
    for (const types of histories) {
      let { snapshot } = stepper.initial(input as never);
      for (const type of types) {
        ({ snapshot } = stepper.step(snapshot, type));
        const key = JSON.stringify(seen(snapshot as never));
        if (!known.has(key)) known.set(key, snapshot);
        expect(snapshot, `P1: ${key}`).toBe(known.get(key));
      }
    }
  }
}

const rules: fc.Arbitrary<CallRules> = fc.record({
  policy: fc.constantFrom('abandon', 'cancel', 'deliver'),
  writeStart: fc.boolean(),
  writePublish: fc.boolean(),
});

/**
 * Events in an order that leads somewhere: half of them are drawn from what the
 * state at hand names.
 */
function walk<Machine extends AnyStateMachine, Type extends string>(
  stepper: Stepper<Machine, Type>,
  alphabet: readonly Type[],
  input: unknown,
  draws: readonly { readonly any: number; readonly leads: boolean }[],
): Type[] {
  let { snapshot } = stepper.initial(input as never);
  return draws.map(({ any, leads }) => {
    const named = alphabet.filter((type) => (snapshot as AnyMachineSnapshot).can({ type }));
    const from = leads && named.length > 0 ? named : alphabet;
    const type = from[any % from.length] as Type;
    ({ snapshot } = stepper.step(snapshot, type));
    return type;
  });
}

const draws = fc.array(fc.record({ any: fc.nat(), leads: fc.boolean() }), { maxLength: 30, size: 'max' });

describe('the stepper', () => {
  property('steps a call as XState does', fc.record({ rules, draws }), ({ rules, draws }) => {
    const stepper = createStepper(toolInvocationMachine, callEvents);
    holdTogether(stepper, rules, walk(stepper, callEvents, rules, draws));
    holdTogether(callStepper, rules, walk(callStepper, callEvents, rules, draws));
  });

  property('steps a session as XState does', draws, (draws) => {
    const stepper = createStepper(sessionMachine, sessionEvents);
    holdTogether(stepper, undefined, walk(stepper, sessionEvents, undefined, draws));
    holdTogether(sessionStepper, undefined, walk(sessionStepper, sessionEvents, undefined, draws));
  });

  property(
    'has one object for each snapshot',
    fc.record({ rules: fc.array(rules, { minLength: 1, maxLength: 3 }), histories: fc.array(draws, { maxLength: 4 }) }),
    ({ rules, histories }) => {
      const calls = histories.map((draws) => walk(callStepper, callEvents, rules[0], draws));
      meetsAgain(callStepper, rules, calls);
      const sessions = histories.map((draws) => walk(sessionStepper, sessionEvents, undefined, draws));
      meetsAgain(sessionStepper, [undefined], sessions);
    },
  );
});
