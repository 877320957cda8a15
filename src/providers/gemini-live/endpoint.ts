import { InvalidInputError } from '../../contract/errors.js';
import { isRecord } from '../../contract/wire-reading.js';

/** A key, or where one is got from each time a session connects: a token that serves once, from the host's own server. */
export type GeminiKey = string | (() => string | Promise<string>);

/** Which service is asked, and with which key. Exactly one of `apiKey` and `accessToken`. */
export interface GeminiEndpointOptions {
  /** A key of the Developer API. It travels in the URL, so it needs no header; do not give it to a browser, give an `accessToken`. */
  readonly apiKey?: GeminiKey;
  /** An ephemeral token of the Developer API (`auth_tokens/…`), which a browser may hold; with `vertex`, an OAuth token. */
  readonly accessToken?: GeminiKey;
  /** Sessions on Vertex AI instead of the Developer API. They need a socket that takes headers, so not a browser's. */
  readonly vertex?: { readonly project: string; readonly location: string };
  /** Another server that speaks the protocol: `ws:`, `wss:`, `http:` or `https:`, with or without a path. */
  readonly baseUrl?: string;
  /** The version of the service. Default `v1beta`, with an ephemeral token `v1alpha`, on Vertex `v1beta1`. */
  readonly apiVersion?: string;
}

/** Where to connect. */
export interface Endpoint {
  /** For messages too: the URL without its query. */
  readonly shown: string;
  /** Whether the key travels in a header. */
  readonly needsHeaders: boolean;
  /** Gets the key. */
  access(): Promise<Access>;
  /** The full name of a model. */
  modelName(model: string): string;
}

/** The key, and where it stands. Nothing of it may be shown. */
export interface Access {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What must appear nowhere: the key, as it is and as it stands in the URL. */
  readonly secrets: readonly string[];
}

/**
 * The endpoint that the options name.
 * @throws {InvalidInputError} when they do not name one; the message holds no key.
 */
export function endpointOf(options: GeminiEndpointOptions): Endpoint {
  if (!isRecord(options)) throw new InvalidInputError('options', 'an object', options);
  const { apiKey, accessToken, vertex } = options as GeminiEndpointOptions;
  if (vertex !== undefined && !isRecord(vertex)) throw new InvalidInputError('vertex', 'an object', vertex);
  if ((apiKey === undefined) === (accessToken === undefined)) {
    const found = apiKey === undefined ? 'neither' : 'both';
    throw new InvalidInputError('options', 'either `apiKey` or `accessToken`', found);
  }
  const what = apiKey === undefined ? 'accessToken' : 'apiKey';
  const given = apiKey ?? accessToken;
  if (typeof given !== 'function') secret(what, given);
  const key = async () => secret(what, typeof given === 'function' ? await given() : given);
  return vertex === undefined ? developer(options, key) : vertexEndpoint(options, vertex, key);
}

function developer(options: GeminiEndpointOptions, key: () => Promise<string>): Endpoint {
  const token = options.apiKey === undefined;
  const version = name('apiVersion', options.apiVersion ?? (token ? 'v1alpha' : 'v1beta'));
  const base = baseOf(options.baseUrl ?? 'wss://generativelanguage.googleapis.com');
  const method = token ? 'BidiGenerateContentConstrained' : 'BidiGenerateContent';
  const shown = `${base}/ws/google.ai.generativelanguage.${version}.GenerativeService.${method}`;
  return {
    shown,
    needsHeaders: false,
    async access() {
      const found = await key();
      const inUrl = encodeURIComponent(found);
      return { url: `${shown}?${token ? 'access_token' : 'key'}=${inUrl}`, headers: {}, secrets: [found, inUrl] };
    },
    modelName: (model) => (model.includes('/') ? model : `models/${model}`),
  };
}

function vertexEndpoint(
  options: GeminiEndpointOptions,
  { project, location }: { readonly project: string; readonly location: string },
  key: () => Promise<string>,
): Endpoint {
  name('vertex.project', project);
  name('vertex.location', location);
  if (options.apiKey !== undefined) throw new InvalidInputError('options', '`accessToken` with `vertex`', 'apiKey');
  const version = name('apiVersion', options.apiVersion ?? 'v1beta1');
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const base = baseOf(options.baseUrl ?? `wss://${host}`);
  const url = `${base}/ws/google.cloud.aiplatform.${version}.LlmBidiService/BidiGenerateContent`;
  return {
    shown: url,
    needsHeaders: true,
    async access() {
      const found = await key();
      return { url, headers: { Authorization: `Bearer ${found}` }, secrets: [found, encodeURIComponent(found)] };
    },
    modelName: (model) =>
      model.startsWith('projects/')
        ? model
        : `projects/${project}/locations/${location}/publishers/google/models/${model.replace(/^.*\//, '')}`,
  };
}

/** A key that can stand in a header and in a URL. What was found is not shown. */
function secret(what: string, value: unknown): string {
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return value;
  throw new InvalidInputError(what, 'visible ASCII without blanks', kindOfSecret(value));
}

function kindOfSecret(value: unknown): string {
  if (value === '') return 'the empty text';
  return typeof value === 'string' ? 'other characters' : `a value of type ${typeof value}`;
}

function name(what: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w.:-]+$/.test(value)) return value;
  throw new InvalidInputError(what, 'letters, digits, `-`, `_`, `.` and `:`', value);
}

const schemes: Readonly<Record<string, string>> = { 'ws:': 'ws:', 'wss:': 'wss:', 'http:': 'ws:', 'https:': 'wss:' };

/** A base URL with a scheme of sockets, and no slash at its end. */
function baseOf(given: unknown): string {
  const expected = 'a ws, wss, http or https URL without user, query and fragment';
  let url: URL | undefined;
  try {
    url = new URL(String(given));
  } catch {
    // said below: a URL may hold a secret, so it is not shown
  }
  const scheme = url && schemes[url.protocol];
  if (url === undefined || scheme === undefined || url.username || url.password || url.search || url.hash) {
    throw new InvalidInputError('baseUrl', expected, url === undefined ? 'no URL' : `a URL of scheme ${url.protocol}`);
  }
  return `${scheme}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
}
