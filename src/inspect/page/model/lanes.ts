/**
 * Which column of the sequence chart an actor has.
 *
 * L1. A column, once given, is never changed: what is drawn stays where it is
 *     while the run goes on.
 * L2. The first `apart` actors have a column each. A later one takes the first
 *     whose last owner is over, a new one where there is none, and shares the
 *     last one from `mostLanes` on.
 */
import type { Lane, Step } from '../../view/frames.js';
import { isOver } from './marks.js';
import { countUpTo } from './search-sorted.js';

const apart = 6;
const mostLanes = 24;

export class LaneBook {
  readonly #columns = new Map<string, number>();
  /** Of each column: whose it was, from which step on. */
  readonly #owners: { since: number[]; actors: string[] }[] = [];
  readonly #free = new Set<number>();

  /** How many columns there are between the session and the host. */
  get count(): number {
    return this.#owners.length;
  }

  take(step: Step): void {
    if (step.kind === 'call' || step.kind === 'transaction') {
      this.#enter(step.actor, step.n);
      const column = this.#columns.get(step.actor) as number;
      if (isOver(step.kind, step.to) && this.#owners[column]?.actors.at(-1) === step.actor) this.#free.add(column);
    }
    for (const { from, to } of step.arrows) {
      if (from.startsWith('actor:')) this.#enter(from.slice(6), step.n);
      if (to.startsWith('actor:')) this.#enter(to.slice(6), step.n);
    }
  }

  /** The column of an actor; `undefined` where it has none. */
  columnOf(actor: string): number | undefined {
    return this.#columns.get(actor);
  }

  /** Whose a column is at that instant; before its first owner came, that one. */
  ownerOf(column: number, n: number): string | undefined {
    const owners = this.#owners[column];
    return owners?.actors[Math.max(0, countUpTo(owners.since, n) - 1)];
  }

  /** From which step on that owner has had it. */
  ownedSince(column: number, n: number): number {
    const owners = this.#owners[column];
    return owners?.since[Math.max(0, countUpTo(owners.since, n) - 1)] ?? 0;
  }

  /** The place of a lane among all: the far side, the session, the columns, the host. */
  placeOf(lane: Lane): number {
    if (lane === 'far side') return 0;
    if (lane === 'session') return 1;
    if (lane === 'host') return this.count + 2;
    return 2 + (this.#columns.get(lane.slice(6)) ?? 0);
  }

  /** Forgets owners that had gone before that step. */
  trim(first: number): void {
    for (const owners of this.#owners) {
      const gone = Math.max(0, countUpTo(owners.since, first) - 1);
      for (const actor of owners.actors.slice(0, gone)) this.#columns.delete(actor);
      owners.since = owners.since.slice(gone);
      owners.actors = owners.actors.slice(gone);
    }
  }

  #enter(actor: string, n: number): void {
    if (this.#columns.has(actor)) return;
    const column = this.#choose();
    this.#columns.set(actor, column);
    const owners = this.#owners[column] ?? { since: [], actors: [] };
    this.#owners[column] = owners;
    owners.since.push(n);
    owners.actors.push(actor);
    this.#free.delete(column);
  }

  #choose(): number {
    if (this.#owners.length < apart) return this.#owners.length;
    let lowest = -1;
    for (const column of this.#free) if (lowest === -1 || column < lowest) lowest = column;
    if (lowest !== -1) return lowest;
    return Math.min(this.#owners.length, mostLanes - 1);
  }
}
