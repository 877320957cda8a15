/** P1 and P2 of `stepping.ts`, on a machine made for it; `test/properties/stepping.test.ts` holds ours against XState itself. */
import { describe, expect, test } from 'vitest';
import { assign, StateMachine, setup } from 'xstate';
import { callEvents, callStepper, createStepper, sessionStepper, stepProblem } from '../../machines/index.js';
import { everyRules, reachableCalls, reachableSessions } from './reachable.js';

const performed: string[] = [];

const counter = setup({
  types: { context: {} as { readonly count: number }, events: {} as { readonly type: 'add' | 'reset' | 'stop' } },
  actions: {
    tell: (_, { of }: { readonly of: string }) => performed.push(of),
    leave: () => performed.push('leave'),
    add: assign({ count: ({ context }) => Math.min(context.count + 1, 3) }),
    reset: assign({ count: 0 }),
  },
}).createMachine({
  context: { count: 0 },
  initial: 'counting',
  states: {
    counting: {
      entry: { type: 'tell', params: { of: 'entry' } },
      exit: 'leave',
      on: {
        add: {
          actions: [{ type: 'tell', params: { of: 'before' } }, 'add', { type: 'tell', params: { of: 'after' } }],
        },
        reset: { actions: 'reset' },
        stop: 'over',
      },
    },
    over: { type: 'final', entry: { type: 'tell', params: { of: 'over' } } },
  },
});

const made = () => createStepper(counter, ['add', 'reset', 'stop'] as const);

describe('the stepper', () => {
  test('P1: one result for one snapshot and event, one object for one snapshot', () => {
    const stepper = made();
    const { snapshot } = stepper.initial(undefined as never);
    expect(stepper.initial(undefined as never).snapshot).toBe(snapshot);
    const once = stepper.step(snapshot, 'add');
    expect(stepper.step(snapshot, 'add')).toBe(once);
    // another way to the same place
    const around = stepper.step(stepper.step(once.snapshot, 'reset').snapshot, 'add');
    expect(around.snapshot).toBe(once.snapshot);
    expect(stepper.step(once.snapshot, 'reset').snapshot).toBe(snapshot);
  });

  test('P1: memory is bounded by the machine: a call has few snapshots, a session too', () => {
    const calls = new Set(everyRules.flatMap((rules) => reachableCalls(rules).snapshots));
    expect(calls.size).toBeLessThan(300);
    expect(reachableSessions().snapshots.length).toBeLessThan(40);
    // no history leads beyond them
    for (const snapshot of calls) {
      for (const event of callEvents) expect(calls.has(callStepper.step(snapshot, event).snapshot)).toBe(true);
    }
  });

  test('P2: effects come out in order, with what they are given, and nothing is performed', () => {
    performed.length = 0;
    const stepper = made();
    const begun = stepper.initial(undefined as never);
    expect(begun.effects).toEqual([{ type: 'tell', params: { of: 'entry' } }]);
    expect(stepper.step(begun.snapshot, 'add').effects).toEqual([
      { type: 'tell', params: { of: 'before' } },
      { type: 'tell', params: { of: 'after' } },
    ]);
    expect(stepper.step(begun.snapshot, 'stop').effects).toEqual([
      { type: 'leave', params: undefined },
      { type: 'tell', params: { of: 'over' } },
    ]);
    expect(performed).toEqual([]);
  });

  test('an event that the state does not name, or the alphabet, or after the end, changes nothing', () => {
    const stepper = made();
    const { snapshot } = stepper.initial(undefined as never);
    const strange = stepper.step(snapshot, 'unheard' as never);
    expect(strange.snapshot).toBe(snapshot);
    expect(strange.effects).toEqual([]);
    const over = stepper.step(snapshot, 'stop').snapshot;
    expect(stepper.step(over, 'add').snapshot).toBe(over);
    expect(stepper.step(over, 'add').effects).toEqual([]);
    expect(sessionStepper.step(reachableSessions().initial, 'text').snapshot).toBe(reachableSessions().initial);
  });

  test('says that the XState at hand steps as it is needed, and what is wrong with one that does not', () => {
    expect(stepProblem()).toBeUndefined();
    const { transition } = StateMachine.prototype;
    try {
      // one that hands no action to the scope, and moves nothing
      StateMachine.prototype.transition = (snapshot) => snapshot as never;
      expect(stepProblem()).toBe('["a","active",[]]');
      StateMachine.prototype.transition = () => {
        throw new TypeError('scope has no system');
      };
      expect(stepProblem()).toBe('TypeError: scope has no system');
    } finally {
      StateMachine.prototype.transition = transition;
    }
  });
});
