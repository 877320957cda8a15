/** What a host's own code did, told of where the fold tells what it has to tell. */
import type { ConversationDiagnostic } from './diagnostics.js';
import { FoldState } from './state.js';

/** A state with one more diagnostic, and nothing else changed: no strict stream fails of it. */
export function noted(state: FoldState, diagnostic: ConversationDiagnostic, maxDiagnostics: number): FoldState {
  const { tree, levels, bases, owner, names, diverged, log, first, others } = state.parts;
  const told = log.with(Object.freeze(diagnostic), maxDiagnostics);
  return new FoldState({ tree, levels, bases, owner, names, diverged, log: told, first, others });
}
