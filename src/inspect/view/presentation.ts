/**
 * One run as the page is told it: frames, from what a narrator says and a judge
 * finds.
 *
 * P1. F1–F3 of `frames.ts`, whatever the run is.
 * P2. No more than `maxSteps` steps are told: of a run that is recorded the first
 *     ones, the rest is counted; a live one begins anew.
 * P3. Every record is judged, also one that is not shown.
 * P4. What comes behind the end is told nobody, and kept nowhere.
 */
import type { JournalRecord } from '../../contract/journal.js';
import type { SessionTap } from '../../contract/session-tap.js';
import type { ConversationState } from '../../conversation/index.js';
import { cut, defaultMaxText } from './bounds.js';
import type { Chart, Frame, Step } from './frames.js';
import { LiveJudge } from './live-judge.js';
import { type InspectedMove, Narrator } from './narrator.js';

/** How many steps are told unless something else is asked for. */
export const defaultMaxSteps = 20_000;
const stepsPerFrame = 200;

/** A run that can be presented from its beginning to its end. */
export interface PresentedRun {
  readonly title: string;
  readonly source: Extract<Frame, { type: 'opening' }>['source'];
  /** Tells all of it. Gives how it ended. */
  run(presentation: Presentation): Promise<string>;
}

/** What is presented, and how much of it. */
export interface PresentationOptions {
  readonly title: string;
  readonly source: Extract<Frame, { type: 'opening' }>['source'];
  readonly isLive: boolean;
  readonly charts: readonly Chart[];
  /** Milliseconds of the clock of the run. */
  readonly now: () => number;
  /** Default 20,000. */
  readonly maxSteps?: number;
  /** How many characters of one text are shown. Default 2000. */
  readonly maxText?: number;
  /** Whether what was told is more than may be kept: as with too many steps. */
  readonly isTooMuch?: () => boolean;
  /** Is told that there is something to flush. */
  readonly onSteps?: () => void;
  readonly onFrame: (frame: Frame) => void;
}

/** One run as the page is told it; see the head of this file. */
export class Presentation {
  readonly narrator: Narrator;
  readonly #options: PresentationOptions;
  #now: () => number;
  readonly #maxSteps: number;
  readonly #judge: LiveJudge;
  #dropped = 0;
  /** Those before the opening that came last. */
  #shownBefore = 0;
  #judgedTo = 0;
  #hasRecords = false;
  /** Why the run, or a part of it, cannot be judged. */
  #unjudged: string | undefined;
  #isOver = false;
  #isFull = false;

  /** Tells the opening at once. */
  constructor(options: PresentationOptions) {
    const { now, maxSteps = defaultMaxSteps, maxText = defaultMaxText, onSteps } = options;
    this.#options = options;
    this.#maxSteps = maxSteps;
    this.#judge = new LiveJudge(maxText);
    this.#now = now;
    this.narrator = new Narrator({ now: () => this.#now(), maxText, ...(onSteps === undefined ? {} : { onSteps }) });
    this.#open();
  }

  /** Whether no more steps are told. */
  get isFull(): boolean {
    const { isLive, isTooMuch } = this.#options;
    if (isLive || this.#isFull) return this.#isFull;
    this.#isFull = this.narrator.lastStep >= this.#maxSteps || isTooMuch?.() === true;
    return this.#isFull;
  }

  /** Whether it has ended: whoever tells a run may stop. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The run has a clock of its own. */
  startClock(now: () => number): void {
    this.#now = now;
  }

  /** A record was written. */
  record(record: JournalRecord): void {
    if (this.#isOver) return;
    this.#hasRecords = true;
    if (this.isFull) {
      this.#dropped++;
      this.#judge.take(record, this.narrator.lastStep);
      return;
    }
    this.#makeRoom();
    this.#judge.take(record, this.narrator.record(record));
  }

  /** An inspected machine made a step. */
  inspected(move: InspectedMove): void {
    if (this.#isOver) return;
    this.#makeRoom();
    this.narrator.inspected(move);
  }

  /** What stands of a conversation that is looked at. */
  conversationStands(id: string, state: ConversationState): void {
    if (this.#isOver) return;
    this.#makeRoom();
    this.narrator.conversationStands(id, state);
  }

  /** Sees what a session reports, so that its words are shown. */
  tapOf(session: string, current?: () => string | undefined): SessionTap {
    const { reported, noted, acted } = this.narrator.tapOf(session, current);
    const within =
      <Given>(tell: ((given: Given) => void) | undefined) =>
      (given: Given): void => {
        if (this.#isOver || this.isFull) return;
        this.#makeRoom();
        tell?.(given);
      };
    return { reported: within(reported), noted: within(noted), acted: within(acted) };
  }

  /** Something cannot be judged: from now on every judgement says so. */
  cannotJudge(why: string): void {
    this.#unjudged = cut(why, 500);
  }

  /** Tells all that waits. */
  flush(): void {
    if (this.#isOver) return;
    const steps = this.narrator.drain();
    for (let at = 0; at < steps.length; at += stepsPerFrame) {
      this.#frame({ type: 'steps', steps: steps.slice(at, at + stepsPerFrame) as readonly Step[] });
    }
    this.#tellJudgement(false);
  }

  /** Nothing comes any more. */
  end(why: string): void {
    if (this.#isOver) return;
    this.flush();
    this.#isOver = true;
    this.#judge.finish();
    if (this.#dropped > 0) {
      const kept = `only the first ${this.narrator.lastStep} steps are shown; all were judged`;
      this.#frame({ type: 'dropped', count: this.#dropped, why: kept });
    }
    this.#tellJudgement(true);
    this.#frame({ type: 'ended', why: cut(why, 500) });
  }

  /** Another run is shown instead: nothing more is told of this one, not even that it has ended. */
  leave(): void {
    this.#isOver = true;
  }

  #open(): void {
    const { title, source, isLive, charts } = this.#options;
    this.#frame({ type: 'opening', title: cut(title, 500), source, isLive, charts });
  }

  /** What waits is told where it gets much, though nobody has asked; a live run that has become too long begins anew. */
  #makeRoom(): void {
    const { isLive, isTooMuch } = this.#options;
    const { lastStep, waiting } = this.narrator;
    const waitsTooLong = waiting >= stepsPerFrame;
    if (isLive && (lastStep >= this.#maxSteps || (waitsTooLong && isTooMuch?.() === true))) this.startOver();
    else if (waitsTooLong) this.flush();
  }

  /** Everything that was told of a live run is to be forgotten; whoever lives is told of anew. */
  startOver(): void {
    if (this.#isOver || !this.#options.isLive) return;
    this.flush();
    const { lastStep } = this.narrator;
    this.#shownBefore += lastStep;
    this.narrator.restart(Math.max(1, Math.floor(this.#maxSteps / 2)));
    this.#judge.restart();
    this.#judgedTo = 0;
    this.#open();
    const why = `a run that goes on is shown from here on, so that no more than ${this.#maxSteps} steps are kept`;
    this.#frame({ type: 'dropped', count: this.#shownBefore, why });
  }

  #tellJudgement(isLast: boolean): void {
    const upTo = this.narrator.lastStep;
    const findings = this.#judge.found();
    if (!isLast && findings.length === 0 && upTo === this.#judgedTo) return;
    this.#judgedTo = upTo;
    const why = this.#unjudged ?? (this.#hasRecords || upTo === 0 ? undefined : 'there are no records of it');
    this.#frame({ type: 'judged', upTo, isJudged: why === undefined, ...(why === undefined ? {} : { why }), findings });
  }

  #frame(frame: Frame): void {
    this.#options.onFrame(frame);
  }
}
