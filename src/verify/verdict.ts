/** What `verify` and `replay` give. */
import type { JournalRecord } from '../contract/journal.js';
import type { BreachOf } from './invariants/index.js';

/** What is wrong with a journal: a broken invariant by its number, records that do not hang together, or a difference from the machines. */
export type FindingOf = BreachOf | 'divergent';

/** Something that is wrong with a journal. */
export interface Finding {
  readonly invariant: FindingOf;
  /** Of the record that shows it. */
  readonly seq: number;
  /** Whose record that is. */
  readonly actor: string;
  /** In a sentence, for people. */
  readonly what: string;
  /** The record itself. */
  readonly record: JournalRecord;
}

/** What `verify` gives. */
export interface Verdict {
  /** How many were read. */
  readonly records: number;
  /** How many lives began. */
  readonly sessions: number;
  readonly calls: number;
  readonly conversations: number;
  readonly transactions: number;
  readonly supervisors: number;
  /** The first `maxFindings`, in order of the records. Empty: the journal is sound. */
  readonly findings: readonly Finding[];
  /** How many there are beyond these. */
  readonly findingsBeyond: number;
  /** Lives whose end is not recorded: they go on, or their process is gone. No fault. */
  readonly unfinished: {
    readonly sessions: number;
    readonly calls: number;
    readonly conversations: number;
    readonly transactions: number;
    readonly supervisors: number;
  };
  /** Records that cannot be judged, since those before them are missing: compaction, or a journal that keeps the last ones only. */
  readonly unjudged: number;
  /** The versions of the machines that wrote it, in order of appearance. */
  readonly machines: readonly number[];
}

/** What `verify` can be told. */
export interface VerifyOptions {
  /** How many findings are given; those beyond are counted. Default 100. */
  readonly maxFindings?: number;
  /** Whether every step is also taken again by the machines, and compared. Default `true`. */
  readonly replays?: boolean;
}

/** Takes down what is found. */
export class Findings {
  readonly list: Finding[] = [];
  beyond = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(invariant: FindingOf, record: JournalRecord, what: string): void {
    const { seq, actor } = record;
    if (this.list.length >= this.#max) this.beyond++;
    else this.list.push({ invariant, seq, actor, what, record });
  }

  /** Adds what is found late, about a record that others stand behind. */
  addLate(invariant: FindingOf, record: JournalRecord, what: string): void {
    const { seq, actor } = record;
    const at = this.list.findLastIndex((other) => other.seq <= seq) + 1;
    if (at >= this.#max) {
      this.beyond++;
      return;
    }
    this.list.splice(at, 0, { invariant, seq, actor, what, record });
    if (this.list.length <= this.#max) return;
    this.list.pop();
    this.beyond++;
  }
}

/** What is wrong with a group if it is whole. */
export class Withheld {
  #list: { readonly of: FindingOf; readonly record: JournalRecord; readonly what: string }[] = [];

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  add(of: FindingOf, record: JournalRecord, what: string): void {
    this.#list.push({ of, record, what });
  }

  /** The group was whole. */
  tell(findings: Findings): void {
    if (this.#list.length === 0) return;
    for (const { of, record, what } of this.#list) findings.addLate(of, record, what);
    this.forget();
  }

  /** It was not. */
  forget(): void {
    if (this.#list.length > 0) this.#list = [];
  }
}
