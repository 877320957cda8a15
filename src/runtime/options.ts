import type { Clock } from '../contract/clock.js';
import { asSessionId, asTurnId, type SessionId, type TurnId } from '../contract/ids.js';
import type { InspectionObserver } from '../contract/inspector.js';
import type { Journal } from '../contract/journal.js';
import { platformClock } from '../contract/platform-clock.js';
import type { BidiConnectParams, BidiProvider } from '../contract/provider.js';
import type { Tool } from '../contract/tool.js';

/** What `startSession` takes. Times are integers of 0 … 2147483647 milliseconds, 0: no limit. */
export interface SessionOptions {
  /** The driver. */
  readonly provider: BidiProvider;
  /** Made by `defineTool`; names are unique. */
  readonly tools?: readonly Tool[];
  /** What the driver is told; its `tools` and `signal` are the session's own. */
  readonly connect: Omit<BidiConnectParams, 'tools' | 'signal'>;
  /** Aborting it ends the session with reason `aborted`. */
  readonly signal?: AbortSignal;
  /** Generated when absent. */
  readonly sessionId?: string;
  /** Generated when absent. */
  readonly turnId?: string;
  /** Default 30,000 ms. */
  readonly connectTimeoutMs?: number;
  /** Default 30,000 ms, from the entry into `sendToolResult`. */
  readonly publishTimeoutMs?: number;
  /** Default 5,000 ms. */
  readonly closeTimeoutMs?: number;
  /** How many calls run at once. Default 16. */
  readonly maxConcurrentTools?: number;
  /** How many calls may be without an outcome; more are answered with an error. Default 256. */
  readonly maxOpenCalls?: number;
  /** How many events may wait for the host to read them; one more ends the session. Default 65,536. */
  readonly maxBufferedEvents?: number;
  /** At an interruption, throw away the audio that the host has not read. Default `false`. */
  readonly dropUnreadAudio?: boolean;
  /**
   * Where every step of the session and its calls is recorded; any number of sessions may share one. With a durable one the
   * start of code whose `effect` is not `read`, and every publish, waits until its record is durable, and `onLate` is told
   * when that is. When it can be written no more the session ends with `journal_failed`.
   */
  readonly journal?: Journal;
  /** Looks on from the first event. `session.inspect` attaches one later. */
  readonly inspect?: InspectionObserver;
  /** Default: the platform's. */
  readonly clock?: Clock;
}

/** The options of a session, checked, defaults filled in. */
export interface SessionSettings {
  readonly provider: BidiProvider;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly connect: Omit<BidiConnectParams, 'tools' | 'signal'>;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly limits: SessionLimits;
  readonly journal: Journal | undefined;
  readonly clock: Clock;
}

/** Shared by all sessions with the same limits. */
export interface SessionLimits {
  readonly connectTimeoutMs: number;
  readonly publishTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly maxConcurrentTools: number;
  readonly maxOpenCalls: number;
  readonly maxBufferedEvents: number;
  readonly dropUnreadAudio: boolean;
}

const longestTimeout = 2_147_483_647;

/** @throws {RangeError} when `value` is no integer of 0 … 2147483647, the longest that platform timers take. */
export function assertMilliseconds(what: string, value: unknown): void {
  assertInteger(what, value, 0, longestTimeout);
}

function assertInteger(what: string, value: unknown, least: number, most: number): void {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw new RangeError(`${what}: expected an integer of ${least} … ${most}, found ${String(value)}`);
  }
}

const noTools: ReadonlyMap<string, Tool> = new Map();

/**
 * @throws {TypeError} on a wrong shape, @throws {RangeError} on a number out of
 *   range, @throws {InvalidIdError} on an id that is none.
 */
export function settingsOf(options: SessionOptions): SessionSettings {
  const { provider, connect } = options;
  if (typeof provider?.connect !== 'function')
    throw new TypeError('provider: expected an object with a `connect` method');
  if (typeof connect?.model !== 'string') throw new TypeError('connect: expected an object with a string `model`');
  const limits: SessionLimits = {
    connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
    publishTimeoutMs: options.publishTimeoutMs ?? 30_000,
    closeTimeoutMs: options.closeTimeoutMs ?? 5_000,
    maxConcurrentTools: options.maxConcurrentTools ?? 16,
    maxOpenCalls: options.maxOpenCalls ?? 256,
    maxBufferedEvents: options.maxBufferedEvents ?? 65_536,
    dropUnreadAudio: options.dropUnreadAudio ?? false,
  };
  assertMilliseconds('connectTimeoutMs', limits.connectTimeoutMs);
  assertMilliseconds('publishTimeoutMs', limits.publishTimeoutMs);
  assertMilliseconds('closeTimeoutMs', limits.closeTimeoutMs);
  assertInteger('maxConcurrentTools', limits.maxConcurrentTools, 1, longestTimeout);
  assertInteger('maxOpenCalls', limits.maxOpenCalls, 1, longestTimeout);
  assertInteger('maxBufferedEvents', limits.maxBufferedEvents, 1, longestTimeout);
  if (typeof limits.dropUnreadAudio !== 'boolean') throw new TypeError('dropUnreadAudio: expected a boolean');
  assertPart('signal', options.signal, ['addEventListener', 'removeEventListener']);
  assertPart('journal', options.journal, ['append', 'flush']);
  assertPart('clock', options.clock, ['now', 'setTimeout', 'clearTimeout']);
  if (typeof options.inspect !== 'function') assertPart('inspect', options.inspect, []);
  return {
    provider,
    connect,
    tools: byName(options.tools ?? []),
    sessionId: options.sessionId === undefined ? (fresh('ses_') as SessionId) : asSessionId(options.sessionId),
    turnId: options.turnId === undefined ? (fresh('turn_') as TurnId) : asTurnId(options.turnId),
    limits: shared(limits),
    journal: options.journal,
    clock: options.clock ?? platformClock,
  };
}

function assertPart(what: string, part: unknown, methods: readonly string[]): void {
  if (part === undefined) return;
  if (typeof part !== 'object' || part === null) throw new TypeError(`${what}: expected an object`);
  for (const method of methods) {
    if (typeof (part as Record<string, unknown>)[method] !== 'function') {
      throw new TypeError(`${what}: expected an object with a method \`${method}\``);
    }
  }
}

function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  if (tools.length === 0) return noTools;
  const map = new Map<string, Tool>();
  for (const tool of tools) {
    if (typeof tool?.validate !== 'function') throw new TypeError('tools: expected tools made by `defineTool`');
    if (map.has(tool.name)) throw new TypeError(`tools: two tools have the name ${tool.name}`);
    map.set(tool.name, tool);
  }
  return map;
}

let lastLimits: SessionLimits | undefined;

/** Sessions that are alike share one object: ten thousand of them hold it once. */
function shared(limits: SessionLimits): SessionLimits {
  if (lastLimits === undefined || JSON.stringify(lastLimits) !== JSON.stringify(limits)) lastLimits = limits;
  return lastLimits;
}

/** An id of which the host has not said one. */
export function fresh(prefix: string): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(12));
  // joined, not added up: a string that is added up keeps its pieces
  return [prefix, ...Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))].join('');
}
