import type { CallStateName, EndReason } from '../../machines/index.js';
import type { SessionId } from './ids.js';
import type { TokenUsage } from './provider.js';

/** The states of a call, as hosts see them (see the table in `docs/design/duplex.md`). */
export type CallState = CallStateName;

/** Why a session ended. */
export type CloseReason = EndReason;

/** One call and where it stands. */
export interface CallReport {
  readonly id: string;
  readonly name: string;
  readonly state: CallState;
}

/** How a session ended. `message`: what the far side, the driver or the failure said, where it said something. */
export interface CloseReport {
  readonly reason: CloseReason;
  readonly message?: string;
  /** Every call of the session, in order of admission. */
  readonly calls: readonly CallReport[];
}

/** What goes on beside the conversation: `session.lifecycle$`. `at`: milliseconds of the session's clock. */
export type LifecycleEvent =
  /** `from` is `null` at the admission. `input` comes when the call leaves `admitted` with a valid input. */
  | {
      readonly type: 'call';
      readonly id: string;
      readonly name: string;
      readonly from: CallState | null;
      readonly to: CallState;
      readonly input?: unknown;
      readonly at: number;
    }
  | { readonly type: 'approval_requested'; readonly id: string; readonly name: string; readonly input: unknown }
  /** The code of an abandoned call settled. */
  | {
      readonly type: 'settled_late';
      readonly id: string;
      readonly name: string;
      readonly outcome: 'resolved' | 'rejected';
      readonly value?: unknown;
    }
  | ({ readonly type: 'usage' } & TokenUsage)
  | { readonly type: 'input_text'; readonly text: string; readonly final: boolean }
  | { readonly type: 'expiring'; readonly inMs: number }
  /** So many events were not delivered. */
  | { readonly type: 'overflow'; readonly dropped: number }
  /** Of a supervised session: an incarnation has ended, and the next one begins in so many milliseconds. `attempt` counts from 1. */
  | { readonly type: 'restarting'; readonly attempt: number; readonly reason: CloseReason; readonly inMs: number }
  /** The next incarnation is connected, before its first event. `resumed`: the far side took the handle of the one before, and with it what had been said. */
  | { readonly type: 'restarted'; readonly attempt: number; readonly resumed: boolean; readonly sessionId: SessionId }
  /** It was restarted as often as it may be, and is given up. `reason`: of the last incarnation's end. */
  | { readonly type: 'failed'; readonly restarts: number; readonly reason: CloseReason }
  /** Something odd that changed nothing. */
  | { readonly type: 'diagnostic'; readonly code: DiagnosticCode; readonly detail: string };

/** What a diagnostic can be about. */
export type DiagnosticCode =
  | 'unknown_event'
  | 'malformed_event'
  | 'foreign_event'
  | 'abandon_failed'
  | 'host_callback_threw';
