/**
 * A step of a session and its calls, told apart by whose it is: what a journal
 * records, a replay compares and an explorer looks at. The coordination asks
 * for effects in one list; here each of them is given back to the life whose
 * transition asked for it.
 *
 * M1. Moves stand in the order in which the lives were advanced; the first is
 *     what happened from outside, the others followed from it.
 * M2. Every effect of the step belongs to exactly one move, in the order in
 *     which it was asked for; `callChanged`, which repeats what a move says, to
 *     none.
 * M3. A step that moves no life and asks for something is one move that stays
 *     where it is; a step that does neither is none. A life that was given an
 *     event and neither moved nor asked has a move only where it came first.
 */
import type { CallSnapshot } from '../tool-invocation/index.js';
import type { Asked, CallEntry, Occurrence } from './coordination.js';
import type { SessionSnapshot } from './session.stepper.js';

/** A transition by its names; one object for all lives that take it. */
export interface Transition {
  /** The event that was given; empty where a life began. */
  readonly event: string;
  /** The state before, substates behind a dot; empty where a life began. */
  readonly from: string;
  readonly to: string;
  /** The snapshot is the one that was. */
  readonly stays: boolean;
}

/** A life that was advanced. */
export interface Advance<Call extends CallEntry> {
  /** Whose it is; `undefined`: the session's. */
  readonly call: Call | undefined;
  readonly transition: Transition;
  /** How many effects of the step had been asked for before. */
  readonly at: number;
}

/** What one life did in a step. */
export interface Move<Call extends CallEntry> extends Advance<Call> {
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly did: readonly Asked<Call>[];
}

type Snapshot = SessionSnapshot | CallSnapshot;

const names = new WeakMap<Snapshot, string>();

/** The full name of a state: substates behind a dot. */
export function stateNameOf(snapshot: Snapshot): string {
  let name = names.get(snapshot);
  if (name === undefined) {
    const value: unknown = snapshot.value;
    const path = typeof value === 'string' ? [value] : Object.entries(value as object).flat();
    name = path.join('.');
    names.set(snapshot, name);
  }
  return name;
}

const transitions = new WeakMap<Snapshot, Map<string, Transition>>();
const beginnings = new WeakMap<Snapshot, Transition>();

function transitionOf(event: string, from: Snapshot, to: Snapshot): Transition {
  let ofFrom = transitions.get(from);
  if (ofFrom === undefined) {
    ofFrom = new Map();
    transitions.set(from, ofFrom);
  }
  let transition = ofFrom.get(event);
  if (transition === undefined) {
    transition = Object.freeze({ event, from: stateNameOf(from), to: stateNameOf(to), stays: from === to });
    ofFrom.set(event, transition);
  }
  return transition;
}

function beginningOf(first: Snapshot): Transition {
  let transition = beginnings.get(first);
  if (transition === undefined) {
    transition = Object.freeze({ event: '', from: '', to: stateNameOf(first), stays: false });
    beginnings.set(first, transition);
  }
  return transition;
}

/** Is told by a cast how lives are advanced, and gives the moves of each step. */
export class MoveLog<Call extends CallEntry> {
  #advances: Advance<Call>[] = [];
  readonly #owners: number[] = [];

  /** The session's life begins: its move, with what its entry asks for. */
  begin(first: SessionSnapshot, asked: readonly Asked<Call>[]): Move<Call> {
    return moveOf({ call: undefined, transition: beginningOf(first), at: 0 }, asked);
  }

  /** The session was advanced. `asked`: how many effects had been asked for. */
  session(event: string, from: SessionSnapshot, to: SessionSnapshot, asked: number): void {
    this.#advances.push({ call: undefined, transition: transitionOf(event, from, to), at: asked });
  }

  /** A call's life has begun. */
  admitted(call: Call, first: CallSnapshot, asked: number): void {
    this.#advances.push({ call, transition: beginningOf(first), at: asked });
  }

  /** A call was advanced. */
  call(call: Call, event: string, from: CallSnapshot, to: CallSnapshot, asked: number): void {
    this.#advances.push({ call, transition: transitionOf(event, from, to), at: asked });
  }

  /** The one life that the step advanced, so that all effects are its own; `undefined`, and nothing is taken, where it is another number. */
  takeOnly(): Advance<Call> | undefined {
    return this.#advances.length === 1 ? this.#advances.pop() : undefined;
  }

  /** The lives that the step advanced, in order; they are the caller's from here on. */
  takeAll(): readonly Advance<Call>[] {
    const advances = this.#advances;
    this.#advances = [];
    return advances;
  }

  /**
   * Whose each effect of a step is: its place among the lives that the step advanced, of which there is one at least;
   * {@link nobodys} for `callChanged`. Valid until it is asked again.
   */
  whose(advances: readonly Advance<Call>[], asked: readonly Asked<Call>[]): readonly number[] {
    const owners = this.#owners;
    let count = 0;
    for (let index = 0; index < asked.length; index++) {
      while (count < advances.length && (advances[count] as Advance<Call>).at <= index) count++;
      const { type, call } = asked[index] as Asked<Call>;
      if (type === 'callChanged') {
        owners[index] = nobodys;
        continue;
      }
      const own = lastOf(call, advances, count);
      owners[index] = own >= 0 ? own : Math.max(0, lastOf(undefined, advances, count));
    }
    return owners;
  }

  /** The moves of the step that was taken. */
  take(occurrence: Occurrence<Call>, session: SessionSnapshot, asked: readonly Asked<Call>[]): readonly Move<Call>[] {
    if (this.#advances.length === 0) return standing(occurrence, session, asked);
    const advances = this.takeAll();
    const owners = this.whose(advances, asked);
    const moves = advances.map((advance) => moveOf<Call>(advance, []));
    for (let index = 0; index < asked.length; index++) {
      const move = moves[owners[index] as number];
      if (move !== undefined) (move.did as Asked<Call>[]).push(asked[index] as Asked<Call>);
    }
    if (!moves.some(isIdle)) return moves;
    const told = moves.filter((move, index) => index === 0 || !isIdle(move));
    return told.length === 1 && isIdle(told[0] as Move<Call>) ? noMoves : told;
  }
}

/** No place among the lives of a step. */
export const nobodys = -1;

/** The place of the last of the first `count` that is this call's, or the session's; mostly the very last. */
function lastOf<Call extends CallEntry>(
  call: Call | undefined,
  advances: readonly Advance<Call>[],
  count: number,
): number {
  for (let at = count - 1; at >= 0; at--) if (advances[at]?.call === call) return at;
  return nobodys;
}

function moveOf<Call extends CallEntry>(
  { call, transition, at }: Advance<Call>,
  did: readonly Asked<Call>[],
): Move<Call> {
  const { event, from, to } = transition;
  return { call, transition, at, event, from, to, did };
}

function standing<Call extends CallEntry>(
  occurrence: Occurrence<Call>,
  session: SessionSnapshot,
  asked: readonly Asked<Call>[],
): readonly Move<Call>[] {
  if (asked.length === 0) return noMoves;
  const call = occurrence.at === 'call' ? occurrence.call : undefined;
  const snapshot = call?.snapshot ?? session;
  return [moveOf({ call, transition: transitionOf(occurrence.type, snapshot, snapshot), at: 0 }, asked)];
}

function isIdle<Call extends CallEntry>({ transition, did }: Move<Call>): boolean {
  return transition.stays && did.length === 0;
}

const noMoves: readonly never[] = Object.freeze([]);
