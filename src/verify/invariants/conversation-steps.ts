/** What the judge of conversations looks at. */
import type { Act } from './steps.js';

/** One step of a conversation or of one of its transactions. */
export interface ConversationStep {
  /** The number of the transaction; `undefined`: the conversation's own. */
  readonly transaction: number | undefined;
  /** Empty where a life begins. */
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly did: readonly Act[];
  /** Which stream of the conversation it came from; 0 for the first. */
  readonly stream: number;
  /** Of the transactional part after the step. */
  readonly version: number;
}

/** What one input led to: a step of the conversation, and those of the transactions that it moved; under `strict` twice. */
export interface ConversationGroup {
  readonly steps: readonly ConversationStep[];
}

/** Where a life of a conversation begins. */
export interface ConversationStart {
  readonly phase: string;
  readonly version: number;
  readonly lastVersion: number;
  readonly lastTransaction: number;
  /** Whether versions are given one after the other, as a journal does. Default `false`. */
  readonly versionsFollow?: boolean;
}
