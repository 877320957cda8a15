/** The machine of the chosen actor, as the server laid it out, with what is active lit. */
import type { Chart, ChartState, ChartTransition, Step } from '../view/frames.js';
import { el, group, need, setAttribute, setClass, setText, svg } from './dom.js';
import type { Actor } from './model/actor.js';
import { eventOf, wordsOf } from './model/marks.js';
import { countUpTo } from './model/search-sorted.js';
import type { View, Viewer } from './viewer.js';

/** Drawn smaller than this, its words cannot be read: it scrolls instead. */
const smallest = 0.8;
const largest = 1.25;
const margin = 8;

interface Drawing {
  readonly chart: Chart;
  readonly root: SVGSVGElement;
  readonly states: ReadonlyMap<string, { readonly node: SVGGElement; readonly state: ChartState }>;
  readonly transitions: readonly Line[];
}

interface Line {
  readonly node: SVGGElement;
  /** The line of text of each label. */
  readonly lines: readonly SVGTSpanElement[];
  readonly transition: ChartTransition;
}

export class StatechartView implements View {
  readonly #viewer: Viewer;
  readonly #place = need('chart');
  readonly #note = need('chart-note');
  readonly #empty = el('p', 'empty', 'The machine of the chosen actor is drawn here.');
  readonly #drawings = new Map<Chart, Drawing>();
  #shown: Drawing | undefined;
  #width = 0;
  #height = 0;
  #lit = '';
  #now = 1;
  #scale = '';
  /** What somebody chose; `undefined`: as large as it can be read, and no larger than the pane where that is larger. */
  #zoom: number | 'whole' | undefined;
  readonly #whole = el('button', 'chip', 'whole');

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    group(this.#place, 'Statechart');
    this.#place.append(this.#empty);
    this.#offerZoom(changed);
    new ResizeObserver(([entry]) => {
      this.#width = entry?.contentRect.width ?? 0;
      this.#height = entry?.contentRect.height ?? 0;
      changed();
    }).observe(this.#place);
  }

  draw(): void {
    const { run, actor, n } = this.#viewer;
    const chart = actor === undefined ? undefined : run.chartOf(actor);
    if (actor === undefined || chart === undefined) {
      this.#empty.hidden = false;
      setText(
        this.#empty,
        actor === undefined
          ? 'The machine of the chosen actor is drawn here.'
          : `There is no drawing of a ${actor.kind}.`,
      );
      this.#shown?.root.remove();
      this.#shown = undefined;
      setText(this.#note, '');
      return;
    }
    this.#empty.hidden = true;
    const drawing = this.#drawingOf(chart);
    const isNew = this.#shown !== drawing;
    if (isNew) {
      this.#shown?.root.remove();
      this.#place.append(drawing.root);
      this.#shown = drawing;
      this.#lit = '';
    }
    this.#fit(drawing, isNew);
    this.#light(drawing, actor, n);
  }

  #drawingOf(chart: Chart): Drawing {
    const known = this.#drawings.get(chart);
    if (known !== undefined) return known;
    // A run that begins anew brings its charts again.
    if (this.#drawings.size > 16) this.#drawings.clear();
    const drawing = paint(chart);
    this.#drawings.set(chart, drawing);
    return drawing;
  }

  /** Buttons and keys that draw it larger, smaller, or all of it; a hand that moves it. */
  #offerZoom(changed: () => void): void {
    const zoom = (to: number | 'whole' | undefined): void => {
      this.#zoom = typeof to === 'number' ? Math.max(0.2, Math.min(3, to)) : to;
      // Keys may come faster than frames.
      if (typeof this.#zoom === 'number') this.#now = this.#zoom;
      changed();
    };
    const deeds: Readonly<Record<string, () => void>> = {
      '-': () => zoom(this.#now / 1.25),
      '+': () => zoom(this.#now * 1.25),
      '0': () => zoom(this.#zoom === 'whole' ? undefined : 'whole'),
    };
    for (const [key, button, name] of [
      ['-', el('button', 'icon', '−'), 'Smaller'],
      ['+', el('button', 'icon', '+'), 'Larger'],
      ['0', this.#whole, 'All of it'],
    ] as const) {
      button.type = 'button';
      setAttribute(button, 'title', `${name} (${key} where the chart has the keyboard)`);
      if (key !== '0') setAttribute(button, 'aria-label', name);
      button.addEventListener('click', () => deeds[key]?.());
      need('zoom').append(button);
    }
    this.#place.addEventListener('keydown', (event) => {
      const deed = Object.hasOwn(deeds, event.key) ? deeds[event.key] : undefined;
      if (deed === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      deed();
      event.preventDefault();
    });
    this.#place.addEventListener('pointermove', ({ buttons, pointerType, movementX, movementY }) => {
      if (buttons === 1 && pointerType === 'mouse') this.#place.scrollBy(-movementX, -movementY);
    });
  }

  #fit({ chart, root }: Drawing, isNew: boolean): void {
    const size = `${this.#width} ${this.#height} ${this.#zoom}`;
    if (!isNew && size === this.#scale) return;
    this.#scale = size;
    const [width, height] = [chart.width + 2 * margin, chart.height + 2 * margin];
    const fits = Math.min(this.#width / width, this.#height / height);
    const scale =
      this.#zoom === 'whole' ? Math.min(largest, fits) : (this.#zoom ?? Math.max(smallest, Math.min(largest, fits)));
    this.#now = scale;
    // From afar only the states can be read.
    setClass(root, scale < 0.5 ? 'far' : 'near');
    setAttribute(this.#whole, 'aria-pressed', String(this.#zoom === 'whole'));
    setAttribute(root, 'width', String(Math.round(width * scale)));
    setAttribute(root, 'height', String(Math.round(height * scale)));
    this.#lit = '';
  }

  #light(drawing: Drawing, actor: Actor, n: number): void {
    const { run } = this.#viewer;
    const state = run.stateAt(actor, n);
    const last = run.step(actor.lastStep(n));
    const key = `${actor.id} ${state} ${last?.n} ${last?.event}`;
    if (key === this.#lit) return;
    const before = this.#lit;
    this.#lit = key;
    const lit = new Set(run.litAt(actor, n));
    const been = beenAt(run.steps.length === 0 ? [] : actor.own, n, (at) => run.step(at)?.to);
    for (const [id, { node, state: drawn }] of drawing.states) {
      const words = ['state'];
      if (lit.has(id)) words.push('lit');
      else if (been.has(id)) words.push('been');
      if (drawn.isFinal) words.push('final');
      setClass(node, words.join(' '));
    }
    for (const { node, lines, transition } of drawing.transitions) {
      const isLit = isTaken(transition, last);
      setClass(node, isLit ? 'transition taken' : 'transition');
      for (const [at, line] of lines.entries()) setClass(line, isLit && names(transition.labels[at], last) ? 'by' : '');
    }
    setText(this.#note, noteOf(actor, state, last));
    setAttribute(
      this.#place,
      'aria-label',
      `Statechart of ${actor.kind} ${actor.label}: ${state === '' ? 'not begun' : `in ${wordsOf(state)}`}`,
    );
    this.#center(drawing, state, before === '' || !before.startsWith(`${actor.id} ${state} `));
  }

  /** Where not all of it is in view, the active state is. */
  #center({ chart, states, root }: Drawing, state: string, hasMoved: boolean): void {
    const active = states.get(state)?.state;
    if (active === undefined || !hasMoved) return;
    const scale = Number(root.getAttribute('width')) / (chart.width + 2 * margin);
    this.#place.scrollTo({
      left: (active.x + margin + active.width / 2) * scale - this.#width / 2,
      top: (active.y + margin + active.height / 2) * scale - this.#height / 2,
    });
  }
}

/** The states that it was in, up to an instant; of a long life, the last thousand steps. */
function beenAt(own: readonly number[], n: number, to: (n: number) => string | undefined): Set<string> {
  const been = new Set<string>();
  const end = countUpTo(own, n);
  for (let at = Math.max(0, end - 1_000); at < end; at++) {
    const state = to(own[at] as number);
    if (state !== undefined) been.add(state);
  }
  return been;
}

function isTaken({ from, to, labels }: ChartTransition, last: Step | undefined): boolean {
  if (last === undefined || last.from === '') return false;
  const covers = (drawn: string, state: string) => state === drawn || state.startsWith(`${drawn}.`);
  return covers(from, last.from) && covers(to, last.to) && labels.some((label) => names(label, last));
}

/** Whether a label is of the event of a step; a guard stands behind it in brackets. */
function names(label: string | undefined, step: Step | undefined): boolean {
  return step !== undefined && label?.split(/[\s,[]+/).includes(step.event) === true;
}

function noteOf({ label }: Actor, state: string, last: Step | undefined): string {
  if (state === '') return `${label}: not begun`;
  return last === undefined || last.from === last.to ? `${label}: ${state}` : `${label}: ${state} ← ${eventOf(last)}`;
}

function paint(chart: Chart): Drawing {
  const root = svg('svg', {
    viewBox: `${-margin} ${-margin} ${chart.width + 2 * margin} ${chart.height + 2 * margin}`,
    'aria-hidden': 'true',
  });
  const states = new Map<string, { node: SVGGElement; state: ChartState }>();
  const transitions: Line[] = [];
  const outer = new Set(chart.states.map(({ parent }) => parent));
  for (const state of chart.states) {
    const node = paintState(state, outer.has(state.id));
    states.set(state.id, { node, state });
  }
  for (const transition of chart.transitions) transitions.push(paintTransition(transition));
  root.append(
    ...[...states.values()].filter(({ state }) => outer.has(state.id)).map(({ node }) => node),
    ...transitions.map(({ node }) => node),
    ...[...states.values()].filter(({ state }) => !outer.has(state.id)).map(({ node }) => node),
  );
  return { chart, root, states, transitions };
}

function paintState({ x, y, width, height, label, isInitial, isFinal }: ChartState, isOuter: boolean): SVGGElement {
  const node = svg('g', { class: 'state' });
  node.append(svg('rect', { class: 'box', x, y, width, height, rx: isOuter ? 6 : 10 }));
  if (isFinal)
    node.append(svg('rect', { class: 'inner', x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: 7 }));
  const middle = isOuter ? y + 14 : y + height / 2 + 4;
  const text = svg('text', { x: x + width / 2, y: middle, 'text-anchor': 'middle' });
  text.textContent = label;
  node.append(text);
  // A sign beside the colour: where it is, where it has been.
  const lamp = svg('circle', { class: 'lamp', cx: x + 3, cy: y + 3, r: 4.5 });
  node.append(lamp);
  if (isInitial) node.append(svg('path', { class: 'initial', d: `M${x - 7},${y - 5} l5,4 m1,-4 v5 h-5` }));
  return node;
}

function paintTransition(transition: ChartTransition): Line {
  const { points, labels, labelAt } = transition;
  const node = svg('g', { class: 'transition' });
  const [first, ...rest] = points;
  if (first !== undefined) {
    node.append(
      svg('path', { class: 'line', d: `M${first.x},${first.y}${rest.map(({ x, y }) => `L${x},${y}`).join('')}` }),
    );
    const [before, end] = points.slice(-2);
    if (before !== undefined && end !== undefined) node.append(arrowHead(before, end));
  }
  const text = svg('text', { class: 'on', x: labelAt.x, y: labelAt.y + 11 });
  const lines: SVGTSpanElement[] = [];
  for (const [line, label] of labels.entries()) {
    const part = svg('tspan', { x: labelAt.x, dy: line === 0 ? 0 : 15 });
    part.textContent = label;
    lines.push(part);
  }
  text.append(...lines);
  node.append(text);
  return { node, lines, transition };
}

function arrowHead(before: { x: number; y: number }, end: { x: number; y: number }): SVGPathElement {
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [dx, dy] = [(end.x - before.x) / length, (end.y - before.y) / length];
  const at = (along: number, across: number) =>
    `${end.x - along * dx - across * dy},${end.y - along * dy + across * dx}`;
  return svg('path', { class: 'head', d: `M${end.x},${end.y}L${at(7, 3.2)}L${at(7, -3.2)}Z` });
}
