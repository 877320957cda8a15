import { InvalidInputError, NotSupportedError } from '../../contract/errors.js';
import { platformClock } from '../../contract/platform-clock.js';
import type { BidiConnectParams, BidiProvider, BidiSession } from '../../contract/provider.js';
import { platformWebSocket, type WebSocketFactory } from '../../contract/web-socket.js';
import { isRecord } from '../../contract/wire-reading.js';
import { historyMessage } from './client-messages.js';
import { type Endpoint, endpointOf, type GeminiEndpointOptions } from './endpoint.js';
import type { LiveLimits } from './live-request.js';
import { LiveSession } from './live-session.js';
import { traitsOf } from './model-traits.js';
import {
  checkSessionOptions,
  type GeminiLiveDiagnostic,
  type GeminiSessionOptions,
  type GeminiTimes,
  milliseconds,
} from './options.js';
import { setupMessage } from './setup.js';

/** Options of {@link geminiLive}. */
export interface GeminiLiveOptions extends GeminiEndpointOptions, GeminiSessionOptions, GeminiTimes {
  /** Default `gemini-live`. */
  readonly id?: string;
  /** Makes the sockets. Default: the global `WebSocket`, else that of the package `ws`. */
  readonly webSocket?: WebSocketFactory;
  /** The longest message, either way, in bytes. Default 16 MiB. */
  readonly maxFrameBytes?: number;
  /** How many bytes may wait to leave before `send` refuses more. Results of calls are always written. Default 4 MiB, more than a minute of audio. */
  readonly maxBufferedBytes?: number;
  /** How many events may wait unread before the session ends. Default 65,536. */
  readonly maxUnreadEvents?: number;
  /** Told of what is out of place and changes nothing. Must not throw. */
  readonly onDiagnostic?: (diagnostic: GeminiLiveDiagnostic) => void;
}

/** How much text and audio may wait unread, in characters: many minutes of speech. */
const longestWait = 64 * 1024 * 1024;

/**
 * A driver for Gemini Live, of the Developer API or of Vertex AI, that speaks the service's own WebSocket protocol.
 *
 * `connect` resolves when the service has taken the set-up. It rejects with a `ConnectFailedError` that holds the service's
 * reason, with a `ConnectTimeoutError`, with the reason of the signal, or with an `InvalidInputError`; it never hangs.
 *
 * What a session of it does:
 *
 * - `sendToolResult` writes one answer. The service acknowledges none, so a resolved promise means: the model went on after it,
 *   or half a second (`quietMs`) passed in which the service had it and did not end the connection. It rejects with a
 *   `ResultRefusedError` for a call that is withdrawn, answered or unknown, and with a `ResultUnknownError` when the
 *   connection ends, or takes nothing more, before that
 * - `send` of audio that the network does not take rejects with a `SocketFullError`, and the session goes on
 * - `abandonToolCall` answers a call of a blocking tool with an error that says so, since the model would wait for ever; for
 *   any other tool it sends nothing
 * - `interrupt` ends the turn at once with `interrupted` and drops what the service still says of it; `playedMs` has no place
 *   on this wire, and so there is no `played` either
 * - `resumption` is the last handle that the service gave, also after the end; with it `history` is not sent again
 * @throws {InvalidInputError} when the options do not say where to connect, or one of them is not what its type says. No message holds a key.
 */
export function geminiLive(options: GeminiLiveOptions): BidiProvider {
  const endpoint = endpointOf(options);
  checkSessionOptions(options);
  const times = timesOf(options);
  const limits: LiveLimits = {
    frameBytes: count('maxFrameBytes', options.maxFrameBytes, 16 * 1024 * 1024),
    events: count('maxUnreadEvents', options.maxUnreadEvents, 65_536),
    characters: longestWait,
    unsentBytes: count('maxBufferedBytes', options.maxBufferedBytes, 4 * 1024 * 1024),
  };
  const id = options.id ?? 'gemini-live';
  return {
    id,
    async connect(params: BidiConnectParams): Promise<BidiSession> {
      const { signal } = params;
      signal?.throwIfAborted();
      const { model, handle } = checked(params);
      const traits = { ...traitsOf(model), ...options.traits };
      const history = params.history ?? [];
      const { nonBlocking = [] } = options;
      const make = options.webSocket ?? (await platformSocket(endpoint));
      signal?.throwIfAborted();
      const session = new LiveSession({
        endpoint,
        make,
        setup: setupMessage({
          params,
          options,
          traits,
          model: endpoint.modelName(model),
          vertex: options.vertex !== undefined,
          handle,
        }),
        history: handle === undefined && history.length > 0 ? historyMessage(history, traits) : undefined,
        traits,
        nonBlocking,
        scheduling: options.scheduling?.toUpperCase(),
        ...times,
        signal,
        limits,
        onDiagnostic: options.onDiagnostic ?? (() => {}),
      });
      await session.ready;
      return session;
    },
  };
}

async function platformSocket(endpoint: Endpoint): Promise<WebSocketFactory> {
  const { make, takesHeaders } = await platformWebSocket();
  if (!takesHeaders && endpoint.needsHeaders) {
    const where = 'the WebSocket of this platform, which takes no headers: hand in `webSocket`';
    throw new NotSupportedError('Vertex AI', where);
  }
  return make;
}

function checked({ model, resume, history }: BidiConnectParams): { model: string; handle: string | undefined } {
  if (typeof model !== 'string' || !/^[\w./@:-]+$/.test(model)) {
    throw new InvalidInputError('model', 'the name of a model', model);
  }
  if (resume !== undefined && (typeof resume !== 'string' || resume === '')) {
    throw new InvalidInputError('resume', 'what `resumption()` gave', resume);
  }
  if (history !== undefined && !(Array.isArray(history) && history.every(isEntry))) {
    throw new InvalidInputError('history', 'a list of what user, assistant and tools said', history);
  }
  return { model, handle: resume };
}

function isEntry(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { role, text, id, name, arguments: args, output } = value;
  if (role === 'user' || role === 'assistant') return typeof text === 'string';
  return role === 'tool' && [id, name, args, output].every((field) => typeof field === 'string');
}

function timesOf(options: GeminiTimes) {
  return {
    clock: options.clock ?? platformClock,
    connectTimeoutMs: milliseconds('connectTimeoutMs', options.connectTimeoutMs, 20_000),
    closeTimeoutMs: milliseconds('closeTimeoutMs', options.closeTimeoutMs, 1_000),
    calls: {
      quietMs: milliseconds('quietMs', options.quietMs, 500),
      writeTimeoutMs: milliseconds('writeTimeoutMs', options.writeTimeoutMs, 5_000),
    },
  };
}

function count(what: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidInputError(what, 'a whole number from 1', value);
}
