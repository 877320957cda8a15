import type { Ground } from './ground.js';

/** One promise of the contract, and how it is tried. */
export interface CaseDefinition {
  readonly name: string;
  /** What is promised, as a sentence. */
  readonly promise: string;
  run(ground: Ground): Promise<void>;
}
