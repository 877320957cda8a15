/**
 * A session, its calls, and all that is pending around them: what the runtime
 * would hold in promises, timers and buffers. What is pending follows from the
 * effects that were asked for, as in the runtime, so that only what can happen
 * is ever offered.
 */
import type { CallSnapshot, Counts, SessionSnapshot } from '../../../../machines/index.js';
import type { Verdict } from './happening.js';

/** A call and what is pending around it. */
export interface CallPart {
  /** Its place in the bounds; one behind the last: nobody's. */
  readonly tool: number;
  /** What its arguments come to. */
  readonly verdict: Verdict;
  /** It came when `maxOpenCalls` were open. */
  readonly refused: boolean;
  readonly snapshot: CallSnapshot;
  /** The coordination keeps nothing of it but its end. */
  readonly released: boolean;
  readonly validating: boolean;
  readonly code: 'none' | 'runs' | 'settled';
  /** Its signal was aborted while its code ran. */
  readonly aborted: boolean;
  /** The limit of its code is armed. */
  readonly timer: boolean;
  /** The driver has not answered its result. */
  readonly unanswered: boolean;
  /** What the judge knows of it. */
  readonly facts: number;
}

/** The session and what is pending around it. */
export interface SessionPart {
  readonly snapshot: SessionSnapshot;
  readonly counts: Counts;
  readonly connecting: boolean;
  readonly closing: boolean;
  readonly connectTimer: boolean;
  readonly closeTimer: boolean;
  /** The far side's events are being read. */
  readonly reading: boolean;
  /** The host's signal was aborted: it never is again. */
  readonly aborted: boolean;
  /** The host does not read. */
  readonly paused: boolean;
  /** Events that wait for it, and how many of them are audio. */
  readonly waiting: number;
  readonly audio: number;
  /** How many places the pool lends for the next step; 0 where there is none. */
  readonly lent: number;
  /** Calls whose intents are being made durable, the oldest first. */
  readonly flushes: readonly number[];
  /** Calls that wait for the far side with a limit, in the order in which it will run out. */
  readonly unconfirmed: readonly number[];
  /** What the judge knows of the session. */
  readonly facts: number;
}

type Writable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

/** A state of the world, to be written to. */
export interface World {
  session: Writable<SessionPart>;
  /** In order of admission. */
  calls: Writable<CallPart>[];
}

/** Nothing has happened. */
export function emptyWorld(snapshot: SessionSnapshot, counts: Counts): World {
  return {
    session: {
      snapshot,
      counts,
      connecting: false,
      closing: false,
      connectTimer: false,
      closeTimer: false,
      reading: false,
      aborted: false,
      paused: false,
      waiting: 0,
      audio: 0,
      lent: 0,
      flushes: none,
      unconfirmed: none,
      facts: 0,
    },
    calls: [],
  };
}

/** A call that has just come. */
export function newCall(tool: number, verdict: Verdict, refused: boolean, snapshot: CallSnapshot): Writable<CallPart> {
  return {
    tool,
    verdict,
    refused,
    snapshot,
    released: false,
    validating: false,
    code: 'none',
    aborted: false,
    timer: false,
    unanswered: false,
    facts: 0,
  };
}

/** No calls. */
export const none: readonly number[] = Object.freeze([]);

/** A copy that can be written to. */
export function copyOfCall(part: CallPart): Writable<CallPart> {
  const { tool, verdict, refused, snapshot, released, validating, code, aborted, timer, unanswered, facts } = part;
  return { tool, verdict, refused, snapshot, released, validating, code, aborted, timer, unanswered, facts };
}

/** A copy that can be written to. */
export function copyOfSession(part: SessionPart): Writable<SessionPart> {
  const { snapshot, counts, connecting, closing, connectTimer, closeTimer, reading, aborted } = part;
  const { paused, waiting, audio, lent, flushes, unconfirmed, facts } = part;
  return {
    snapshot,
    counts,
    connecting,
    closing,
    connectTimer,
    closeTimer,
    reading,
    aborted,
    paused,
    waiting,
    audio,
    lent,
    flushes,
    unconfirmed,
    facts,
  };
}
