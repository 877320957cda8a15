/**
 * A run as frames tell it, at any of its instants.
 *
 * R1. What the page shows at instant n follows from the steps up to n alone:
 *     whatever came later changes nothing of it.
 * R2. Steps are taken once and in order, from whichever comes first: one that is
 *     known is passed over, one that leaves a gap is a fault, after which nothing
 *     is taken.
 * R3. No more than `mostSteps` and a quarter are kept. What is older goes, with
 *     the actors that were over by then; the states that it led to stay.
 */
import type { Chart, Finding, Frame, Step } from '../../view/frames.js';
import { Actor, type Reason } from './actor.js';
import { LaneBook } from './lanes.js';
import { isOver } from './marks.js';
import { countUpTo } from './search-sorted.js';
import { Talk } from './talk.js';

export interface RunBounds {
  readonly mostSteps: number;
  readonly mostEntries: number;
  readonly mostFindings: number;
}

const bounds: RunBounds = { mostSteps: 200_000, mostEntries: 20_000, mostFindings: 1_000 };

type Opening = Extract<Frame, { type: 'opening' }>;

export class Run {
  readonly #bounds: RunBounds;
  readonly opening: Opening | undefined;
  readonly charts = new Map<string, Chart>();
  /** The first step that is kept; the last one, 0 where there is none. */
  first = 1;
  last = 0;
  /** When the first step was: the clock of a process counts from 1970, which nobody wants to read. */
  begin = 0;
  /** Counts how often steps were let go: what was computed of an earlier list begins anew. */
  generation = 0;
  steps: Step[] = [];
  readonly actors = new Map<string, Actor>();
  readonly roots: Actor[] = [];
  readonly talk: Talk;
  readonly lanes = new LaneBook();
  readonly findings: Finding[] = [];
  /** Numbers of the steps at which a call was abandoned or a transaction rolled back. */
  losses: number[] = [];
  judged: { readonly upTo: number; readonly isJudged: boolean; readonly why?: string } | undefined;
  /** Steps that happened and are not shown. */
  dropped: { readonly after: number; readonly count: number; readonly why: string }[] = [];
  droppedInAll = 0;
  ended: string | undefined;
  fault: string | undefined;

  constructor(opening?: Opening, limits: Partial<RunBounds> = {}) {
    this.#bounds = { ...bounds, ...limits };
    this.opening = opening;
    this.talk = new Talk(this.#bounds.mostEntries);
    for (const chart of opening?.charts ?? []) this.charts.set(chart.machine, chart);
  }

  /** Takes a frame; an opening is for a new run to take. */
  add(frame: Frame): void {
    if (frame.type === 'steps') for (const step of frame.steps) this.#take(step);
    else if (frame.type === 'dropped') {
      this.dropped.push({ after: this.last, count: frame.count, why: frame.why });
      if (this.dropped.length > 1_000) this.dropped.shift();
      this.droppedInAll += frame.count;
    } else if (frame.type === 'judged') this.#judge(frame);
    else if (frame.type === 'ended') this.ended = frame.why;
  }

  step(n: number): Step | undefined {
    return this.steps[n - this.first];
  }

  /** Milliseconds from the first step to a step, as they are shown. */
  timeOf({ at }: Step): string {
    return String(Math.round((at - this.begin) * 10) / 10);
  }

  /** The nearest instant that there is. */
  clamp(n: number): number {
    return Math.max(Math.min(this.first, this.last), Math.min(this.last, Math.round(n)));
  }

  /** The state of an actor at that instant; empty where it had not begun. */
  stateAt(actor: Actor, n: number): string {
    const last = actor.lastStep(n);
    return last === 0 ? actor.before : (this.step(last)?.to ?? actor.before);
  }

  /** The states that are lit at that instant: the one it is in, and those around it. */
  litAt(actor: Actor, n: number): readonly string[] {
    const state = this.stateAt(actor, n);
    if (state === '') return [];
    const parts = state.split('.');
    return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
  }

  /** The step, its cause, the cause of that, and so on to what came from outside; `most` at most. */
  causes(n: number, most = 12): Step[] {
    const chain: Step[] = [];
    let step = this.step(n);
    while (step !== undefined && chain.length < most) {
      chain.push(step);
      const { cause } = step;
      step = cause === undefined || cause >= step.n ? undefined : this.step(cause);
    }
    return chain;
  }

  /** What an actor is called where its parent need not be named: a root that is alone, by its kind. */
  nameOf(id: string): string {
    const actor = this.actors.get(id);
    if (actor === undefined) return id;
    return actor.parent === undefined && this.roots.length === 1 ? actor.kind : actor.short;
  }

  /** What an actor is drawn by. */
  chartOf(actor: Actor): Chart | undefined {
    return this.charts.get(actor.kind === 'conversation' ? 'response-stream' : actor.kind);
  }

  #take(step: Step): void {
    if (this.fault !== undefined || step.n <= this.last) return;
    // A run that began anew may go on counting.
    if (this.last === 0) {
      this.first = step.n;
      this.begin = step.at;
    } else if (step.n !== this.last + 1) {
      this.fault = `step ${this.last + 1} was expected, step ${step.n} came`;
      return;
    }
    this.last = step.n;
    this.steps.push(step);
    const actor = this.actors.get(step.actor) ?? this.#begin(step);
    actor.own.push(step.n);
    if (step.why !== undefined) actor.whys.push(reasonOf(step, step.why));
    for (const edit of step.edits) this.talk.edit(step.n, edit);
    this.lanes.take(step);
    if (isLoss(step)) this.losses.push(step.n);
    if (this.steps.length > this.#bounds.mostSteps * 1.25) this.#trim(this.steps.length - this.#bounds.mostSteps);
  }

  #begin(step: Step): Actor {
    const parent = step.parent === undefined ? undefined : this.actors.get(step.parent);
    const actor = new Actor(step, parent);
    this.actors.set(actor.id, actor);
    (parent?.children ?? this.roots).push(actor);
    return actor;
  }

  #judge({ upTo, isJudged, why, findings }: Extract<Frame, { type: 'judged' }>): void {
    this.judged = { upTo, isJudged, ...(why === undefined ? {} : { why }) };
    const isKnown = (one: Finding) =>
      this.findings.some(
        (two) =>
          two.n === one.n && two.actor === one.actor && two.invariant === one.invariant && two.detail === one.detail,
      );
    for (const finding of findings) {
      if (this.findings.length < this.#bounds.mostFindings && !isKnown(finding)) this.findings.push(finding);
    }
  }

  #trim(count: number): void {
    this.generation++;
    const first = this.first + count;
    for (const actor of this.actors.values()) {
      const gone = countUpTo(actor.own, first - 1);
      if (gone === 0) continue;
      actor.trim(first, this.step(actor.own[gone - 1] as number)?.to ?? actor.before);
    }
    this.steps = this.steps.slice(count);
    this.first = first;
    this.losses = this.losses.slice(countUpTo(this.losses, first - 1));
    this.lanes.trim(first);
    this.#forget(this.roots);
  }

  /** Lets go of actors that were over before the first step that is kept. */
  #forget(siblings: Actor[]): void {
    let kept = 0;
    for (const actor of siblings) {
      this.#forget(actor.children);
      if (actor.own.length === 0 && actor.children.length === 0 && isOver(actor.kind, actor.before)) {
        this.actors.delete(actor.id);
      } else siblings[kept++] = actor;
    }
    siblings.length = kept;
  }
}

function reasonOf({ n, from, to }: Step, why: string): Reason {
  return { n, why, isDecisive: from.split('.')[0] !== to.split('.')[0] };
}

function isLoss({ kind, from, to }: Step): boolean {
  if (kind === 'call') return to.startsWith('abandoned') && !from.startsWith('abandoned');
  return kind === 'transaction' && to === 'rolled_back' && from !== to;
}
