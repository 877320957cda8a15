/** How a request ended: what `ended` gives. */
import type { StreamPhase } from '../../machines/index.js';
import { openToolCallsOf } from './derived/open-tool-calls.js';
import type { ConversationDiagnostic } from './diagnostics.js';
import type { FinishReason, FinishReport, ModelUsage } from './finish.js';
import type { Tree } from './tree.js';

/** The phases that a request can end in. */
export type FinalPhase = Exclude<StreamPhase, 'awaiting_init' | 'streaming'>;

/** What is known of an end when it comes. */
export interface EndFacts {
  readonly phase: FinalPhase;
  readonly conversationId: string;
  readonly requestId: string;
  readonly finished: FinishReport | null;
  readonly message: string;
  readonly interrupted: readonly string[];
  readonly diagnostics: readonly ConversationDiagnostic[];
}

/** How a request ended. */
export class RequestEnd {
  readonly phase: FinalPhase;
  readonly conversationId: string;
  readonly requestId: string;
  /** The reason of the finish; empty where there was none, or one that only a newer schema has. */
  readonly reason: FinishReason;
  /** The text of an internal error, or what a transport error or a bad frame said; else empty. */
  readonly message: string;
  readonly usage: readonly ModelUsage[];
  /** What the request costs its user, as told; 0 when not told. */
  readonly cost: number;
  /** How full the context window is: a share from 0 to 1; 0 when not told. */
  readonly contextWindow: number;
  /** After a cancel that kept what was shown: the messages that the open transaction had touched, in linear order. */
  readonly interrupted: readonly string[];
  /** Those told of since the request began, as far as they were kept. */
  readonly diagnostics: readonly ConversationDiagnostic[];
  readonly #tree: Tree;

  /** @internal */
  constructor(facts: EndFacts, tree: Tree) {
    const { finished } = facts;
    this.phase = facts.phase;
    this.conversationId = facts.conversationId;
    this.requestId = facts.requestId;
    this.reason = finished?.reason ?? '';
    this.message = finished?.message || facts.message;
    this.usage = finished?.tokenUsage ?? none;
    this.cost = finished?.costExact ?? 0;
    this.contextWindow = finished?.contextWindowUsage ?? 0;
    this.interrupted = facts.interrupted;
    this.diagnostics = facts.diagnostics;
    this.#tree = tree;
    Object.freeze(this);
  }

  /** The ids of the tool calls that no message answers, in the order of their messages. */
  get openToolCalls(): readonly string[] {
    return openToolCallsOf(this.#tree);
  }
}

const none: readonly never[] = Object.freeze([]);

Object.freeze(RequestEnd.prototype);
