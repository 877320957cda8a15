import type { Clock } from '../../contract/clock.js';
import { InvalidInputError, NotSupportedError } from '../../contract/errors.js';
import { platformClock } from '../../contract/platform-clock.js';
import type { WebSocketFactory } from '../../contract/web-socket.js';
import { isRecord, type JsonRecord } from '../../contract/wire-reading.js';
import { type DialectTraits, type OpenAiRealtimeDialect, traitsOf } from './dialect.js';

/** A key, or where one is got from each time a session connects (a short-lived one, from the host's own server). */
export type OpenAiRealtimeKey = string | (() => string | Promise<string>);

/** Encoding of audio: PCM of 16 bits at 24 kHz, or G.711 at 8 kHz. */
export type OpenAiAudioFormat = 'audio/pcm' | 'audio/pcmu' | 'audio/pcma';

/** How the service finds out that the user has begun and ended to speak. What is left out is the service's default. */
export type OpenAiTurnDetection =
  | {
      readonly type: 'server_vad';
      readonly threshold?: number;
      readonly prefixPaddingMs?: number;
      readonly silenceDurationMs?: number;
      readonly idleTimeoutMs?: number;
      readonly createResponse?: boolean;
      readonly interruptResponse?: boolean;
    }
  | {
      readonly type: 'semantic_vad';
      readonly eagerness?: 'low' | 'medium' | 'high' | 'auto';
      readonly createResponse?: boolean;
      readonly interruptResponse?: boolean;
    };

/** Something that the wire said, or that the driver did, which is of no interest to a conversation. Never holds a key. */
export interface OpenAiRealtimeDiagnostic {
  /** `malformed_frame`, `unknown_frame`, `repeated_call`, `transcription_failed`, `call_dropped`, `advice_refused`, `response_conflict`, `frame_unreadable`. */
  readonly code: string;
  readonly detail: string;
}

/** Options of {@link openaiRealtime}. Times are whole milliseconds. */
export interface OpenAiRealtimeOptions {
  /** The key: on a server an API key, in a browser an ephemeral one (`ek_…`). May be left out only with a `baseUrl`. */
  readonly apiKey?: OpenAiRealtimeKey;
  /** Instead of `apiKey`: a token that travels as `Authorization: Bearer` in every dialect (Microsoft Entra). Needs a socket that takes headers. */
  readonly accessToken?: OpenAiRealtimeKey;
  /** Where the service is, up to `/realtime`: `https:` or `wss:`. Default: the dialect's; the two of Azure have none. A query in it is kept. */
  readonly baseUrl?: string;
  /** Which service speaks. Default `openai`. */
  readonly dialect?: OpenAiRealtimeDialect;
  /** Default: the service's. */
  readonly voice?: string;
  /** What the model answers with. Default `['audio']`, and then its transcript comes as `text`. */
  readonly modalities?: readonly ['audio'] | readonly ['text'];
  /** `null`: none, the host says when the model is to answer. Default: the service's. */
  readonly turnDetection?: OpenAiTurnDetection | null;
  /** What `send` takes as audio. Default `audio/pcm`. */
  readonly inputFormat?: OpenAiAudioFormat;
  /** What the model's audio comes as. Default `audio/pcm`. */
  readonly outputFormat?: OpenAiAudioFormat;
  /** Has the user's speech written down, as `input_text` events. Default: no. */
  readonly transcription?: { readonly model: string; readonly language?: string; readonly prompt?: string };
  /** Fields of the service's `session` that have no option here. They are laid over ours, objects key by key. */
  readonly session?: Readonly<Record<string, unknown>>;
  /** Headers that go along, where the socket takes any: `OpenAI-Safety-Identifier`, `OpenAI-Project` … */
  readonly headers?: Readonly<Record<string, string>>;
  /** Version of the interface of Azure Voice Live. Default `2025-10-01`. */
  readonly apiVersion?: string;
  /** Makes the socket. Default: the global `WebSocket`, or that of the package `ws` where there is none. */
  readonly webSocket?: WebSocketFactory;
  /** How the key travels. Default: in a header where the socket takes headers (`ws`, and what the host hands in), else without one (as a subprotocol; for Azure in the query). */
  readonly auth?: 'header' | 'headerless';
  /** From the call of `connect` to the end of the set-up. Default 20,000. */
  readonly connectTimeoutMs?: number;
  /** From `close()` to the end of the connection, whatever the service does. Default 1,000. */
  readonly closeTimeoutMs?: number;
  /**
   * How long a result waits for its acknowledgement before it is given up as unknown. Default 60,000: longer than a
   * session's own `publishTimeoutMs`, which knows to call it unconfirmed.
   */
  readonly resultTimeoutMs?: number;
  /** How long a response that was asked for may take to begin before an `error` says that it did not, and the next one may be asked for. Default 30,000. */
  readonly responseTimeoutMs?: number;
  /** How long before the service ends the session `expiring` comes. Default 60,000. */
  readonly expiryNoticeMs?: number;
  /** The longest message that is taken; a longer one ends the session. Default 16 MiB. */
  readonly maxFrameBytes?: number;
  /** How many bytes may wait to leave before `send` refuses more. Results of calls are always written. Default 4 MiB, more than a minute of audio. */
  readonly maxBufferedBytes?: number;
  /** How many events may wait unread before the session ends. Default 65,536. */
  readonly maxUnreadEvents?: number;
  /** Where time comes from. Default: the platform. */
  readonly clock?: Clock;
  /** Told of what is out of place and changes nothing. Must not throw. */
  readonly onDiagnostic?: (diagnostic: OpenAiRealtimeDiagnostic) => void;
}

/** Options that were checked, with their defaults. */
export interface Settings {
  readonly traits: DialectTraits;
  readonly apiKey: OpenAiRealtimeKey | undefined;
  readonly accessToken: OpenAiRealtimeKey | undefined;
  readonly baseUrl: URL;
  readonly voice: string | undefined;
  readonly modality: 'audio' | 'text';
  readonly turnDetection: OpenAiTurnDetection | null | undefined;
  readonly inputFormat: OpenAiAudioFormat;
  readonly outputFormat: OpenAiAudioFormat;
  readonly transcription: OpenAiRealtimeOptions['transcription'];
  readonly session: JsonRecord;
  readonly headers: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly webSocket: WebSocketFactory | undefined;
  readonly auth: 'header' | 'headerless' | undefined;
  readonly connectTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly resultTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly expiryNoticeMs: number;
  readonly maxFrameBytes: number;
  readonly maxBufferedBytes: number;
  readonly maxUnreadEvents: number;
  readonly clock: Clock;
  readonly onDiagnostic: (diagnostic: OpenAiRealtimeDiagnostic) => void;
}

const longestTime = 2_147_483_647;
const formats: readonly string[] = ['audio/pcm', 'audio/pcmu', 'audio/pcma'];

/**
 * Checks options and fills in what they leave out.
 * @throws {InvalidInputError} on an option that is none; a key is never shown.
 * @throws {NotSupportedError} on one that the dialect cannot do.
 */
export function settingsOf(options: OpenAiRealtimeOptions): Settings {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
  const traits = traitsOf(options.dialect ?? 'openai');
  assertKey('apiKey', options.apiKey);
  assertKey('accessToken', options.accessToken);
  if (options.apiKey !== undefined && options.accessToken !== undefined) {
    throw new InvalidInputError('accessToken', 'none where there is an apiKey', 'both');
  }
  if (options.apiKey === undefined && options.accessToken === undefined && options.baseUrl === undefined) {
    throw new InvalidInputError('apiKey', 'a key, since no baseUrl names a service that takes none', undefined);
  }
  const modality = modalityOf(options.modalities);
  if (modality === 'text' && traits.shape === 'xai') throw new NotSupportedError('modality text', 'dialect xai');
  assertTurnDetection(options.turnDetection);
  const { session = {}, headers = {}, transcription } = options;
  if (!isObject(session)) throw new InvalidInputError('session', 'an object', session);
  assertHeaders(headers);
  if (transcription !== undefined && !(isObject(transcription) && isName(transcription.model))) {
    throw new InvalidInputError('transcription', 'an object with a `model`', transcription);
  }
  if (options.auth !== undefined && options.auth !== 'header' && options.auth !== 'headerless') {
    throw new InvalidInputError('auth', 'header or headerless', options.auth);
  }
  return {
    traits,
    apiKey: options.apiKey,
    accessToken: options.accessToken,
    baseUrl: baseUrlOf(options.baseUrl, traits),
    voice: nameOf('voice', options.voice),
    modality,
    turnDetection: options.turnDetection,
    inputFormat: formatOf('inputFormat', options.inputFormat),
    outputFormat: formatOf('outputFormat', options.outputFormat),
    transcription,
    session,
    headers,
    apiVersion: nameOf('apiVersion', options.apiVersion) ?? '2025-10-01',
    webSocket: functionOf('webSocket', options.webSocket),
    auth: options.auth,
    connectTimeoutMs: integer('connectTimeoutMs', options.connectTimeoutMs, 20_000, 1),
    closeTimeoutMs: integer('closeTimeoutMs', options.closeTimeoutMs, 1_000, 1),
    resultTimeoutMs: integer('resultTimeoutMs', options.resultTimeoutMs, 60_000, 1),
    responseTimeoutMs: integer('responseTimeoutMs', options.responseTimeoutMs, 30_000, 1),
    expiryNoticeMs: integer('expiryNoticeMs', options.expiryNoticeMs, 60_000, 0),
    maxFrameBytes: integer('maxFrameBytes', options.maxFrameBytes, 16 * 1024 * 1024, 1024),
    maxBufferedBytes: integer('maxBufferedBytes', options.maxBufferedBytes, 4 * 1024 * 1024, 1),
    maxUnreadEvents: integer('maxUnreadEvents', options.maxUnreadEvents, 65_536, 1),
    clock: options.clock ?? platformClock,
    onDiagnostic: functionOf('onDiagnostic', options.onDiagnostic) ?? ignore,
  };
}

/**
 * Checks a key that was given, or that a function came up with. What was found is described, never shown.
 * @throws {InvalidInputError}
 */
export function assertKeyText(what: string, key: unknown): asserts key is string {
  if (typeof key !== 'string') throw new InvalidInputError(what, 'text', `${typeof key}, which is no text`);
  if (key === '') throw new InvalidInputError(what, 'a key', '');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new InvalidInputError(what, 'printable ASCII without blanks', `${key.length} characters, others among them`);
  }
}

function assertKey(what: string, key: unknown): void {
  if (key !== undefined && typeof key !== 'function') assertKeyText(what, key);
}

function modalityOf(modalities: unknown): 'audio' | 'text' {
  if (modalities === undefined) return 'audio';
  if (Array.isArray(modalities) && modalities.length === 1) {
    const [modality] = modalities;
    if (modality === 'audio' || modality === 'text') return modality;
  }
  throw new InvalidInputError('modalities', "['audio'] or ['text']: the service gives one of them", modalities);
}

function assertTurnDetection(value: unknown): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value) || (value.type !== 'server_vad' && value.type !== 'semantic_vad')) {
    throw new InvalidInputError('turnDetection', 'null, or an object of type server_vad or semantic_vad', value);
  }
  const { threshold, prefixPaddingMs, silenceDurationMs, idleTimeoutMs } = value;
  if (threshold !== undefined && (typeof threshold !== 'number' || !(threshold >= 0 && threshold <= 1))) {
    throw new InvalidInputError('turnDetection.threshold', 'a number of 0 … 1', threshold);
  }
  const times = { prefixPaddingMs, silenceDurationMs, idleTimeoutMs };
  for (const [name, ms] of Object.entries(times)) integer(`turnDetection.${name}`, ms, 0, 0);
  for (const name of ['createResponse', 'interruptResponse']) {
    const flag = value[name];
    if (flag !== undefined && typeof flag !== 'boolean') {
      throw new InvalidInputError(`turnDetection.${name}`, 'a boolean', flag);
    }
  }
}

function assertHeaders(headers: unknown): void {
  if (!isRecord(headers)) throw new InvalidInputError('headers', 'an object', headers);
  for (const [name, value] of Object.entries(headers)) {
    // the value may be a secret: it is not shown
    if (typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value) || !/^[A-Za-z0-9-]+$/.test(name)) {
      throw new InvalidInputError('headers', 'names of letters, digits and -, values of printable ASCII', name);
    }
  }
}

function baseUrlOf(given: unknown, traits: DialectTraits): URL {
  const text = given ?? traits.baseUrl;
  if (text === undefined) throw new InvalidInputError('baseUrl', `one, for dialect ${traits.name}`, undefined);
  let url: URL | undefined;
  try {
    url = typeof text === 'string' ? new URL(text) : undefined;
  } catch {
    // told below
  }
  const scheme = url && schemes.get(url.protocol);
  if (url === undefined || scheme === undefined || url.username !== '' || url.password !== '' || url.hash !== '') {
    // what is wrong may be a key in the wrong place
    const expected = 'a URL of https, wss, http or ws, without user, password and fragment';
    throw new InvalidInputError('baseUrl', expected, typeof text === 'string' ? 'another text' : text);
  }
  url.protocol = scheme;
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (url.pathname === '/' || url.pathname === '') url.pathname = traits.basePath;
  return url;
}

const schemes: ReadonlyMap<string, string> = new Map([
  ['https:', 'wss:'],
  ['wss:', 'wss:'],
  ['http:', 'ws:'],
  ['ws:', 'ws:'],
]);

function formatOf(what: string, value: unknown): OpenAiAudioFormat {
  if (value === undefined) return 'audio/pcm';
  if (typeof value === 'string' && formats.includes(value)) return value as OpenAiAudioFormat;
  throw new InvalidInputError(what, formats.join(', '), value);
}

function nameOf(what: string, value: unknown): string | undefined {
  if (value === undefined || isName(value)) return value;
  throw new InvalidInputError(what, 'text that is not empty', value);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function functionOf<Value>(what: string, value: Value): Value {
  if (value === undefined || typeof value === 'function') return value;
  throw new InvalidInputError(what, 'a function', value);
}

function integer(what: string, value: unknown, otherwise: number, least: number): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= longestTime) return value;
  throw new InvalidInputError(what, `an integer of ${least} … ${longestTime}`, value);
}

function isObject(value: unknown): boolean {
  return isRecord(value);
}

function ignore(): void {}
