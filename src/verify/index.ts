/**
 * The judge: `verify` holds the records of a journal against the invariants and
 * against the machines, `replay` rebuilds from them where everything stood, and
 * `explore` walks through all that can happen up to a bound and judges that. It
 * needs neither the runtime that wrote a journal nor any store.
 */
export {
  type Exploration,
  type ExplorationBounds,
  type Explored,
  type ExploredTool,
  explore,
  type FarWord,
  farAlphabet,
  type HostWord,
  hostAlphabet,
  type Progress,
  type SessionExploration,
  type StreamExploration,
  type StreamScenario,
  type StreamWord,
  streamAlphabet,
  type Violation,
} from './explore/index.js';
export type { BreachOf, InvariantNumber, Stated } from './invariants/breach.js';
export { invariants } from './invariants/index.js';
export { type Replayed, type ReplayOptions, replay } from './replay/replay.js';
export type {
  ReplayedCall,
  ReplayedChild,
  ReplayedConversation,
  ReplayedSession,
  ReplayedSupervisor,
} from './replay/states.js';
export type { Finding, FindingOf, Verdict, VerifyOptions } from './verdict.js';
export { type Verifiable, verify } from './verify.js';
