/**
 * The judge of journals: `verify` holds records against the invariants and
 * against the machines, `replay` rebuilds from them where everything stood. It
 * needs neither the runtime that wrote them nor any store.
 */
export type { BreachOf, InvariantNumber, Stated } from './invariants/breach.js';
export { invariants } from './invariants/index.js';
export { type Replayed, type ReplayOptions, replay } from './replay/replay.js';
export type { ReplayedCall, ReplayedConversation, ReplayedSession } from './replay/states.js';
export type { Finding, FindingOf, Verdict, VerifyOptions } from './verdict.js';
export { type Verifiable, verify } from './verify.js';
