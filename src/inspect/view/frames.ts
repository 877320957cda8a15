/**
 * What the local page is told, and all that it knows: frames, one JSON object
 * each, in order. A frame never changes what an earlier one said, so the page
 * has the run at any instant by folding the steps up to it.
 *
 * F1. Steps are numbered from 1 without a gap; what was dropped, to keep within a
 *     bound, is a `dropped` frame and takes no number.
 * F2. An actor is known from its first step on: the one whose `from` is empty.
 *     Parents come before their children. A life that goes on under its id after
 *     a crash begins once more, with another such step.
 * F3. Nothing in a frame is longer than the bound of whoever made it; texts that
 *     were cut end in `…`.
 */
import type { ActorKind } from '../../contract/journal.js';

/**
 * Who a line of the sequence chart runs between. `session` is the session or the conversation that the step's actor belongs to. A call
 * and a transaction have a lane each, named by their actor.
 */
export type Lane = 'far side' | 'session' | 'host' | `actor:${string}`;

/** A line of the sequence chart. */
export interface Arrow {
  readonly from: Lane;
  readonly to: Lane;
  readonly text: string;
}

/** A change of the conversation as it stands; `id` names an entry of it. */
export type Edit =
  | {
      readonly edit: 'add';
      readonly id: string;
      readonly who: 'user' | 'agent' | 'call' | 'result' | 'note';
      readonly text: string;
      readonly provisional: boolean;
    }
  | { readonly edit: 'append'; readonly id: string; readonly text: string }
  /** It says something else now: a message that was changed, or put back as it was; a result whose text was not known before. */
  | { readonly edit: 'replace'; readonly id: string; readonly text: string; readonly provisional: boolean }
  /** What was provisional stands for good. Without `id`: all of it. */
  | { readonly edit: 'settle'; readonly id?: string }
  /** What was provisional is taken back, and what stood is taken away. Without `id`: all that is provisional. */
  | { readonly edit: 'withdraw'; readonly id?: string };

/** One step of one actor. */
export interface Step {
  readonly n: number;
  /** Milliseconds of the clock of the run. */
  readonly at: number;
  /** Unique in the run: a session's id, `SESSION/CALL`, a conversation's id, `CONVERSATION/transaction-N`, a supervisor's. */
  readonly actor: string;
  readonly kind: ActorKind;
  /** The actor that it belongs to, at its first step. */
  readonly parent?: string;
  /** What people call it, at its first step: of a call, the name of its tool. */
  readonly label?: string;
  readonly event: string;
  /** The state before, substates behind a dot; empty where a life begins. */
  readonly from: string;
  readonly to: string;
  /** The step that led to this one, where it did not come from outside. */
  readonly cause?: number;
  /** What it asked to be performed. */
  readonly did: readonly { readonly effect: string; readonly detail?: string }[];
  readonly arrows: readonly Arrow[];
  readonly edits: readonly Edit[];
  /** Why, in words for people: of an abandonment, what abandoned the call, and that its code runs on. */
  readonly why?: string;
}

/** A machine drawn: places in pixels, from the top left. */
export interface Chart {
  /** `response-stream` is the machine of conversations. */
  readonly machine: Exclude<ActorKind, 'conversation'> | 'response-stream';
  readonly width: number;
  readonly height: number;
  readonly states: readonly ChartState[];
  readonly transitions: readonly ChartTransition[];
}

export interface ChartState {
  /** As {@link Step.to} names it. */
  readonly id: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly parent?: string;
  readonly isInitial: boolean;
  readonly isFinal: boolean;
}

export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  /** The events that take it, with their guards in brackets. */
  readonly labels: readonly string[];
  /** Corners of the line, from the state that is left to the one that is entered. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly labelAt: { readonly x: number; readonly y: number };
}

/** An invariant that is broken. */
export interface Finding {
  /** The step at which it was seen. */
  readonly n: number;
  readonly actor: string;
  readonly invariant: string;
  readonly detail: string;
}

/** What the page is told, one JSON object each; see the head of this file. */
export type Frame =
  /** The first. Where it comes again, everything before it is to be forgotten: a long run begins anew, with a step for each actor that lives. */
  | {
      readonly type: 'opening';
      readonly title: string;
      readonly source: 'process' | 'journal' | 'scenario' | 'counterexample';
      /** Whether more steps may come. */
      readonly isLive: boolean;
      readonly charts: readonly Chart[];
    }
  | { readonly type: 'steps'; readonly steps: readonly Step[] }
  /** So many steps that happened here are not shown. */
  | { readonly type: 'dropped'; readonly count: number; readonly why: string }
  /** The invariants were checked up to step `upTo`; `isJudged` false: they cannot be, for the reason that `why` gives. */
  | {
      readonly type: 'judged';
      readonly upTo: number;
      readonly isJudged: boolean;
      readonly why?: string;
      readonly findings: readonly Finding[];
    }
  /** Nothing comes any more. */
  | { readonly type: 'ended'; readonly why: string };
