/** The actors there are at the instant, each with its state. */
import { nameOf } from './details.js';
import { el, need, setAttribute, setClass, setText } from './dom.js';
import { mannerOf, wordsOf } from './model/marks.js';
import { type TreeLine, treeAt } from './model/tree.js';
import type { View, Viewer } from './viewer.js';
import { VirtualList } from './virtual-list.js';

interface Row {
  readonly root: HTMLElement;
  readonly twist: HTMLElement;
  readonly glyph: HTMLElement;
  readonly label: HTMLElement;
}

export class TreeView implements View {
  readonly #viewer: Viewer;
  readonly #tree = need('tree');
  readonly #note = need('tree-note');
  readonly #openOnly = need<HTMLButtonElement>('open-only');
  readonly #empty = el('p', 'empty', 'No actor has begun yet.');
  readonly #folded = new Set<string>();
  readonly #list: VirtualList<Row>;
  #lines: TreeLine[] = [];
  #computed: unknown;
  #state = '';

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    this.#tree.append(this.#empty);
    this.#list = new VirtualList<Row>(this.#tree, {
      rowHeight: 24,
      make: makeRow,
      show: (row, index) => this.#show(row, index),
      changed,
    });
    setAttribute(this.#openOnly, 'title', 'Leave out actors whose life is over');
    this.#openOnly.addEventListener('click', () => {
      viewer.isHidingOver = !viewer.isHidingOver;
      viewer.moved();
    });
    this.#tree.addEventListener('keydown', (event) => this.#key(event));
    this.#tree.addEventListener('click', ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
      const line = row === null ? undefined : this.#lines[Number(row.dataset['index'])];
      if (line === undefined) return;
      if (target instanceof Element && target.classList.contains('twist') && line.hasChildren) this.#fold(line);
      else {
        viewer.choose(line.actor.id);
        if (viewer.isNarrow) viewer.show('details');
      }
    });
  }

  draw(): void {
    const { actor } = this.#viewer;
    this.#find();
    this.#list.resize(this.#lines.length);
    const chosen = this.#lines.findIndex((line) => line.actor === actor);
    this.#list.keep(chosen, this.#viewer.moves, false);
    this.#list.draw();
    const { from, to } = this.#list.range;
    setAttribute(this.#tree, 'aria-activedescendant', chosen >= from && chosen < to ? `tree-${chosen}` : undefined);
  }

  /** Finds the lines, where what they follow from has changed. */
  #find(): void {
    const { run, n, actor, isHidingOver } = this.#viewer;
    setAttribute(this.#openOnly, 'aria-pressed', String(isHidingOver));
    const when = isHidingOver || n < run.last ? n : '';
    const state = `${run.actors.size} ${run.generation} ${when} ${this.#folded.size} ${isHidingOver} ${actor?.id}`;
    if (this.#computed !== run || this.#state !== state) {
      this.#computed = run;
      this.#state = state;
      this.#lines = treeAt(run, n, this.#folded, isHidingOver ? actor : undefined);
      this.#empty.hidden = this.#lines.length > 0;
      setText(this.#note, this.#lines.length === 0 ? '' : `${run.actors.size} in all`);
    }
  }

  #show({ root, twist, glyph, label }: Row, index: number): void {
    const state = root.lastElementChild as HTMLElement;
    const { actor, place, siblings, isOpen, hasChildren } = this.#lines[index] as TreeLine;
    const { run, n } = this.#viewer;
    const now = run.stateAt(actor, n);
    const manner = mannerOf(actor.kind, now);
    const isChosen = actor === this.#viewer.actor;
    root.id = `tree-${index}`;
    root.dataset['index'] = String(index);
    setAttribute(root, 'aria-level', String(actor.depth + 1));
    setAttribute(root, 'aria-posinset', String(place));
    setAttribute(root, 'aria-setsize', String(siblings));
    setAttribute(root, 'aria-selected', String(isChosen));
    setAttribute(root, 'aria-expanded', hasChildren ? String(isOpen) : undefined);
    setAttribute(root, 'title', `${actor.kind} ${actor.id}: ${wordsOf(now)}`);
    twist.style.marginInlineStart = `${Math.min(actor.depth, 8) * 14}px`;
    setText(twist, hasChildren ? (isOpen ? '▾' : '▸') : '');
    setText(glyph, manner.glyph);
    setClass(glyph, `glyph ${manner.tone}`);
    setText(label, nameOf(actor));
    const words = wordsOf(now);
    if (state.textContent !== words || !state.classList.contains(manner.tone))
      // As a new node: one that is kept, and grows at its left, would count as moved.
      state.replaceWith(el('span', `state ${manner.tone}`, words));
  }

  #fold({ actor, isOpen }: TreeLine): void {
    if (isOpen) this.#folded.add(actor.id);
    else this.#folded.delete(actor.id);
    this.#computed = undefined;
    this.#viewer.moved();
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    // Keys may come faster than frames.
    this.#find();
    const at = this.#lines.findIndex((line) => line.actor === this.#viewer.actor);
    const line = this.#lines[at];
    const to = (index: number): void => {
      const target = this.#lines[Math.max(0, Math.min(this.#lines.length - 1, index))];
      if (target !== undefined) this.#viewer.choose(target.actor.id);
    };
    if (event.key === 'ArrowDown') to(at + 1);
    else if (event.key === 'ArrowUp') to(at - 1);
    else if (event.key === 'PageDown') to(at + this.#list.page);
    else if (event.key === 'PageUp') to(at - this.#list.page);
    else if (event.key === 'Home') to(0);
    else if (event.key === 'End') to(this.#lines.length - 1);
    else if (event.key === 'ArrowRight' && line?.hasChildren) {
      if (line.isOpen) to(at + 1);
      else this.#fold(line);
    } else if (event.key === 'ArrowLeft' && line !== undefined) {
      const { parent } = line.actor;
      if (line.isOpen) this.#fold(line);
      else if (parent !== undefined) this.#viewer.choose(parent.id);
    } else if (event.key === 'Enter' && line !== undefined) {
      this.#viewer.choose(line.actor.id);
      if (this.#viewer.isNarrow) this.#viewer.show('details');
    } else return;
    event.preventDefault();
  }
}

function makeRow(): Row {
  const [twist, glyph, label, state] = [
    el('span', 'twist'),
    el('span', 'glyph'),
    el('span', 'label'),
    el('span', 'state'),
  ] as const;
  twist.setAttribute('aria-hidden', 'true');
  glyph.setAttribute('aria-hidden', 'true');
  const root = el('div', 'row actor', twist, glyph, label, state);
  root.setAttribute('role', 'treeitem');
  return { root, twist, glyph, label };
}
