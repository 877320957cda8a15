/** What an action comes to: another tree, or why there is none. */
import type { ConversationDiagnosticCode, FailingCode } from '../diagnostics.js';
import type { Tree } from '../tree.js';

/** Why an action changed nothing. */
export class Failed {
  constructor(
    readonly code: FailingCode,
    readonly detail: string,
  ) {}
}

/** The tree after the action, the very same one if it changed nothing; or why it failed. */
export type Outcome = Tree | Failed;

/** Whoever is told of what does not keep an action from being applied. */
export interface Teller {
  tell(code: ConversationDiagnosticCode, detail: string): void;
}
