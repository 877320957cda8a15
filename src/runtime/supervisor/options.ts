import type { RestartType } from '../../../machines/index.js';
import type { Clock } from '../../contract/clock.js';
import { InvalidIdError, InvalidInputError } from '../../contract/errors.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import type { Journal } from '../../contract/journal.js';
import type { CloseReason, CloseReport } from '../../contract/lifecycle.js';
import { platformClock } from '../../contract/platform-clock.js';
import type { BidiProvider } from '../../contract/provider.js';
import { assertAtOnce } from '../at-once.js';
import { fresh, type SessionOptions } from '../options.js';
import { assertObject, assertObserver } from './arguments.js';
import type { SupervisedSession } from './supervised-session.js';

/** What `createSupervisor` takes. */
export interface SupervisorOptions {
  /** The actor id in the journal: `sup_` and 1 to 200 characters of A-Z a-z 0-9 _ -. Generated when absent. */
  readonly id?: string;
  /** How many sessions may live at once; one more is refused. Default 65,536. */
  readonly maxSessions?: number;
  /** How many conversations may live at once; one more is refused. Default 65,536. */
  readonly maxConversations?: number;
  /** How many calls may run at once, over all sessions; others wait their turn, in the order of asking. Default: as many as the sessions' own limits allow. */
  readonly maxConcurrentTools?: number;
  /**
   * Where every step of the supervisor is recorded, and those of its children that name no journal of their own. When it can be
   * written no more the supervisor begins to shut down.
   */
  readonly journal?: Journal;
  /** Its own and its children's. Default: the platform's. */
  readonly clock?: Clock;
  /** Numbers of 0 … 1, for the jitter of a backoff. Default: the platform's. */
  readonly random?: () => number;
  /** Looks on from the first event, at the supervisor and all its children. `supervisor.inspect` attaches one later. */
  readonly inspect?: InspectionObserver;
}

/** Which incarnation of a supervised session is to begin. */
export interface Incarnation {
  /** 0 for the first, then counting up; one that could not connect counts. */
  readonly attempt: number;
  /** How the one before ended. */
  readonly previous?: CloseReport;
}

/** A restart that is to come. */
export interface RestartAttempt {
  /** As {@link Incarnation.attempt} will have it: from 1. */
  readonly attempt: number;
  /** How many restarts fall into the last `periodMs`, with this one: from 1. */
  readonly recent: number;
  readonly reason: CloseReason;
}

/** How long to wait before a restart: `baseMs`, times `factor` for each further one of the period, `maxMs` at most. */
export interface Backoff {
  /** Milliseconds. Default 500. */
  readonly baseMs?: number;
  /** From 1. Default 2. */
  readonly factor?: number;
  /** Milliseconds. Default 30,000. */
  readonly maxMs?: number;
  /** Of 0 … 1: so much of the time is left to chance. Default 0. */
  readonly jitter?: number;
}

/** When a session is begun again. */
export interface RestartOptions {
  /**
   * `temporary` (default): never. `transient`: after `stream_ended`, `stream_failed`, `overflow`, `far_side`, and `connect_failed`
   * of a restart. `permanent`: after every end but a `close()` of the supervised session and an abort of its signal.
   */
  readonly type?: RestartType;
  /** How many restarts may fall into `periodMs`; beyond that the session fails for good. 0 … 1,000. Default 5. */
  readonly intensity?: number;
  /** Milliseconds, from 1. Default 60,000. */
  readonly periodMs?: number;
  /** Or a function that gives milliseconds; one that throws, or gives none, is told of, and the defaults stand in. */
  readonly backoff?: Backoff | ((attempt: RestartAttempt) => number);
}

/** What `supervisor.startSession` takes: the options of a session, for every incarnation of it. */
export interface SupervisedSessionOptions
  extends Omit<SessionOptions, 'provider' | 'connect' | 'sessionId' | 'turnId' | 'clock'> {
  /** 1 to 200 characters of A-Z a-z 0-9 _ -, unlike that of any child that lives. Generated (`run_…`) when absent. */
  readonly id?: string;
  /** The driver, or what gives one for each incarnation, at once: a promise is refused. */
  readonly provider: BidiProvider | ((incarnation: Incarnation) => BidiProvider);
  /**
   * What the driver is told, or what gives it for each incarnation. After the first, `resume` is the handle that the incarnation
   * before left, if it left one; a function may say another. What it gives it gives at once: a promise is refused.
   */
  readonly connect: SessionOptions['connect'] | ((incarnation: Incarnation) => SessionOptions['connect']);
  readonly restart?: RestartOptions;
  /**
   * Is given the session before it connects: whoever subscribes, taps or inspects here misses nothing of it. What it throws, the
   * start rejects with, and nothing is connected. It is not waited for: one that gives a promise is refused with an
   * `InvalidInputError`.
   */
  readonly prepare?: (session: SupervisedSession) => void;
  /** Aborting it ends the session for good, as `close()` does, with reason `aborted`. */
  readonly signal?: AbortSignal;
}

/** The options of a supervisor, checked, defaults filled in. */
export interface SupervisorSettings {
  readonly id: string;
  readonly maxSessions: number;
  readonly maxConversations: number;
  readonly maxConcurrentTools: number;
  readonly journal: Journal | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly inspect: InspectionObserver | undefined;
}

/** When a session is begun again, checked, defaults filled in. */
export interface RestartRules {
  readonly type: RestartType;
  readonly intensity: number;
  readonly periodMs: number;
  readonly backoff: Required<Backoff> | ((attempt: RestartAttempt) => number);
}

/** Of the platform's bytes, which stand in for ids elsewhere. */
const platformRandom = (): number => Number.parseInt(fresh('').slice(0, 8), 16) / 2 ** 32;
const longest = 2_147_483_647;
/** More than any pool has to lend. */
export const noLimit = 0x3fffffff;

/** @throws {InvalidInputError} for an option that is none, @throws {InvalidIdError} for an id that is none */
export function settingsOf(options: SupervisorOptions): SupervisorSettings {
  assertObject('options', options);
  const { maxSessions = 65_536, maxConversations = 65_536, maxConcurrentTools = noLimit } = options;
  const { id = fresh('sup_'), clock = platformClock, random = platformRandom, journal, inspect } = options;
  if (typeof id !== 'string' || !/^sup_[A-Za-z0-9_-]{1,200}$/.test(id)) {
    throw new InvalidIdError('sup_ and 1 to 200 characters of A-Z a-z 0-9 _ -', id);
  }
  assertInteger('maxSessions', maxSessions, 0, longest);
  assertInteger('maxConversations', maxConversations, 0, longest);
  assertInteger('maxConcurrentTools', maxConcurrentTools, 1, noLimit);
  assertPart('clock', clock, ['now', 'setTimeout', 'clearTimeout']);
  if (typeof random !== 'function') throw new InvalidInputError('random', 'a function', random);
  if (journal !== undefined) assertPart('journal', journal, ['append', 'flush']);
  if (inspect !== undefined) assertObserver('inspect', inspect);
  return { id, maxSessions, maxConversations, maxConcurrentTools, journal, clock, random, inspect };
}

const childId = /^[A-Za-z0-9_-]{1,200}$/;

/** @throws {InvalidIdError} */
export function childIdOf(id: unknown): string {
  if (id === undefined) return fresh('run_');
  if (typeof id === 'string' && childId.test(id)) return id;
  throw new InvalidIdError('1 to 200 characters of A-Z a-z 0-9 _ -', id);
}

const patient: Required<Backoff> = Object.freeze({ baseMs: 500, factor: 2, maxMs: 30_000, jitter: 0 });
const never: RestartRules = Object.freeze({ type: 'temporary', intensity: 5, periodMs: 60_000, backoff: patient });
const types: readonly unknown[] = ['temporary', 'transient', 'permanent'];

/** @throws {InvalidInputError} */
export function restartRulesOf(restart: RestartOptions | undefined): RestartRules {
  if (restart === undefined) return never;
  assertObject('restart', restart);
  const { type = never.type, intensity = never.intensity, periodMs = never.periodMs, backoff = {} } = restart;
  if (!types.includes(type)) throw new InvalidInputError('restart.type', 'temporary, transient or permanent', type);
  assertInteger('restart.intensity', intensity, 0, 1000);
  assertInteger('restart.periodMs', periodMs, 1, longest);
  return { type, intensity, periodMs, backoff: typeof backoff === 'function' ? backoff : backoffOf(backoff) };
}

function backoffOf(backoff: Backoff): Required<Backoff> {
  assertObject('restart.backoff', backoff);
  const { baseMs = patient.baseMs, factor = patient.factor, maxMs = patient.maxMs, jitter = patient.jitter } = backoff;
  assertInteger('restart.backoff.baseMs', baseMs, 0, longest);
  assertInteger('restart.backoff.maxMs', maxMs, 0, longest);
  assertNumber('restart.backoff.factor', factor, 1, 1000);
  assertNumber('restart.backoff.jitter', jitter, 0, 1);
  return { baseMs, factor, maxMs, jitter };
}

/** The milliseconds that a backoff gives. `random`: gives a number of 0 … 1. May throw what the host throws. */
export function delayOf(backoff: RestartRules['backoff'], attempt: RestartAttempt, random: () => number): number {
  if (typeof backoff === 'function') {
    const ms: unknown = backoff(attempt);
    assertAtOnce('what `backoff` gave', 'a number', ms);
    assertNumber('what `backoff` gave', ms, 0, longest);
    return Math.round(ms as number);
  }
  const { baseMs, factor, maxMs, jitter } = backoff;
  // nothing, however often it is doubled: infinitely often, it would be no number
  const full = baseMs === 0 ? 0 : Math.min(maxMs, baseMs * factor ** (attempt.recent - 1));
  if (jitter === 0) return Math.round(full);
  const chance: unknown = random();
  assertNumber('what `random` gave', chance, 0, 1);
  return Math.round(full * (1 - jitter * (chance as number)));
}

/** The delay where the host's own cannot be had. */
export function patientDelay(attempt: RestartAttempt): number {
  return delayOf(patient, attempt, () => 0);
}

/** @throws {InvalidInputError} */
export function deadlineOf(options: { readonly deadlineMs?: number }): number {
  assertObject('options', options);
  const { deadlineMs = 5000 } = options;
  assertInteger('deadlineMs', deadlineMs, 0, longest);
  return deadlineMs;
}

function assertInteger(what: string, found: unknown, least: number, most: number): void {
  if (Number.isInteger(found) && (found as number) >= least && (found as number) <= most) return;
  throw new InvalidInputError(what, `an integer of ${least} … ${most}`, found);
}

function assertNumber(what: string, found: unknown, least: number, most: number): void {
  if (typeof found === 'number' && found >= least && found <= most) return;
  throw new InvalidInputError(what, `a number of ${least} … ${most}`, found);
}

function assertPart(what: string, part: unknown, methods: readonly string[]): void {
  const found = Object(part) as Partial<Record<string, unknown>>;
  for (const method of methods) {
    if (typeof found[method] !== 'function')
      throw new InvalidInputError(what, `an object with a method ${method}`, part);
  }
}
