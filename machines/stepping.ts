/**
 * One pure step of a machine, for the living actor, the verifier, the explorer
 * and anybody else. The only module that leans on how XState hands a scope to
 * `machine.transition`; everything else sees `(snapshot, event) -> (snapshot,
 * effects)`.
 *
 * P1. Stepping is a function: the same snapshot and event give the same result
 *     object. Contexts hold only what guards read and events carry nothing, so
 *     the reachable snapshots are few; each exists once (interned) and each
 *     step is computed once (memoised). Memory is bounded by the machine. Since
 *     all lives share them, snapshots are frozen.
 * P2. Nothing is performed here: effects come out as `{ type, params }`, in
 *     the order in which the machine asked for them.
 */
import type { AnyActorScope, AnyStateMachine, EventObject, InputFrom, SnapshotFrom } from 'xstate';
import { setup } from 'xstate';

/** What a step asks for. */
export interface Effect {
  readonly type: string;
  readonly params: unknown;
}

/** What a step gives. */
export interface Stepped<Snapshot> {
  readonly snapshot: Snapshot;
  readonly effects: readonly Effect[];
}

/** A machine, ready to be stepped. */
export interface Stepper<Machine extends AnyStateMachine, Type extends string> {
  readonly machine: Machine;
  /** The snapshot that a life with this input begins with, and what its entry asks for. */
  initial(input: InputFrom<Machine>): Stepped<SnapshotFrom<Machine>>;
  /** One step. An event that the state does not name gives the very same snapshot and no effects. */
  step(snapshot: SnapshotFrom<Machine>, type: Type): Stepped<SnapshotFrom<Machine>>;
  /** The snapshot of a life that is stopped from outside; not a step of the machine. */
  stopped(snapshot: SnapshotFrom<Machine>): SnapshotFrom<Machine>;
  /** The event object of a type; one object each, shared. */
  event(type: Type): EventObject & { readonly type: Type };
}

/** What makes two snapshots of one machine the same. */
interface MachineState {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
}

/** A snapshot that whoever holds it cannot change: it stands for every life that is there. */
function frozen<Snapshot>(snapshot: Snapshot): Snapshot {
  const { value, context } = snapshot as MachineState;
  Object.freeze(context);
  for (let inner = value; typeof inner === 'object' && inner !== null; [inner] = Object.values(inner)) {
    Object.freeze(inner);
  }
  return Object.freeze(snapshot);
}

let asked: Effect[] = [];

const nobody = {
  _parent: undefined,
  getSnapshot: () => undefined,
  send: () => {},
};

/**
 * The scope of a step that nobody lives in: it collects actions instead of
 * performing them. Machines of ours neither spawn, send, emit nor delay, so
 * nothing else of it is ever used.
 */
const inertScope = {
  self: nobody,
  id: 'inert',
  sessionId: 'inert',
  logger: () => {},
  defer: () => {},
  emit: () => {},
  stopChild: () => {},
  system: { _sendInspectionEvent: () => {} },
  actionExecutor: (action: { readonly type: string; readonly params: unknown }) => {
    asked.push(Object.freeze({ type: action.type, params: action.params }));
  },
} as unknown as AnyActorScope;

function collecting<Snapshot>(run: () => Snapshot): Stepped<Snapshot> {
  asked = [];
  const snapshot = run();
  const effects = asked;
  asked = [];
  return { snapshot, effects };
}

/**
 * Makes a machine steppable. `alphabet` is every event type that it may be
 * given; a type outside it is the caller's mistake and changes nothing.
 */
export function createStepper<Machine extends AnyStateMachine, Type extends string>(
  machine: Machine,
  alphabet: readonly Type[],
): Stepper<Machine, Type> {
  type Snapshot = SnapshotFrom<Machine>;
  type Result = Stepped<Snapshot>;
  const interned = new Map<string, Snapshot>();
  const steps = new WeakMap<object, Map<Type, Result>>();
  const initials = new Map<string, Result>();
  // whoever begins many lives hands in one object for all that are alike
  const initialsOf = new WeakMap<object, Result>();
  // lives that begin alike follow each other: the last beginning is at hand
  let lastInput: InputFrom<Machine> | undefined;
  let lastInitial: Result | undefined;
  // and so do sessions in one state: the table of the last one is at hand
  let lastSnapshot: Snapshot | undefined;
  let lastSteps = new Map<Type, Result>();
  const events = new Map(alphabet.map((type) => [type, Object.freeze({ type })]));

  const intern = (snapshot: Snapshot): Snapshot => {
    const { status, value, context } = snapshot as MachineState;
    const key = JSON.stringify([status, value, context]);
    const known = interned.get(key);
    if (known !== undefined) return known;
    interned.set(key, frozen(snapshot));
    return snapshot;
  };

  const stepsFrom = (snapshot: Snapshot): Map<Type, Result> => {
    let known = steps.get(snapshot);
    if (known === undefined) {
      known = new Map();
      steps.set(snapshot, known);
    }
    lastSnapshot = snapshot;
    lastSteps = known;
    return known;
  };

  return {
    machine,
    initial(input) {
      if (input === lastInput && lastInitial !== undefined) return lastInitial;
      const isObject = typeof input === 'object' && input !== null;
      let result = isObject ? initialsOf.get(input) : undefined;
      if (result === undefined) {
        const key = JSON.stringify(input ?? null);
        result = initials.get(key);
        if (result === undefined) {
          const raw = collecting(() => machine.getInitialSnapshot(inertScope, input) as Snapshot);
          result = { snapshot: intern(raw.snapshot), effects: raw.effects };
          initials.set(key, result);
        }
        if (isObject) initialsOf.set(input, result);
      }
      lastInput = input;
      lastInitial = result;
      return result;
    },
    step(snapshot, type) {
      const known = snapshot === lastSnapshot ? lastSteps : stepsFrom(snapshot);
      let result = known.get(type);
      if (result === undefined) {
        const event = events.get(type);
        if (event === undefined || (snapshot as MachineState).status !== 'active') {
          result = { snapshot, effects: [] };
        } else {
          const raw = collecting(() => machine.transition(snapshot, event, inertScope) as Snapshot);
          result = { snapshot: intern(raw.snapshot), effects: raw.effects };
        }
        if (event !== undefined) known.set(type, result);
      }
      return result;
    },
    stopped(snapshot) {
      const stop = { type: 'xstate.stop' } as const;
      return intern(machine.transition(snapshot, stop as never, inertScope) as Snapshot);
    },
    event(type) {
      const event = events.get(type);
      return (event ?? { type }) as EventObject & { readonly type: Type };
    },
  };
}

/**
 * Whether the XState that is installed steps as this module needs it: named
 * actions come out in order, assigns do not, and the state advances. Gives what
 * is wrong, or nothing.
 */
export function stepProblem(): string | undefined {
  const probe = setup({
    types: { events: {} as { readonly type: 'go' } },
    actions: { first: () => {}, second: (_, _params: { readonly of: number }) => {} },
  }).createMachine({
    initial: 'a',
    states: {
      a: { exit: 'first', on: { go: { target: 'b', actions: { type: 'second', params: { of: 2 } } } } },
      b: { type: 'final' },
    },
  });
  try {
    const stepper = createStepper(probe, ['go'] as const);
    const { snapshot, effects } = stepper.step(stepper.initial(undefined as never).snapshot, 'go');
    const found = JSON.stringify([snapshot.value, snapshot.status, effects]);
    const expected = '["b","done",[{"type":"first"},{"type":"second","params":{"of":2}}]]';
    return found === expected ? undefined : found;
  } catch (error) {
    return String(error);
  }
}
