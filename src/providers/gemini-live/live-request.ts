import type { Clock } from '../../contract/clock.js';
import type { WebSocketFactory } from '../../contract/web-socket.js';
import type { JsonRecord } from '../../contract/wire-reading.js';
import type { CallTimes } from './calls.js';
import type { Endpoint } from './endpoint.js';
import type { QueueLimits } from './event-queue.js';
import type { ModelTraits } from './model-traits.js';
import type { GeminiLiveDiagnostic } from './options.js';

/** What one connection is made of. */
export interface LiveRequest {
  readonly make: WebSocketFactory;
  readonly endpoint: Endpoint;
  readonly setup: JsonRecord;
  /** Sent as soon as the set-up stands. */
  readonly history: JsonRecord | undefined;
  readonly traits: ModelTraits;
  readonly nonBlocking: readonly string[];
  readonly scheduling: string | undefined;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly calls: CallTimes;
  readonly signal: AbortSignal | undefined;
  readonly limits: LiveLimits;
  readonly onDiagnostic: (diagnostic: GeminiLiveDiagnostic) => void;
}

/** What a connection may hold. */
export interface LiveLimits extends QueueLimits {
  /** The longest message, either way, in bytes. */
  readonly frameBytes: number;
  /** How much may wait to be written, in bytes. */
  readonly unsentBytes: number;
}
