/** Which live service `run` connects to, and where its key comes from. A key is never printed, in whatever goes wrong. */
import { InvalidInputError } from '../contract/errors.js';
import type { BidiProvider } from '../contract/provider.js';
import { type WebSocketFactory, wsSocket } from '../contract/web-socket.js';
import { geminiLive } from '../providers/gemini-live/index.js';
import { type OpenAiRealtimeDialect, openaiRealtime } from '../providers/openai-realtime/index.js';

/** What the command line says of the service. */
export interface ServiceChoice {
  readonly provider: string;
  readonly dialect?: string;
  readonly model?: string;
  readonly baseUrl?: string;
}

/** A driver, and the model that it is asked for. */
export interface LiveService {
  readonly provider: BidiProvider;
  readonly model: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What is looked for in the environment, by the names that the services' own SDKs look for. */
interface Expected {
  readonly name: string;
  /** Variables that may hold the key; the first that is set does. */
  readonly keys: readonly [string, ...string[]];
  /** The variable with the customer's own address, where there is no common one. */
  readonly address?: string;
  readonly model: string;
}

const dialects: Readonly<Record<OpenAiRealtimeDialect, Expected>> = {
  openai: { name: 'OpenAI Realtime', keys: ['OPENAI_API_KEY'], model: 'gpt-realtime' },
  azure: {
    name: 'Azure OpenAI',
    keys: ['AZURE_OPENAI_API_KEY'],
    address: 'AZURE_OPENAI_ENDPOINT',
    model: 'gpt-realtime',
  },
  'azure-voice-live': {
    name: 'Azure Voice Live',
    keys: ['AZURE_VOICELIVE_API_KEY'],
    address: 'AZURE_VOICELIVE_ENDPOINT',
    model: 'gpt-realtime',
  },
  xai: { name: 'xAI', keys: ['XAI_API_KEY'], model: 'grok-voice-latest' },
};

const gemini: Expected = {
  name: 'Gemini Live',
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  model: 'gemini-3.8-live',
};

/** Which variables hold what, for people. */
export const environmentHelp = [
  'A live service wants its key in the environment:',
  ...[...Object.values(dialects), gemini].map(({ name, keys, address }) => {
    const place = address === undefined ? '' : `, and ${address} or --base-url`;
    return `  ${name.padEnd(18)}${keys.join(' or ')}${place}`;
  }),
].join('\n');

/**
 * The driver that was asked for, with the key of the environment.
 * @throws {InvalidInputError} when there is no such service, or the environment lacks what it needs; it says what to set.
 */
export async function liveService(choice: ServiceChoice, env: Environment): Promise<LiveService> {
  const dialect = dialectOf(choice);
  const expected = dialect === undefined ? gemini : dialects[dialect];
  const model = choice.model ?? expected.model;
  const baseUrl = choice.baseUrl ?? (expected.address && filled(env[expected.address]));
  // A server of one's own may take no key; the service says so if it wants one.
  const mayLackKey = dialect === 'openai' && baseUrl !== undefined;
  const key = expected.keys.map((name) => filled(env[name])).find((value) => value !== undefined);
  if (key === undefined && !mayLackKey) throw lacking(expected, 'a key', expected.keys);
  if (baseUrl === undefined && expected.address !== undefined) {
    throw lacking(expected, 'its address (or --base-url)', [expected.address]);
  }
  const webSocket = await socketOfWs();
  const common = {
    ...(key === undefined ? {} : { apiKey: key }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(webSocket === undefined ? {} : { webSocket }),
  };
  if (dialect === undefined) return { provider: geminiLive(common), model };
  // xAI always speaks: what it says comes as a transcript
  const modalities = dialect === 'xai' ? undefined : (['text'] as const);
  return { provider: openaiRealtime({ ...common, dialect, ...(modalities ? { modalities } : {}) }), model };
}

/**
 * The dialect of OpenAI Realtime that is asked for; `undefined` for Gemini.
 * @throws {InvalidInputError} when there is none such.
 */
export function dialectOf({ provider, dialect }: ServiceChoice): OpenAiRealtimeDialect | undefined {
  if (provider === 'gemini') {
    if (dialect !== undefined) throw new InvalidInputError('--dialect', 'none for gemini', dialect);
    return undefined;
  }
  if (provider !== 'openai') throw new InvalidInputError('--provider', 'openai or gemini', provider);
  if (dialect === undefined) return 'openai';
  if (Object.hasOwn(dialects, dialect)) return dialect as OpenAiRealtimeDialect;
  throw new InvalidInputError('--dialect', Object.keys(dialects).join(', '), dialect);
}

function lacking({ name }: Expected, what: string, names: readonly string[]): InvalidInputError {
  return new InvalidInputError('environment', `${what} for ${name}: set ${names.join(' or ')}`, undefined);
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/**
 * The package `ws`, where it is installed: unlike the global WebSocket of newer Nodes it tells why a connection was refused.
 * Else the driver looks for the global one.
 */
async function socketOfWs(): Promise<WebSocketFactory | undefined> {
  try {
    const { WebSocket } = await import('ws');
    return (url, init) => wsSocket(WebSocket, url, init);
  } catch {
    return undefined;
  }
}
