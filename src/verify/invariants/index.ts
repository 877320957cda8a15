/**
 * The invariants of duplex.md and conversation.md, held against steps: by
 * `verify` against those of a journal, by the explorer against those of a
 * composition.
 */
export { type Breach, type BreachOf, type InvariantNumber, noBreaches, type Stated } from './breach.js';

import type { Stated } from './breach.js';
import { conversationInvariants } from './conversation-judge.js';
import { sessionInvariants } from './session-judge.js';

export { ConversationFacts } from './conversation-facts.js';
export { ConversationJudge, conversationInvariants } from './conversation-judge.js';
export type { ConversationGroup, ConversationStart, ConversationStep } from './conversation-steps.js';
export { firstGroupOf, groupOf } from './from-moves.js';
export type { SessionInvariant } from './rule.js';
export { SessionJudge, sessionInvariants } from './session-judge.js';
export { type Act, type CallSeen, notTold, type SessionGroup, type SessionRules, type Step } from './steps.js';

/** Every invariant that is judged, with its sentence and what of a record it reads. */
export const invariants: readonly Stated[] = [...sessionInvariants, ...conversationInvariants].map(
  ({ number, sentence, reads }) => ({ number, sentence, reads }),
);
