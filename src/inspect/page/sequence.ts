/** The sequence chart: a lane for each party, a row for each line between two of them, or for a step without one. */
import type { Arrow, Step } from '../view/frames.js';
import { el, need, setAttribute, setClass, setText, svg } from './dom.js';
import { stepsBy } from './event-list.js';
import { LaneMap, lifeClasses, lifelines, timeWidth } from './lanes-drawing.js';
import { eventOf, markOf } from './model/marks.js';
import { Rows } from './model/rows.js';
import type { Run } from './model/run.js';
import type { View, Viewer } from './viewer.js';
import { VirtualList } from './virtual-list.js';

const rowHeight = 30;
/** Where the line of a row is, and its words above it. */
const lineAt = rowHeight - 10;
/** Pixels that a letter takes, about. */
const letter = 6.3;
/** Lines of one step that are shown. */
const mostLines = 20;

interface Row {
  readonly root: HTMLElement;
  readonly at: SVGTextElement;
  readonly lives: readonly SVGPathElement[];
  readonly line: SVGPathElement;
  readonly head: SVGPathElement;
  readonly words: SVGTextElement;
  readonly mark: SVGTextElement;
}

export class SequenceView implements View {
  readonly #viewer: Viewer;
  readonly #place = need('sequence');
  readonly #heads = need('lanes');
  readonly #note = need('sequence-note');
  readonly #empty = el('p', 'empty', 'Nothing has happened yet.');
  readonly #rows = new Rows(countRows);
  readonly #list: VirtualList<Row>;
  #map: LaneMap;
  #layout = '';
  #only: string | undefined;

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    this.#map = new LaneMap(viewer.run, 0);
    this.#place.append(this.#empty);
    this.#list = new VirtualList<Row>(this.#place, {
      rowHeight,
      make: makeRow,
      show: (row, index) => this.#show(row, index),
      changed,
    });
    this.#place.addEventListener(
      'scroll',
      () => {
        this.#heads.scrollLeft = this.#place.scrollLeft;
      },
      { passive: true },
    );
    this.#place.addEventListener('click', ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-n]') : null;
      const step = row === null ? undefined : viewer.run.step(Number(row.dataset['n']));
      if (step === undefined) return;
      viewer.goTo(step.n);
      viewer.choose(step.actor);
    });
    this.#place.addEventListener('keydown', (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const step = viewer.run.step(viewer.n);
      if (event.key === 'Enter' && step !== undefined) viewer.choose(step.actor);
      else if (!stepsBy(event.key, viewer, this.#list.page)) return;
      event.preventDefault();
    });
  }

  /** Looks at more steps; `true` when none is left. */
  advance(most: number): boolean {
    const { run, filter } = this.#viewer;
    if (filter.actor !== this.#only) {
      this.#only = filter.actor;
      this.#rows.restart(rowsOf(filter.actor));
    }
    return this.#rows.advance(run, most);
  }

  draw(): void {
    const { run, n, isFollowing, moves } = this.#viewer;
    this.#empty.hidden = this.#rows.length > 0;
    setText(this.#note, this.#only === undefined ? '' : 'the chosen actor alone');
    this.#list.resize(this.#rows.length);
    this.#list.keep(this.#rows.indexAt(n), moves, isFollowing, this.#rows.upTo(n - 1));
    const layout = `${run.lanes.count} ${this.#list.width}`;
    if (layout !== this.#layout || this.#rows.length === 0) {
      this.#layout = layout;
      this.#map = new LaneMap(run, this.#list.width);
      for (const row of this.#place.querySelectorAll<HTMLElement>('[data-n]')) delete row.dataset['n'];
    }
    this.#list.draw();
    this.#drawHeads();
    const current = this.#rows.indexAt(n);
    const { from, to } = this.#list.range;
    setAttribute(this.#place, 'aria-activedescendant', current >= from && current < to ? `line-${current}` : undefined);
  }

  /** The names above the lanes: of whoever has each in the middle of what is in view. */
  #drawHeads(): void {
    const { run, actor: chosen } = this.#viewer;
    const { from, to } = this.#list.range;
    const middle = this.#rows.steps[Math.min(to - 1, (from + to) >> 1)] ?? run.last;
    const isNarrow = this.#map.gap < 56;
    const names: [string, string, boolean][] = [
      [isNarrow ? 'far' : 'far side', 'far side', false],
      [
        isNarrow ? `${whose(run, middle).slice(0, 4)}.` : whose(run, middle),
        'the session or the conversation that a step belongs to',
        false,
      ],
    ];
    for (let column = 0; column < run.lanes.count; column++) {
      const owner = run.lanes.ownerOf(column, middle) ?? '';
      const actor = run.actors.get(owner);
      names.push([actor?.short ?? owner, actor?.label ?? owner, owner === chosen?.id]);
    }
    names.push(['host', 'host', false]);
    while (this.#heads.childElementCount < names.length) this.#heads.append(el('span', 'lane'));
    for (const [place, head] of [...this.#heads.children].entries()) {
      const [name, title, isChosen] = names[place] ?? ['', '', false];
      const node = head as HTMLElement;
      setText(node, name);
      setAttribute(node, 'title', title);
      setClass(node, isChosen ? 'lane chosen' : 'lane');
      const x = `${this.#map.xAt(place) - this.#map.gap / 2}px`;
      if (node.style.left !== x) node.style.left = x;
      const width = `${this.#map.gap - 2}px`;
      if (node.style.width !== width) node.style.width = width;
    }
  }

  #show(row: Row, index: number): void {
    const { run, n: instant } = this.#viewer;
    const n = this.#rows.steps[index] as number;
    const part = this.#rows.parts[index] as number;
    const step = run.step(n);
    if (step === undefined) return;
    const { root } = row;
    setClass(root, `row line${n === instant ? ' current' : ''}${n > instant ? ' later' : ''}`);
    setAttribute(root, 'aria-selected', String(n === instant));
    setAttribute(root, 'aria-setsize', String(this.#rows.length));
    // The same row of another run is another row.
    if (root.dataset['n'] === String(n) && root.dataset['part'] === String(part) && root.dataset['of'] === this.#layout)
      return;
    root.id = `line-${index}`;
    root.dataset['n'] = String(n);
    root.dataset['part'] = String(part);
    root.dataset['of'] = this.#layout;
    root.style.width = `${this.#map.width}px`;
    setAttribute(root, 'aria-posinset', String(index + 1));
    const before = this.#rows.steps[index - 1];
    const stepBefore = before === undefined ? undefined : run.step(before);
    const time = run.timeOf(step);
    setText(row.at, stepBefore !== undefined && run.timeOf(stepBefore) === time ? '' : time);
    const paths = lifelines(run, this.#map, step, part === 0, rowHeight);
    row.lives[0]?.setAttribute('d', paths.standing);
    for (const [at, life] of lifeClasses.entries()) row.lives[at + 1]?.setAttribute('d', paths[life]);
    const mark = part === 0 ? markOf(step) : undefined;
    this.#drawLine(row, step, step.arrows[part], mark !== undefined);
    setText(row.mark, mark?.glyph ?? '');
    setClass(row.mark, `mark ${mark?.tone ?? 'plain'}`);
    row.mark.setAttribute('x', String(this.#map.xOf(this.#map.laneOf(step))));
  }

  #drawLine(row: Row, step: Step, arrow: Arrow | undefined, hasMark: boolean): void {
    const own = this.#map.xOf(this.#map.laneOf(step));
    const from = arrow === undefined ? own : this.#map.xOf(arrow.from);
    const to = arrow === undefined ? own : this.#map.xOf(arrow.to);
    const event = eventOf(step);
    const text = arrow?.text || (step.from === step.to ? event : `${event} → ${step.to}`);
    const side = Math.sign(to - from);
    if (side === 0) {
      row.line.setAttribute('d', '');
      row.head.setAttribute('d', arrow === undefined && !hasMark ? dot(own, lineAt) : '');
      if (arrow !== undefined) row.line.setAttribute('d', `M${from},${lineAt - 6}h12v6h-8`);
    } else {
      // The mark on the lane of whoever stepped has room of its own.
      const [leaves, enters] = [hasMark && from === own ? 9 : 0, hasMark && to === own ? 9 : 1];
      row.line.setAttribute('d', `M${from + side * leaves},${lineAt}H${to - side * (enters + 5)}`);
      row.head.setAttribute('d', `M${to - side * enters},${lineAt}l${-side * 7},-3.5v7Z`);
    }
    setClass(row.line, arrow === undefined ? 'arrow none' : 'arrow');
    this.#write(row, text, Math.min(from, to), Math.max(from, to));
    setAttribute(row.root, 'aria-label', arrow === undefined ? `${step.actor}: ${text}` : labelOf(arrow));
    setAttribute(row.root, 'title', arrow === undefined ? `${step.actor}: ${text}` : labelOf(arrow));
  }

  /** Writes above the line, from its left end on, or where there is more room, up to its right end. */
  #write({ words }: Row, text: string, left: number, right: number): void {
    const roomRight = this.#map.width - left - 12;
    const roomLeft = right - timeWidth - 6;
    const isLeft = roomRight < Math.min(text.length * letter, roomLeft);
    const letters = Math.floor((isLeft ? roomLeft : roomRight) / letter);
    setText(words, text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text);
    words.setAttribute('x', String(isLeft ? right - 8 : left + 8));
    words.setAttribute('text-anchor', isLeft ? 'end' : 'start');
  }
}

/** What the second lane is at a step: of a session, or of a conversation. */
function whose(run: Run, n: number): string {
  const step = run.step(n);
  for (
    let actor = step === undefined ? undefined : run.actors.get(step.actor);
    actor !== undefined;
    actor = actor.parent
  )
    if (actor.kind === 'conversation') return 'conversation';
  return 'session';
}

function countRows({ arrows }: Step): number {
  return Math.max(1, Math.min(mostLines, arrows.length));
}

function rowsOf(actor: string | undefined): (step: Step) => number {
  if (actor === undefined) return countRows;
  return (step) => (step.actor === actor ? countRows(step) : 0);
}

function labelOf({ from, to, text }: Arrow): string {
  return `${from.replace(/^actor:/, '')} to ${to.replace(/^actor:/, '')}: ${text}`;
}

function dot(x: number, y: number): string {
  return `M${x - 3},${y}a3,3 0 1 0 6,0a3,3 0 1 0 -6,0Z`;
}

function makeRow(): Row {
  const drawing = svg('svg', { height: rowHeight, width: '100%', 'aria-hidden': 'true' });
  const at = svg('text', { class: 'at', x: timeWidth - 10, y: lineAt + 3, 'text-anchor': 'end' });
  const lives = ['standing', ...lifeClasses].map((life) => svg('path', { class: `life ${life}` }));
  const line = svg('path', { class: 'arrow' });
  const head = svg('path', { class: 'head' });
  const words = svg('text', { class: 'words', y: lineAt - 7 });
  const mark = svg('text', { class: 'mark', y: lineAt + 4.5, 'text-anchor': 'middle' });
  drawing.append(at, ...lives, line, head, words, mark);
  const root = el('div', 'row line', drawing);
  root.setAttribute('role', 'option');
  return { root, at, lives, line, head, words, mark };
}
