/** What `recover` takes and gives; what the words mean is in docs/design/journal.md, section Recovery. */
import type { EndReason } from '../../../machines/index.js';
import type { Clock } from '../../contract/clock.js';
import type { SessionId, TurnId } from '../../contract/ids.js';
import type { Tool, ToolEffect } from '../../contract/tool.js';
import type { RecoveredConversation } from '../../conversation/index.js';

/** What is known of a call whose process is gone. */
export type RecoveredOutcome =
  /** Its code never started. */
  | 'not_started'
  /** Its code may have run, in part or to its end; what it gave was not published, as far as the journal goes. */
  | 'outcome_unknown'
  /** Its result may have reached the far side. */
  | 'publish_unknown'
  /** The far side accepted its result. */
  | 'delivered'
  /** The far side refused its result. */
  | 'refused'
  /** It was abandoned or cancelled, and no code of it is unaccounted for; nothing was published. */
  | 'abandoned';

/** What is known of the code of a call. */
export type RecoveredCode =
  | 'never_started'
  /** It was started, or may have been; how it ended is not recorded. */
  | 'unknown'
  | 'resolved'
  | 'rejected';

/** What became of the notice to `onLate` about a call. */
export type Notice =
  /** There is nothing to tell: no code, or its outcome was published or is on its way to be. */
  | 'none'
  /** The run had decided to give it, and what its code gave; whether it came to that is not known. */
  | 'by_the_run'
  /** An earlier recovery had decided to give it; whether it came to that is not known. */
  | 'earlier'
  /** Given now. */
  | 'given'
  /** Given now, and the host's code threw or rejected: see `failures`. */
  | 'failed'
  /** Given now, and what `onLate` returned did not settle within `noticeTimeoutMs`. */
  | 'unsettled'
  /**
   * Not given: no tool of its name was handed in, or the journal could not be written, and the next recovery will give it. Or the id of
   * its session was given to another session since, and none will.
   */
  | 'pending';

/** A call of a run that is gone. */
export interface RecoveredCall {
  readonly id: string;
  readonly name: string;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** Of its tool, when it was called. */
  readonly effect: ToolEffect;
  readonly outcome: RecoveredOutcome;
  readonly code: RecoveredCode;
  /** The last state that is recorded, substates behind a dot. */
  readonly state: string;
  readonly notice: Notice;
  /** As the model wrote them, where the journal keeps payloads. Of calls that are `delivered`, `refused` or `abandoned`: absent. */
  readonly arguments?: string;
}

/** A session of a run that is gone. */
export interface RecoveredSession {
  readonly id: SessionId;
  readonly turnId: TurnId;
  /** The driver's id. */
  readonly provider: string;
  /** Where it stood, substates behind a dot; `closed` for one that had ended. */
  readonly state: string;
  /** Why it had ended, or had begun to. */
  readonly reason?: EndReason;
  /** Whether an earlier recovery had found it already. */
  readonly foundBefore: boolean;
  /** In order of admission. */
  readonly calls: readonly RecoveredCall[];
}

/** A notice that the host's code did not take well. */
export interface NoticeFailure {
  readonly call: RecoveredCall;
  /** What `onLate` threw or rejected with. */
  readonly error: unknown;
}

/** How many calls of each outcome the journal holds, listed or not. */
export type OutcomeCounts = Readonly<Record<RecoveredOutcome, number>>;

/** What `recover` takes. */
export interface RecoverOptions {
  /** Those of the run, by the names under which they were called: their `onLate` is told. Their code is not run. */
  readonly tools: readonly Tool[];
  /**
   * Which calls are listed. `unfinished` (default): all calls of sessions that had not ended, and those of ended ones whose code is
   * unaccounted for. `new`: of these, what no earlier recovery has found. `all`: every call of the journal, however many that are.
   */
  readonly calls?: 'unfinished' | 'new' | 'all';
  /** Whether conversations are restored; each takes the memory of its content. Default `true`. */
  readonly conversations?: boolean;
  /** What the records of the recovery are dated with, in milliseconds. Default: the clock's time. */
  readonly at?: number;
  /** Default: the platform's. */
  readonly clock?: Clock;
  /** How long to wait for promises that `onLate` returned. Default 5,000 ms, 0: no limit. */
  readonly noticeTimeoutMs?: number;
}

/** What `recover` gives. */
export interface Recovery {
  /** Those that had not ended, and those of ended ones that have a call in `calls`; in order of their beginning. */
  readonly sessions: readonly RecoveredSession[];
  /** Of all these sessions. */
  readonly calls: readonly RecoveredCall[];
  /** What was committed of each, to go on with: `createConversation({ from })`. */
  readonly conversations: readonly RecoveredConversation[];
  /** None: a transaction that was open when the process went is gone. */
  readonly openTransactions: readonly [];
  readonly counts: OutcomeCounts;
  /** Notices that the host's code did not take well. They count as given. */
  readonly failures: readonly NoticeFailure[];
  /** What kept the journal from being written: nothing was told, and the next recovery finds what this one has found. */
  readonly failure?: unknown;
}
