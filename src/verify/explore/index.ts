/** Every interleaving of a session and its calls, and of a response stream and its transactions, up to a bound. */
export {
  type Exploration,
  type ExplorationBounds,
  type Explored,
  explore,
  type Violation,
} from './explore.js';
export {
  type ExploredTool,
  type FarWord,
  farAlphabet,
  type HostWord,
  hostAlphabet,
  type SessionExploration,
} from './session/bounds.js';
export { type StreamWord, streamAlphabet } from './stream/inputs.js';
export type { StreamScenario } from './stream/scenario.js';
export type { StreamExploration } from './stream/system.js';
export type { Progress } from './walk.js';
