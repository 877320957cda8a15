/**
 * What somebody looks at: an instant of a run, an actor, a search. Views read it
 * and are drawn once per frame, however often it changed.
 */
import { hashOf } from './dom.js';
import type { Actor } from './model/actor.js';
import { Rows } from './model/rows.js';
import { Run } from './model/run.js';
import { type Filter, matcher, noFilter } from './model/search.js';

export const panes = ['tree', 'chart', 'sequence', 'events', 'details', 'talk'] as const;
export type Pane = (typeof panes)[number];

export type Connection = 'connecting' | 'open' | 'lost' | 'refused' | 'ended' | 'unreadable';

/** Something of the page that can be drawn. */
export interface View {
  draw(): void;
}

export class Viewer {
  run = new Run();
  connection: Connection = 'connecting';
  /** Steps that have come and were not taken in yet. */
  waiting = 0;
  pane: Pane = 'tree';
  isNarrow = false;
  isShowingWithdrawn = false;
  isHidingOver = false;
  /** The steps that the filter lets through. */
  readonly matches: Rows;
  /** Counts changes of the instant or the actor that were made by somebody, after which lists go there. */
  moves = 0;
  #filter: Filter = noFilter;
  #instant: number | undefined;
  #actor: string | undefined;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.matches = new Rows(() => 1);
  }

  /** Whether the page goes along with what comes. */
  get isFollowing(): boolean {
    return this.#instant === undefined;
  }

  /** The instant: the number of the last step that has happened. */
  get n(): number {
    return this.#instant === undefined ? this.run.last : this.run.clamp(this.#instant);
  }

  /** The chosen actor, if it has begun: else the first there is. */
  get actor(): Actor | undefined {
    const chosen = this.#actor === undefined ? undefined : this.run.actors.get(this.#actor);
    return chosen ?? this.run.roots[0];
  }

  get filter(): Filter {
    return this.#filter;
  }

  /** Takes another run: a recording, or one that began anew. */
  begin(run: Run): void {
    this.run = run;
    this.#changed();
  }

  goTo(n: number): void {
    this.#instant = this.run.clamp(n);
    this.moved();
  }

  follow(): void {
    this.#instant = undefined;
    this.moved();
  }

  choose(actor: string): void {
    if (this.actor?.id === actor && this.#actor !== undefined) return;
    this.#actor = actor;
    if (this.#filter.actor !== undefined) this.search({ ...this.#filter, actor });
    this.moved();
  }

  /** To the step before or after, of those that the filter lets through. */
  move(by: number): void {
    const { matches, n } = this;
    const at = matches.upTo(n);
    const isOn = at > 0 && matches.steps[at - 1] === n;
    const wanted = by < 0 ? at - 1 + by + (isOn ? 0 : 1) : at - 1 + by;
    const step = matches.steps[Math.max(0, Math.min(matches.length - 1, wanted))];
    if (step !== undefined) this.goTo(step);
  }

  search(filter: Filter): void {
    this.#filter = filter;
    const asks = matcher(filter);
    this.matches.restart((step) => (asks(step) ? 1 : 0));
    this.moved();
  }

  show(pane: Pane): void {
    this.pane = pane;
    this.#changed();
  }

  /** Something of what is looked at was changed by somebody. */
  moved(): void {
    this.moves++;
    this.#changed();
  }

  /** The address of what is looked at. */
  get hash(): string {
    return hashOf(this.#instant === undefined ? undefined : this.n, this.#actor);
  }

  /** Looks at what an address says. */
  read(hash: string): void {
    const words = new URLSearchParams(hash.replace(/^#/, ''));
    const n = words.get('n');
    // What is asked for may not have come yet: it is brought into bounds when it is read.
    this.#instant = n !== null && /^\d{1,15}$/.test(n) ? Number(n) : undefined;
    const actor = words.get('actor');
    if (actor !== null && actor !== '') {
      this.#actor = actor;
      if (this.#filter.actor !== undefined) this.search({ ...this.#filter, actor });
    }
    this.moved();
  }
}
