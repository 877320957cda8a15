/**
 * Rows of a list that is drawn of a run: found a stretch of steps at a time, so
 * that neither a long run nor a new search holds up a frame.
 *
 * W1. Once all steps have been looked at, the rows are those that looking at
 *     every step, in order, would give.
 */
import type { Step } from '../../view/frames.js';
import type { Run } from './run.js';
import { countUpTo } from './search-sorted.js';

export class Rows {
  /** Of each row: its step, and which of the step's rows it is. */
  steps: number[] = [];
  parts: number[] = [];
  /** The last step that was looked at. */
  scanned = 0;
  #run: Run | undefined;
  #generation = 0;
  #rowsOf: (step: Step) => number;

  /** @param rowsOf how many rows a step has */
  constructor(rowsOf: (step: Step) => number) {
    this.#rowsOf = rowsOf;
  }

  get length(): number {
    return this.steps.length;
  }

  /** Begins anew, by another rule. */
  restart(rowsOf: (step: Step) => number): void {
    this.#rowsOf = rowsOf;
    this.#run = undefined;
  }

  /** Looks at up to `most` steps more; `true` when none is left. */
  advance(run: Run, most: number): boolean {
    if (run !== this.#run || run.generation !== this.#generation) {
      this.#run = run;
      this.#generation = run.generation;
      this.steps = [];
      this.parts = [];
      this.scanned = run.first - 1;
    }
    const end = Math.min(run.last, this.scanned + most);
    for (let n = this.scanned + 1; n <= end; n++) {
      const count = this.#rowsOf(run.step(n) as Step);
      for (let part = 0; part < count; part++) {
        this.steps.push(n);
        this.parts.push(part);
      }
    }
    this.scanned = Math.max(this.scanned, end);
    return this.scanned >= run.last;
  }

  /** How many rows belong to steps up to this one. */
  upTo(n: number): number {
    return countUpTo(this.steps, n);
  }

  /** The last row of the steps up to this one; -1 where there is none. */
  indexAt(n: number): number {
    return this.upTo(n) - 1;
  }
}
