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

/** What one life did in a step. */
export interface Move<Call extends CallEntry> {
  /** Whose it is; `undefined`: the session's. */
  readonly call: Call | undefined;
  /** The event that it was given; empty where its life began. */
  readonly event: string;
  /** The state before, substates behind a dot; empty where its life began. */
  readonly from: string;
  readonly to: string;
  readonly did: readonly Asked<Call>[];
}

interface Advance<Call extends CallEntry> extends Move<Call> {
  readonly did: Asked<Call>[];
  /** How many effects had been asked for when it was advanced. */
  readonly at: number;
  /** It is where it was. */
  readonly stays: boolean;
}

const names = new WeakMap<object, string>();

/** The full name of a state: substates behind a dot. */
export function stateNameOf(snapshot: SessionSnapshot | CallSnapshot): string {
  let name = names.get(snapshot);
  if (name === undefined) {
    const value: unknown = snapshot.value;
    name =
      typeof value === 'string'
        ? value
        : Object.entries(value as object)
            .map(([outer, inner]) => `${outer}.${inner}`)
            .join();
    names.set(snapshot, name);
  }
  return name;
}

/** Is told by a cast how lives are advanced, and gives the moves of each step. */
export class MoveLog<Call extends CallEntry> {
  #advances: Advance<Call>[] = [];

  /** The session's life begins: its move, with what its entry asks for. */
  begin(first: SessionSnapshot, asked: readonly Asked<Call>[]): Move<Call> {
    return { call: undefined, event: '', from: '', to: stateNameOf(first), did: asked };
  }

  /** The session was advanced. `asked`: how many effects had been asked for. */
  session(event: string, from: SessionSnapshot, to: SessionSnapshot, asked: number): void {
    const names = { from: stateNameOf(from), to: stateNameOf(to) };
    this.#advances.push({ call: undefined, event, ...names, did: [], at: asked, stays: from === to });
  }

  /** A call's life has begun. */
  admitted(call: Call, first: CallSnapshot, asked: number): void {
    this.#advances.push({ call, event: '', from: '', to: stateNameOf(first), did: [], at: asked, stays: false });
  }

  /** A call was advanced. */
  call(call: Call, event: string, from: CallSnapshot, to: CallSnapshot, asked: number): void {
    const names = { from: stateNameOf(from), to: stateNameOf(to) };
    this.#advances.push({ call, event, ...names, did: [], at: asked, stays: from === to });
  }

  /** The moves of the step that was taken. */
  take(occurrence: Occurrence<Call>, session: SessionSnapshot, asked: readonly Asked<Call>[]): readonly Move<Call>[] {
    const moves = this.#advances;
    this.#advances = [];
    if (moves.length === 0) return standing(occurrence, session, asked);
    let next = 0;
    let ofSession: Advance<Call> | undefined;
    const ofCalls = moves.length === 1 ? undefined : new Map<Call, Advance<Call>>();
    for (let index = 0; index < asked.length; index++) {
      for (let move = moves[next]; move !== undefined && move.at <= index; move = moves[++next]) {
        if (move.call === undefined) ofSession = move;
        else ofCalls?.set(move.call, move);
      }
      const effect = asked[index] as Asked<Call>;
      if (effect.type === 'callChanged') continue;
      const own = effect.call === undefined ? undefined : ofCalls?.get(effect.call);
      (own ?? ofSession ?? (moves[0] as Advance<Call>)).did.push(effect);
    }
    if (!moves.some(isIdle)) return moves;
    const told = moves.filter((move, index) => index === 0 || !isIdle(move));
    return told.length === 1 && isIdle(told[0] as Advance<Call>) ? noMoves : told;
  }
}

function isIdle<Call extends CallEntry>({ stays, did }: Advance<Call>): boolean {
  return stays && did.length === 0;
}

function standing<Call extends CallEntry>(
  occurrence: Occurrence<Call>,
  session: SessionSnapshot,
  asked: readonly Asked<Call>[],
): readonly Move<Call>[] {
  if (asked.length === 0) return noMoves;
  const call = occurrence.at === 'call' ? occurrence.call : undefined;
  const state = stateNameOf(call?.snapshot ?? session);
  return [{ call, event: occurrence.type, from: state, to: state, did: asked }];
}

const noMoves: readonly never[] = Object.freeze([]);
