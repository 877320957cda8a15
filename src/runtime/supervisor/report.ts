import type { SessionId } from '../../contract/ids.js';
import type { CloseReason, CloseReport } from '../../contract/lifecycle.js';
import type { ConversationState } from '../../conversation/index.js';

/** How one incarnation ended. `calls`: how many it had. */
export interface IncarnationEnd {
  readonly sessionId: SessionId;
  readonly reason: CloseReason;
  readonly message?: string;
  readonly calls: number;
}

/** How a supervised session ended; `message` and `calls` are those of its last incarnation. */
export interface SupervisedCloseReport extends CloseReport {
  /** How many incarnations were begun. */
  readonly incarnations: number;
  /** The last of their ends, 16 at most, in order. */
  readonly ends: readonly IncarnationEnd[];
  /** It was restarted as often as it may be, and was given up. */
  readonly failed: boolean;
}

/** What became of one child at a shutdown. `cut`: it had not finished at the deadline, and was closed. */
export type ChildReport =
  | {
      readonly kind: 'session';
      readonly id: string;
      readonly cut: boolean;
      readonly report: SupervisedCloseReport;
    }
  | {
      readonly kind: 'conversation';
      readonly id: string;
      readonly cut: boolean;
      /** Where its last request stood in the end. */
      readonly phase: ConversationState['phase'];
    };

/** How a supervisor stopped: every child that lived when its shutdown began, in the order of their ends. */
export interface ShutdownReport {
  readonly children: readonly ChildReport[];
}
