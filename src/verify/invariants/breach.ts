/** What an invariant is, and what it is to be broken. */

/** The invariants that a journal is held to: those of duplex.md, conversation.md and supervision.md, and those of the machines behind them. */
export type InvariantNumber =
  | 'D1'
  | 'D2'
  | 'D3'
  | 'D4'
  | 'D5'
  | 'D6'
  | 'D7'
  | 'D9'
  | 'D10'
  | 'D11'
  | 'D12'
  | 'D13'
  | 'D15'
  | 'D16'
  | 'C1'
  | 'C2'
  | 'C3'
  | 'C4'
  | 'C7'
  | 'C8'
  // of the machines and the coordination: nothing of it is in the tables above, and a journal shows it
  | 'T7'
  | 'T8'
  | 'K2'
  // of the pool of places that sessions share
  | 'K6'
  // of supervision.md, and of the machine of supervisors behind it
  | 'S1'
  | 'S4'
  | 'S11'
  | 'S12'
  | 'S16'
  | 'V2'
  | 'V3'
  | 'V4';

/** What can be wrong with a journal: an invariant is broken, or its records do not hang together. */
export type BreachOf = InvariantNumber | 'structure';

/** Something that is wrong with a group of records. */
export interface Breach {
  readonly of: BreachOf;
  /** In a sentence, for people. */
  readonly what: string;
  /** Which step of the group shows it; the last one where the group as a whole does. */
  readonly step: number;
  /** Only a whole group shows it: it is none where the last records of the group were never written. */
  readonly isOfWhole: boolean;
}

/** What every invariant says of itself. */
export interface Stated {
  readonly number: InvariantNumber;
  readonly sentence: string;
  /** The fields of records that it reads. */
  readonly reads: string;
}

export const noBreaches: readonly Breach[] = Object.freeze([]);

/** Takes down what a group breaks. */
export class Breaches {
  /** The step that is looked at. */
  step = 0;
  /** Whether what is taken down holds for a whole group only. */
  isOfWhole = false;
  #list: Breach[] | undefined;

  add(of: BreachOf, what: string): void {
    this.#list ??= [];
    this.#list.push({ of, what, step: this.step, isOfWhole: this.isOfWhole });
  }

  /** Takes down what holds only if no record is missing behind the step. */
  addOfWhole(of: BreachOf, what: string, isWhole: boolean): void {
    this.isOfWhole = !isWhole;
    this.add(of, what);
    this.isOfWhole = false;
  }

  /** What was taken down since the last time. */
  take(): readonly Breach[] {
    const list = this.#list ?? noBreaches;
    this.#list = undefined;
    this.step = 0;
    this.isOfWhole = false;
    return list;
  }
}
