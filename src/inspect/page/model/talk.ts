/**
 * The conversation at any instant: each entry knows when it came, when it grew
 * and when it was settled or withdrawn, so that no instant needs a fold.
 *
 * T1. An entry at an instant is what folding the edits up to it, one after the
 *     other, would make of it.
 * T2. No more than `mostEntries` are kept; older ones are counted, not kept.
 */
import type { Edit } from '../../view/frames.js';
import { begunUpTo, countUpTo } from './search-sorted.js';

type Added = Extract<Edit, { edit: 'add' }>;

export type Standing = 'provisional' | 'standing' | 'withdrawn';

/** An entry as it is at an instant. */
export interface Said {
  readonly entry: Entry;
  readonly text: string;
  readonly standing: Standing;
  /** Whether this instant is the one at which it went. */
  readonly isWithdrawnNow: boolean;
}

/** What an entry is from a step on: so much of one of its texts. */
interface Revision {
  readonly n: number;
  readonly text: number;
  readonly length: number;
  readonly standing: Standing;
}

export class Entry {
  readonly id: string;
  readonly who: Added['who'];
  readonly since: number;
  /** What it said, each text with all that was appended to it. */
  readonly #texts: string[];
  readonly #at: number[] = [];
  readonly #revisions: Revision[] = [];

  constructor(n: number, { id, who, text, provisional }: Added) {
    this.id = id;
    this.who = who;
    this.since = n;
    this.#texts = [text];
    this.#revise(n, provisional ? 'provisional' : 'standing');
  }

  get standing(): Standing {
    return (this.#revisions.at(-1) as Revision).standing;
  }

  append(n: number, text: string): void {
    this.#texts[this.#texts.length - 1] += text;
    this.#revise(n, this.standing);
  }

  replace(n: number, text: string, provisional: boolean): void {
    this.#texts.push(text);
    this.#revise(n, provisional ? 'provisional' : 'standing');
  }

  stand(n: number, standing: Standing): void {
    this.#revise(n, standing);
  }

  #revise(n: number, standing: Standing): void {
    const text = this.#texts.length - 1;
    if (this.#at.at(-1) === n) {
      this.#at.pop();
      this.#revisions.pop();
    }
    this.#at.push(n);
    this.#revisions.push({ n, text, length: (this.#texts[text] as string).length, standing });
  }

  /** What it is at an instant from its first on. */
  at(n: number): Said {
    const revision = this.#revisions[Math.max(0, countUpTo(this.#at, n) - 1)] as Revision;
    const text = this.#texts[revision.text] as string;
    return {
      entry: this,
      text: revision.length === text.length ? text : text.slice(0, revision.length),
      standing: revision.standing,
      isWithdrawnNow: revision.standing === 'withdrawn' && revision.n === n,
    };
  }
}

export class Talk {
  readonly #most: number;
  entries: Entry[] = [];
  /** How many older ones are not kept. */
  forgotten = 0;
  #byId = new Map<string, Entry>();
  readonly #open = new Set<Entry>();

  constructor(mostEntries = 20_000) {
    this.#most = mostEntries;
  }

  edit(n: number, edit: Edit): void {
    if (edit.edit === 'add') {
      this.#add(n, edit);
      return;
    }
    if (edit.edit === 'append' || edit.edit === 'replace') {
      this.#say(n, edit);
      return;
    }
    if (edit.id === undefined) {
      for (const entry of this.#open) this.#decide(n, entry, edit.edit);
      return;
    }
    const entry = this.#byId.get(edit.id);
    if (entry === undefined) return;
    if (edit.edit === 'withdraw' ? entry.standing !== 'withdrawn' : entry.standing === 'provisional') {
      this.#decide(n, entry, edit.edit);
    }
  }

  #say(n: number, edit: Extract<Edit, { edit: 'append' | 'replace' }>): void {
    const entry = this.#byId.get(edit.id);
    if (entry === undefined) return;
    if (edit.edit === 'append') {
      if (entry.standing !== 'withdrawn') entry.append(n, edit.text);
      return;
    }
    entry.replace(n, edit.text, edit.provisional);
    if (edit.provisional) this.#open.add(entry);
    else this.#open.delete(entry);
  }

  #decide(n: number, entry: Entry, edit: 'settle' | 'withdraw'): void {
    entry.stand(n, edit === 'settle' ? 'standing' : 'withdrawn');
    this.#open.delete(entry);
  }

  #add(n: number, edit: Added): void {
    const entry = new Entry(n, edit);
    this.entries.push(entry);
    this.#byId.set(edit.id, entry);
    if (edit.provisional) this.#open.add(entry);
    if (this.entries.length <= this.#most * 1.25) return;
    const gone = this.entries.length - this.#most;
    for (const old of this.entries.slice(0, gone)) {
      if (this.#byId.get(old.id) === old) this.#byId.delete(old.id);
      this.#open.delete(old);
    }
    this.entries = this.entries.slice(gone);
    this.forgotten += gone;
  }

  /**
   * The last `most` entries at that instant, in order; what was withdrawn is among them at the instant at which it
   * goes, and later only where it is asked for.
   */
  at(n: number, most: number, withWithdrawn: boolean): { readonly said: Said[]; readonly earlier: number } {
    const said: Said[] = [];
    let at = begunUpTo(this.entries, (entry) => entry.since, n);
    for (; at > 0 && said.length < most; at--) {
      const entry = (this.entries[at - 1] as Entry).at(n);
      if (entry.standing !== 'withdrawn' || entry.isWithdrawnNow || withWithdrawn) said.push(entry);
    }
    return { said: said.reverse(), earlier: at + this.forgotten };
  }
}
