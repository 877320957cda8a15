/**
 * The journal as the runtime, the judge and the stores all see it: records, and
 * the port that takes them. The words are those of
 * `proto/commitpoint/journal/v1/journal.proto`, which says what each field
 * means; the rules are those of docs/design/journal.md.
 */
import type { InterruptionPolicy, ToolEffect } from './tool.js';

/** What kind of actor a record belongs to. */
export type ActorKind = 'session' | 'call' | 'transaction' | 'conversation' | 'supervisor';

/** Something that a step asked to be performed. */
export interface RecordedEffect {
  /** Its name in the machine. */
  readonly effect: string;
  /** What tells it from others of its name: a cause, an intent, a code. */
  readonly detail?: string;
  /** Of its payload, under the policy `hash`. */
  readonly digest?: string;
  /** Its payload, under the policy `keep`: UTF-8 for texts and JSON. */
  readonly payload?: Uint8Array;
  /** Of an action of a conversation: the version of the transactional part after it. */
  readonly version?: number;
}

/** How many data events went by: taken from the far side, and reported to the host. */
export interface Passed {
  readonly text: readonly [taken: number, delivered: number];
  readonly audio: readonly [taken: number, delivered: number];
}

/** A `tool_call` of the far side, as a journal keeps it. */
export interface RecordedCandidate {
  readonly id: string;
  readonly name: string;
  /** Of its arguments; empty under the policy `omit`. */
  readonly digest: string;
  readonly policy: InterruptionPolicy;
  readonly writeStart: boolean;
  readonly writePublish: boolean;
  readonly effect: ToolEffect;
  readonly arguments?: Uint8Array;
}

/** A session's life begins: its rules. */
export interface SessionBegan {
  readonly machines: number;
  readonly turnId: string;
  readonly provider: string;
  readonly durable: boolean;
  readonly maxConcurrentTools: number;
  readonly maxOpenCalls: number;
  readonly dropUnreadAudio: boolean;
  /** The pool whose places the session shares with others. Absent: its places are its own. */
  readonly pool?: string;
  /** How many places that has. */
  readonly poolPlaces?: number;
}

/** What happened to a session or a call from outside, as the coordination was told. */
export interface RecordedOccurrence {
  /** Its name, where it is another than the event of the record. */
  readonly type?: string;
  /** Whose it is, where it happened to a call that did not step: the call's id. */
  readonly call?: string;
  readonly candidate?: RecordedCandidate;
  readonly ids?: readonly string[];
  readonly act?: string;
  readonly actId?: string;
  /** How many reports the host's buffer took; absent where it took any number. */
  readonly room?: number;
  /** Absent: none. */
  readonly unreadAudio?: number;
  /** How many places the pool lent for the step; absent where those were enough, or there is no pool. */
  readonly places?: number;
}

/** A conversation's life begins: its rules. */
export interface ConversationBegan {
  readonly machines: number;
  readonly mode: string;
  readonly policies: Readonly<Record<string, string>>;
  readonly maxDiagnostics: number;
  readonly durable: boolean;
  /** What it began with, as length-delimited ResponseEvents, under the policy `keep`. */
  readonly initial?: Uint8Array;
}

/** A step of a conversation or of one of its transactions. */
export interface RecordedFold {
  /** Absent: the first. */
  readonly stream?: number;
  /** Of the transactional part after the step. */
  readonly version: number;
  /** Of a transaction: its place in the stack. Absent: the outermost. */
  readonly level?: number;
  readonly digest?: string;
  readonly input?: Uint8Array;
  readonly message?: string;
}

/** Somebody has recovered the journal of a run that is gone. */
export interface RecordedRecovery {
  readonly machines: number;
}

/** What else has to be known to take a step again; one of them at most. */
export type RecordData =
  | { readonly session: SessionBegan }
  | { readonly occurrence: RecordedOccurrence }
  | { readonly conversation: ConversationBegan }
  | { readonly folded: RecordedFold }
  | { readonly recovery: RecordedRecovery };

/** One step of one actor, before it has its place in a journal. */
export interface JournalEntry {
  /** Milliseconds of the writer's clock. */
  readonly at: number;
  /** A session's id, a call's (`SESSION/CALL`), a conversation's, a transaction's (`CONVERSATION/transaction-N`). */
  readonly actor: string;
  readonly kind: ActorKind;
  /** Its name in the machine. Empty where a life begins. */
  readonly event: string;
  /** The state before, substates behind a dot. Empty where a life begins. */
  readonly from: string;
  readonly to: string;
  /** The `seq` of the record whose step led to this one; 0 where the cause came from outside. */
  readonly cause: number;
  readonly did: readonly RecordedEffect[];
  /** Absent: nothing went by. */
  readonly passed?: Passed;
  readonly data?: RecordData;
}

/** One step of one actor. `seq`: its place in the journal, from 1; what compaction took away leaves a gap. */
export interface JournalRecord extends JournalEntry {
  readonly seq: number;
}

/**
 * What a journal keeps of texts, audio, arguments and outputs: the payload, a
 * digest, or nothing. Audio is never kept; fields marked sensitive are redacted
 * before anything is.
 */
export type PayloadPolicy = 'keep' | 'hash' | 'omit';

/**
 * Where steps are recorded. Any number of sessions and conversations may share
 * one. In memory: `commitpoint/journal`; files and SQLite: `commitpoint/journals/…`.
 */
export interface Journal {
  /** Whether {@link flush} makes what was appended survive a crash. Intents are then durable before they are acted on. */
  readonly durable: boolean;
  /** Default `hash`. */
  readonly payloads?: PayloadPolicy;
  /**
   * Takes a record, at once and in order, and gives its `seq`, greater than those before. What is handed in is not
   * changed afterwards, by either side.
   *
   * @throws {JournalClosedError} when it was closed, and {@link JournalFailedError} when it can take no more: the session
   *   or conversation that writes ends then, with `journal_failed`
   */
  append(entry: JournalEntry): number;
  /**
   * Settles when all that was appended so far is as durable as it gets. @throws (rejects) {@link JournalFailedError}: nothing
   * that was appended since the last success is sure to survive.
   */
  flush(): Promise<void>;
  /**
   * The records from the first on, those included that were appended before the call. Reading while others append is
   * allowed. @throws (when iterated) {@link JournalDamagedError}: nothing behind the place that it names is to be trusted
   */
  read(): AsyncIterable<JournalRecord>;
}
