/** The judge, asked as a run goes on: what is wrong with it so far. */
import type { JournalRecord } from '../../contract/journal.js';
import { Bench } from '../../verify/bench.js';
import type { Finding as Found } from '../../verify/index.js';
import { cut, shownId } from './bounds.js';
import type { Finding } from './frames.js';

const maxFindings = 100;
/** For how many records back it is known which step they are. */
const remembered = 20_000;

export class LiveJudge {
  readonly #bench = new Bench({ maxFindings, replays: true, keepsState: false });
  readonly #told = new Set<Found>();
  readonly #max: number;
  /** Records and their steps, the last ones. */
  #seqs: number[] = [];
  #steps: number[] = [];
  #isOver = false;

  /** `max`: how many characters a text may have. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a record, which is step `n`. */
  take(record: JournalRecord, n: number): void {
    this.#seqs.push(record.seq);
    this.#steps.push(n);
    if (this.#seqs.length > 2 * remembered) {
      this.#seqs = this.#seqs.slice(-remembered);
      this.#steps = this.#steps.slice(-remembered);
    }
    this.#bench.take(record);
  }

  /** Steps are numbered anew: those before are all the first. */
  restart(): void {
    this.#steps = this.#steps.map(() => 1);
  }

  /** The run is over: what was waited for does not come. */
  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#bench.finish();
  }

  /** What was found since the last time. */
  found(): Finding[] {
    const { list } = this.#bench.findings;
    if (list.length === this.#told.size) return [];
    const fresh: Finding[] = [];
    for (const finding of list) {
      if (this.#told.has(finding)) continue;
      this.#told.add(finding);
      const { invariant, seq, actor, what } = finding;
      fresh.push({ n: this.#stepOf(seq), actor: shownId(actor), invariant, detail: cut(what, this.#max) });
    }
    return fresh;
  }

  #stepOf(seq: number): number {
    let low = 0;
    let high = this.#seqs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seqs[middle] as number) < seq) low = middle + 1;
      else high = middle;
    }
    return this.#steps[low] ?? this.#steps.at(-1) ?? 1;
  }
}
