import type { Clock } from '../../contract/clock.js';
import { InvalidInputError } from '../../contract/errors.js';
import { platformClock } from '../../contract/platform-clock.js';
import type { Redact } from './messages.js';
import type { InspectionSocket, SendMessage } from './outlet.js';

/** What `createInspectionBridge` takes: where messages go, and how many may wait. */
export interface InspectionBridgeOptions {
  /** Where messages go: a WebSocket that is open or connecting. `connect` of the bridge hands in one later. */
  readonly socket?: InspectionSocket;
  /** Where messages go instead: is called with one message after the other, each as JSON, never within a step. */
  readonly send?: SendMessage;
  /** How long messages are gathered before they are sent, in milliseconds. Default 50. */
  readonly batchMs?: number;
  /** How many are sent in one turn of the event loop at most. Default 256. */
  readonly batchSize?: number;
  /** How many may wait. Beyond it the oldest are dropped. Default 10,000. */
  readonly maxQueued?: number;
  /** How much may wait, in bytes (two for a character); the same of what the socket has taken and not sent. Default 8 MiB. */
  readonly maxBytes?: number;
  /** How long a message may be without its actor's definition, in bytes (two for a character); what is longer is cut, and marked. Default 64 KiB. */
  readonly maxMessageBytes?: number;
  /** Gives what may be shown of an event, a context, an output, an error. Default: all of it. */
  readonly redact?: Redact;
  /** Default: the wall clock and the platform's timers. */
  readonly clock?: Clock;
}

export type BridgeSettings = Required<Omit<InspectionBridgeOptions, 'socket' | 'send' | 'redact'>> &
  Pick<InspectionBridgeOptions, 'socket' | 'send' | 'redact'>;

const largest = 2 ** 31 - 1;

/** @throws {InvalidInputError} */
export function settingsOf(options: InspectionBridgeOptions): BridgeSettings {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
  const { socket, send, redact, clock = platformClock } = options;
  if (socket !== undefined && send !== undefined) {
    throw new InvalidInputError('option send', 'none, where there is a socket', 'both');
  }
  if (socket !== undefined) assertSocket('option socket', socket);
  if (send !== undefined && typeof send !== 'function') throw new InvalidInputError('option send', 'a function', send);
  if (redact !== undefined && typeof redact !== 'function') {
    throw new InvalidInputError('option redact', 'a function', redact);
  }
  for (const method of ['now', 'setTimeout', 'clearTimeout'] as const) {
    if (typeof clock?.[method] !== 'function') {
      throw new InvalidInputError('option clock', `an object with ${method}()`, clock);
    }
  }
  const { batchMs = 50, batchSize = 256, maxQueued = 10_000 } = options;
  const { maxBytes = 8 * 1024 * 1024, maxMessageBytes = 64 * 1024 } = options;
  assertCount('batchMs', batchMs, 0);
  assertCount('batchSize', batchSize, 1);
  assertCount('maxQueued', maxQueued, 1);
  assertCount('maxBytes', maxBytes, 1);
  assertCount('maxMessageBytes', maxMessageBytes, 1);
  return { socket, send, redact, clock, batchMs, batchSize, maxQueued, maxBytes, maxMessageBytes } as BridgeSettings;
}

/** @throws {InvalidInputError} */
export function assertSocket(what: string, socket: unknown): void {
  const { send, addEventListener } = (socket ?? {}) as { send?: unknown; addEventListener?: unknown };
  if (typeof send !== 'function' || typeof addEventListener !== 'function') {
    throw new InvalidInputError(what, 'a WebSocket', socket);
  }
}

function assertCount(name: string, value: unknown, least: number): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > largest) {
    throw new InvalidInputError(`option ${name}`, `an integer from ${least} to ${largest}`, value);
  }
}
