/** Steps that speak of calls that were made before them, drawn before it is known which those are. */
import fc from 'fast-check';
import type { Step } from '../../../scenario/scenario.js';

/** The ids that a scenario has used so far. Of a fixed width: none is part of another. */
export class Ids {
  readonly #used: string[];
  readonly #names: readonly string[];

  /** `names`: of the first calls that are made; `made`: those that there are already. */
  constructor(names: readonly string[], made: readonly string[]) {
    this.#names = names;
    this.#used = [...made];
  }

  fresh(): string {
    const index = this.#used.length;
    const id = this.#names[index] ?? `t${String(index).padStart(2, '0')}`;
    this.#used.push(id);
    return id;
  }

  /** One of the latest; `undefined` while there is none. */
  recent(back: number): string | undefined {
    return this.#used.at(-1 - Math.min(back, this.#used.length - 1));
  }
}

/** A step that is told at last which ids there are. */
export type Draft = (ids: Ids) => Step | undefined;

/** How far back a step looks for a call. */
export const back = fc.nat({ max: 5 });

/** A step about a call that was made lately; none while there is none. */
export const about = (make: (id: string) => Step): fc.Arbitrary<Draft> =>
  back.map((steps) => (ids: Ids) => {
    const id = ids.recent(steps);
    return id === undefined ? undefined : make(id);
  });

/** A step about no call. */
export const plain = (step: Step): fc.Arbitrary<Draft> => fc.constant(() => step);

/** Which calls there are for steps to speak of. */
export interface Calls {
  /** Ids of the first calls that are made. Default: plain ones. */
  readonly names?: readonly string[];
  /** Ids of calls that were made before. Default: none. */
  readonly made?: readonly string[];
}

/** The steps of drafts; those that find no call to speak of are left out. */
export function stepsOf(drafts: readonly Draft[], { names = [], made = [] }: Calls = {}): Step[] {
  const ids = new Ids(names, made);
  return drafts.flatMap((draft) => draft(ids) ?? []);
}
