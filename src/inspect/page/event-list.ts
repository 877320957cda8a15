/** The steps, one line each, and what narrows them down. */
import type { ActorKind } from '../../contract/journal.js';
import type { Step } from '../view/frames.js';
import { el, group, need, setAttribute, setClass, setText } from './dom.js';
import { eventOf, markOf } from './model/marks.js';
import { isFiltering } from './model/search.js';
import type { View, Viewer } from './viewer.js';
import { VirtualList } from './virtual-list.js';

const kinds: readonly (readonly [ActorKind, string])[] = [
  ['session', 'session'],
  ['call', 'call'],
  ['transaction', 'trans.'],
  ['conversation', 'conv.'],
  ['supervisor', 'superv.'],
];

interface Row {
  readonly root: HTMLElement;
  readonly n: HTMLElement;
  readonly at: HTMLElement;
  readonly glyph: HTMLElement;
  readonly what: HTMLElement;
}

export class EventList implements View {
  readonly #viewer: Viewer;
  readonly #events = need('events');
  readonly #note = need('events-note');
  readonly #search = need<HTMLInputElement>('search');
  readonly #only = need<HTMLButtonElement>('only');
  readonly #chips = new Map<ActorKind, HTMLButtonElement>();
  readonly #empty = el('p', 'empty');
  readonly #list: VirtualList<Row>;

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    group(need('kinds'), 'Kinds of actor', false);
    this.#events.append(this.#empty);
    this.#list = new VirtualList<Row>(this.#events, {
      rowHeight: 24,
      make: makeRow,
      show: (row, index) => this.#show(row, index),
      changed,
    });
    this.#search.addEventListener('input', () => viewer.search({ ...viewer.filter, text: this.#search.value }));
    this.#only.addEventListener('click', () => this.toggleOnly());
    for (const [kind, words] of kinds) {
      const chip = el('button', 'chip', words);
      chip.type = 'button';
      setAttribute(chip, 'aria-label', kind);
      setAttribute(chip, 'title', `Show steps of this kind: ${kind}`);
      chip.addEventListener('click', () => {
        const chosen = viewer.filter.kinds;
        viewer.search({
          ...viewer.filter,
          kinds: chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind],
        });
      });
      this.#chips.set(kind, chip);
      need('kinds').append(chip);
    }
    this.#events.addEventListener('click', ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-n]') : null;
      if (row !== null) this.#pick(Number(row.dataset['n']));
    });
    this.#events.addEventListener('keydown', (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === 'Enter') this.#pick(viewer.n);
      else if (!stepsBy(event.key, viewer, this.#list.page)) return;
      event.preventDefault();
    });
  }

  /** Shows the steps of the chosen actor alone, or all again. */
  toggleOnly(): void {
    const { filter, actor } = this.#viewer;
    const { actor: filtered, ...rest } = filter;
    if (filtered === undefined && actor !== undefined) this.#viewer.search({ ...rest, actor: actor.id });
    else this.#viewer.search(rest);
  }

  /** Asks for nothing; `false` where nothing was asked for. */
  clear(): boolean {
    if (!isFiltering(this.#viewer.filter)) return false;
    this.#search.value = '';
    this.#viewer.search({ text: '', kinds: [] });
    return true;
  }

  draw(): void {
    const { run, matches, filter, n, isFollowing, moves } = this.#viewer;
    setAttribute(this.#only, 'aria-pressed', String(filter.actor !== undefined));
    for (const [kind, chip] of this.#chips) setAttribute(chip, 'aria-pressed', String(filter.kinds.includes(kind)));
    setText(this.#note, noteOf(this.#viewer));
    this.#empty.hidden = matches.length > 0;
    if (matches.length === 0)
      setText(
        this.#empty,
        run.last === 0 ? 'Nothing has happened yet.' : 'No step has what you look for. Esc shows all of them.',
      );
    this.#list.resize(matches.length);
    this.#list.keep(matches.indexAt(n), moves, isFollowing);
    this.#list.draw();
    const current = matches.indexAt(n);
    const { from, to } = this.#list.range;
    setAttribute(
      this.#events,
      'aria-activedescendant',
      current >= from && current < to ? `event-${matches.steps[current]}` : undefined,
    );
  }

  #pick(n: number): void {
    const step = this.#viewer.run.step(n);
    if (step === undefined) return;
    this.#viewer.goTo(n);
    this.#viewer.choose(step.actor);
  }

  #show({ root, n, at, glyph, what }: Row, index: number): void {
    const { run, matches } = this.#viewer;
    const number = matches.steps[index] as number;
    const step = run.step(number);
    if (step === undefined) return;
    const instant = this.#viewer.n;
    setClass(
      root,
      `row event${number === instant ? ' current' : ''}${number > instant ? ' later' : ''}${reasonOf(step, number > instant)}`,
    );
    if (root.dataset['n'] !== String(number)) {
      const mark = markOf(step);
      root.id = `event-${number}`;
      root.dataset['n'] = String(number);
      setAttribute(root, 'aria-posinset', String(index + 1));
      setText(n, String(number));
      setText(at, `${run.timeOf(step)} ms`);
      setText(glyph, mark?.glyph ?? '');
      setClass(glyph, `glyph ${mark?.tone ?? 'plain'}`);
      what.replaceChildren(
        el('span', 'name', eventOf(step)),
        el('span', 'to', step.from === step.to ? '' : ` → ${step.to}`),
      );
      // As a new node: one that is kept, and grows at its left, would count as moved.
      root.lastElementChild?.replaceWith(el('span', 'who', run.nameOf(step.actor)));
      setAttribute(root, 'title', titleOf(step, run.timeOf(step)));
    }
    setAttribute(root, 'aria-selected', String(number === instant));
    setAttribute(root, 'aria-setsize', String(matches.length));
  }
}

/** Moves the instant as a key of a list asks; `false` where the key is none. */
export function stepsBy(key: string, viewer: Viewer, page: number): boolean {
  if (key === 'ArrowDown') viewer.move(1);
  else if (key === 'ArrowUp') viewer.move(-1);
  else if (key === 'PageDown') viewer.move(page);
  else if (key === 'PageUp') viewer.move(-page);
  else if (key === 'Home') viewer.move(Number.NEGATIVE_INFINITY);
  else if (key === 'End') viewer.move(Number.POSITIVE_INFINITY);
  else return false;
  return true;
}

/** That a step says why, and whether it is a bad end: which has not come yet where the step is later. */
function reasonOf(step: Step, isLater: boolean): string {
  if (step.why === undefined) return '';
  return markOf(step)?.tone === 'bad' && !isLater ? ' reason lost' : ' reason';
}

function titleOf(step: Step, time: string): string {
  const { n, actor, from, to, why } = step;
  const moved = from === to ? `stays ${to}` : `${from === '' ? 'begins' : from} → ${to}`;
  return `step ${n}, ${time} ms: ${actor}, ${eventOf(step)}, ${moved}${why === undefined ? '' : `\n${why}`}`;
}

function noteOf({ run, matches, filter }: Viewer): string {
  const dropped = run.droppedInAll === 0 ? '' : `, ${run.droppedInAll} not shown`;
  if (!isFiltering(filter)) return run.last === 0 ? '' : `${run.steps.length}${dropped}`;
  return `${matches.length} of ${run.steps.length}${dropped}`;
}

function makeRow(): Row {
  const [n, at, glyph, what] = [el('span', 'n'), el('span', 'at'), el('span', 'glyph'), el('span', 'what')] as const;
  glyph.setAttribute('aria-hidden', 'true');
  const root = el('div', 'row event', n, at, glyph, what, el('span', 'who'));
  root.setAttribute('role', 'option');
  return { root, n, at, glyph, what };
}
