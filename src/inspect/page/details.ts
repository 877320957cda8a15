/** The chosen actor at the instant: its state, why, what it did; and the step at the instant, with what led to it. */
import type { Step } from '../view/frames.js';
import { afterDrawing } from './after-drawing.js';
import { el, group, linkTo, need, setAttribute, setClass, setText } from './dom.js';
import type { Actor } from './model/actor.js';
import { eventOf, mannerOf, markOf, wordsOf } from './model/marks.js';
import { countUpTo } from './model/search-sorted.js';
import { headingOf, meaningOf } from './state-words.js';
import type { View, Viewer } from './viewer.js';
import { VirtualList } from './virtual-list.js';

/** Calls that ended badly are told of beside their session; more than these are counted. */
const mostLosses = 5;

interface Row {
  readonly root: HTMLElement;
  readonly link: HTMLAnchorElement;
  readonly glyph: HTMLElement;
  readonly words: HTMLElement;
}

export class DetailsView implements View {
  readonly #viewer: Viewer;
  readonly #note = need('details-note');
  readonly #glyph = el('span', 'glyph');
  readonly #label = el('span', 'label');
  readonly #id = el('span', 'quiet mono id');
  #state = el('span', 'state');
  readonly #why = el('div', 'why');
  readonly #step = el('div', 'step');
  readonly #head = el('div', 'whose', this.#glyph, el('div', 'names', this.#label, this.#id), this.#state);
  readonly #history = el('div', 'scroll rows history');
  readonly #list: VirtualList<Row>;
  readonly #empty = el('p', 'empty', 'Choose an actor.');
  #own: readonly number[] = [];
  #told = '';
  #stepTold = '';

  constructor(viewer: Viewer, changed: () => void) {
    this.#viewer = viewer;
    this.#glyph.setAttribute('aria-hidden', 'true');
    setAttribute(this.#history, 'tabindex', '0');
    setAttribute(this.#history, 'role', 'list');
    setAttribute(this.#history, 'aria-label', 'All steps of the chosen actor');
    group(this.#why, 'Why');
    group(this.#step, 'The step at the instant');
    need('details').append(
      this.#head,
      this.#why,
      this.#step,
      el('h3', '', 'All its steps'),
      this.#history,
      this.#empty,
    );
    this.#list = new VirtualList<Row>(this.#history, {
      rowHeight: 22,
      make: makeRow,
      show: (row, index) => this.#show(row, index),
      changed,
    });
  }

  draw(): void {
    const { run, actor, n, moves } = this.#viewer;
    this.#empty.hidden = actor !== undefined;
    if (actor === undefined) return;
    const state = run.stateAt(actor, n);
    const manner = mannerOf(actor.kind, state);
    setText(this.#glyph, manner.glyph);
    setClass(this.#glyph, `glyph big ${manner.tone}`);
    setText(this.#label, actor.label);
    setText(this.#id, actor.id === actor.label ? actor.kind : `${actor.kind} ${actor.id}`);
    setAttribute(this.#id, 'title', actor.id);
    if (this.#state.textContent !== wordsOf(state) || !this.#state.classList.contains(manner.tone)) {
      // As a new node: one that is kept, and grows at its left, would count as moved.
      const badge = el('span', `state badge ${manner.tone}`, wordsOf(state));
      this.#state.replaceWith(badge);
      this.#state = badge;
    }
    const count = countUpTo(actor.own, n);
    setText(this.#note, `step ${n} of ${run.last}`);
    this.#tellWhy(actor, state, n);
    this.#tellStep(run.step(n));
    this.#own = actor.own;
    this.#list.resize(actor.own.length);
    this.#list.keep(count - 1, moves, this.#viewer.isFollowing);
    this.#list.draw();
  }

  #tellWhy(actor: Actor, state: string, n: number): void {
    const { run } = this.#viewer;
    const reason = actor.why(n);
    const later = actor.whyLater(n);
    const losses = actor.children.length === 0 ? 0 : countUpTo(run.losses, n);
    const key = `${actor.id} ${state} ${reason?.n} ${later?.n} ${run.generation} ${losses}`;
    if (key === this.#told) return;
    this.#told = key;
    const { tone } = mannerOf(actor.kind, state);
    setAttribute(this.#why, 'data-tone', reason === undefined ? 'none' : tone);
    const inside: Node[] = [];
    if (reason !== undefined) {
      const head = el('h3', '', headingOf(actor.kind, state), ' ');
      head.append(linkTo(`step ${reason.n}`, reason.n, actor.id));
      inside.push(head, el('p', 'reason', reason.why));
      if (later !== undefined)
        inside.push(el('p', 'meaning', linkTo(`step ${later.n}`, later.n, actor.id), ` ${later.why}`));
    } else inside.push(el('h3', '', wordsOf(state)));
    const meaning = meaningOf(actor.kind, state);
    // A reason says more than the state does.
    if (meaning !== '' && reason?.isDecisive !== true) inside.push(el('p', 'meaning', meaning));
    if (losses > 0) inside.push(...this.#losses(actor, n));
    this.#why.replaceChildren(...inside);
    toTop(this.#why);
  }

  /** The calls of this actor that were given up, each with its reason. */
  #losses(actor: Actor, n: number): Node[] {
    const list = el('ul', 'losses');
    const { run } = this.#viewer;
    for (let at = countUpTo(run.losses, n) - 1; at >= 0 && list.childElementCount < mostLosses; at--) {
      const step = run.step(run.losses[at] as number);
      const lost = step === undefined ? undefined : run.actors.get(step.actor);
      if (step === undefined || lost === undefined || !isWithin(lost, actor)) continue;
      const item = el('li', '', el('span', 'glyph bad', '✕'), ' ');
      item.append(linkTo(nameOf(lost), step.n, lost.id), ` ${step.why ?? wordsOf(step.to)}`);
      list.append(item);
    }
    return list.childElementCount === 0 ? [] : [list];
  }

  #tellStep(step: Step | undefined): void {
    const key = step === undefined ? '' : `${this.#viewer.run.generation} ${step.n} ${step.actor} ${step.event}`;
    if (key === this.#stepTold) return;
    this.#stepTold = key;
    if (step === undefined) {
      this.#step.replaceChildren();
      return;
    }
    const head = el('h3', '', `Step ${step.n} `, linkTo(this.#viewer.run.nameOf(step.actor), step.n, step.actor), ' ');
    head.append(el('span', 'quiet', `${this.#viewer.run.timeOf(step)} ms`));
    const facts = el('dl');
    const fact = (name: string, ...values: (Node | string)[]) => {
      facts.append(el('dt', '', name), el('dd', '', ...values));
    };
    fact('event', el('span', 'mono', eventOf(step)));
    fact(
      'state',
      el('span', 'mono', step.from === step.to ? `stays ${step.to}` : `${step.from || '(begins)'} → ${step.to}`),
    );
    if (step.why !== undefined && step.actor !== this.#viewer.actor?.id) fact('why', step.why);
    fact('cause', this.#causes(step));
    if (step.did.length > 0) {
      const did = el('ul', 'did');
      for (const { effect, detail } of step.did)
        did.append(el('li', 'mono', effect, ...(detail === undefined ? [] : [el('span', 'quiet', ` ${detail}`)])));
      fact('did', did);
    }
    this.#step.replaceChildren(head, facts);
    toTop(this.#step);
  }

  /** The chain of causes, from what came from outside down to this step. */
  #causes(step: Step): Node {
    const chain = this.#viewer.run.causes(step.n);
    const first = chain.at(-1) as Step;
    const list = el('ol', 'causes');
    list.append(
      el('li', 'quiet', first.cause === undefined ? 'from outside' : `step ${first.cause}, and what led to it`),
    );
    for (const cause of chain.reverse()) {
      const mark = markOf(cause);
      const item = el('li', cause === step ? 'this' : '');
      const words = `${cause.n} ${eventOf(cause)}`;
      item.append(
        cause === step ? el('strong', 'mono', words) : linkTo(words, cause.n, cause.actor, 'link mono'),
        ' ',
        el('span', 'quiet', this.#viewer.run.nameOf(cause.actor)),
      );
      if (mark !== undefined) item.append(' ', el('span', `glyph ${mark.tone}`, mark.glyph));
      list.append(item);
    }
    return list;
  }

  #show({ root, link, glyph, words }: Row, index: number): void {
    const { run, n: instant, actor } = this.#viewer;
    const n = this.#own[index] as number;
    const step = run.step(n);
    if (step === undefined) return;
    setClass(root, `row past${n === instant ? ' current' : ''}${n > instant ? ' later' : ''}`);
    setAttribute(root, 'aria-setsize', String(this.#own.length));
    setAttribute(root, 'aria-posinset', String(index + 1));
    const mark = markOf(step);
    setText(link, String(n));
    setAttribute(link, 'href', linkTo('', n, actor?.id).getAttribute('href') ?? '#');
    setText(glyph, mark?.glyph ?? '');
    setClass(glyph, `glyph ${mark?.tone ?? 'plain'}`);
    setText(words, step.from === step.to ? eventOf(step) : `${eventOf(step)} → ${step.to}`);
    setAttribute(words, 'title', step.why ?? eventOf(step));
  }
}

/** What people call it, and its id where that is another word. */
export function nameOf({ label, short }: Actor): string {
  return label === short ? label : `${label} ${short}`;
}

function toTop(element: Element): void {
  afterDrawing(() => {
    element.scrollTop = 0;
  });
}

function isWithin(actor: Actor, outer: Actor): boolean {
  for (let at = actor.parent; at !== undefined; at = at.parent) if (at === outer) return true;
  return false;
}

function makeRow(): Row {
  const link = el('a', 'link n');
  const glyph = el('span', 'glyph');
  glyph.setAttribute('aria-hidden', 'true');
  const words = el('span', 'what');
  const root = el('div', 'row past', link, glyph, words);
  root.setAttribute('role', 'listitem');
  return { root, link, glyph, words };
}
