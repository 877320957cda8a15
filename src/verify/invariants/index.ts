/**
 * The invariants of duplex.md and conversation.md, held against steps: by
 * `verify` against those of a journal, by the explorer against those of a
 * composition.
 */
export { type Breach, type BreachOf, type InvariantNumber, noBreaches, type Stated } from './breach.js';

import type { Stated } from './breach.js';
import { conversationInvariants } from './conversation-judge.js';
import { sessionInvariants } from './session-judge.js';
import { supervisorInvariants } from './supervisor-judge.js';

/** Of all the sessions that share a pool; `verify` counts them. */
const K6: Stated = {
  number: 'K6',
  sentence: 'of all sessions that share a pool, no more calls hold a place at once than it has',
  reads: 'pool and poolPlaces of sessions; from and to of calls',
};

export { ConversationFacts } from './conversation-facts.js';
export { ConversationJudge, conversationInvariants } from './conversation-judge.js';
export type { ConversationGroup, ConversationStart, ConversationStep } from './conversation-steps.js';
export { firstGroupOf, groupOf } from './from-moves.js';
export type { SessionInvariant } from './rule.js';
export { SessionJudge, sessionInvariants } from './session-judge.js';
export { type Act, type CallSeen, notTold, type SessionGroup, type SessionRules, type Step } from './steps.js';
export { type SupervisedChild, SupervisorJudge, supervisorInvariants } from './supervisor-judge.js';

/** Every invariant that is judged, with its sentence and what of a record it reads. */
export const invariants: readonly Stated[] = [
  ...sessionInvariants,
  K6,
  ...conversationInvariants,
  ...supervisorInvariants,
].map(({ number, sentence, reads }) => ({ number, sentence, reads }));
