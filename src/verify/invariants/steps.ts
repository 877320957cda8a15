/**
 * What the judge looks at: groups of steps, as a journal records them and as a
 * composition takes them. Records and moves are both read as these.
 */
import type { Passed } from '../../contract/journal.js';

/** Something that a step asked to be performed. */
export interface Act {
  readonly effect: string;
  /** As a record has it: a cause, an intent, a code, a number. */
  readonly detail?: string | undefined;
  /** Of a conversation: the version of the transactional part after it. */
  readonly version?: number | undefined;
}

/** One step of one life. */
export interface Step {
  /** Whose it is: the far side's id of a call; `undefined`: the session's. */
  readonly call: string | undefined;
  /** Empty where a life begins. */
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly did: readonly Act[];
}

/** What the judge needs to know of a call when it comes. */
export interface CallSeen {
  readonly id: string;
  readonly policy: string;
  readonly writeStart: boolean;
  readonly writePublish: boolean;
}

/** What one event from outside led to in a session. */
export interface SessionGroup {
  /** What happened, as the coordination was told; empty where the session begins. */
  readonly type: string;
  /** The call that it happened to; `undefined`: the session. */
  readonly call: string | undefined;
  /** With a `tool_call`. */
  readonly candidate: CallSeen | undefined;
  /** With a withdrawal. */
  readonly ids: readonly string[] | undefined;
  /** How many reports the host's buffer took; `Infinity` where it took any number. */
  readonly room: number;
  /** How many of the events that waited in it were audio. */
  readonly unreadAudio: number;
  /** How many places a pool lent for it; `Infinity` where those were enough, or there is no pool. */
  readonly places: number;
  /** What went by since the group before. */
  readonly passed: Passed | undefined;
  /**
   * In order, the one that was told of first. One that changes no state and asks for nothing may be there or not.
   */
  readonly steps: readonly Step[];
}

/** The rules of a session, as its first record has them. */
export interface SessionRules {
  readonly maxConcurrentTools: number;
  readonly maxOpenCalls: number;
  readonly dropUnreadAudio: boolean;
}

/** Whether it is an error, a result does not say where there is none: a composition has no payloads. */
export const notTold = '?';
