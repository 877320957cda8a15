import { InvalidInputError, NotSupportedError } from '../../contract/errors.js';
import { assertKeyText, type Settings } from './options.js';

/** Where to connect, and what to show there. */
export interface Endpoint {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** What may never be seen in any text. */
  readonly secrets: readonly string[];
}

/** What a subprotocol may be made of (a token of HTTP). */
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Scheme, host and path of the service, for people: nothing in it is secret. */
export function placeOf(settings: Settings): string {
  const { protocol, host, pathname } = settings.baseUrl;
  return `${settings.traits.name} at ${protocol}//${host}${pathname}/realtime`;
}

/**
 * @param withHeaders whether the socket takes request headers
 * @throws {InvalidInputError} on a key that cannot travel; it is not shown.
 */
export async function endpointOf(settings: Settings, model: string, withHeaders: boolean): Promise<Endpoint> {
  const { traits, baseUrl, apiVersion, accessToken } = settings;
  const what = accessToken === undefined ? 'apiKey' : 'accessToken';
  const given = settings.apiKey ?? accessToken;
  const key: unknown = typeof given === 'function' ? await given() : given;
  if (key !== undefined) assertKeyText(what, key);

  const url = new URL(baseUrl);
  url.pathname += '/realtime';
  if (traits.name === 'azure-voice-live') url.searchParams.set('api-version', apiVersion);
  url.searchParams.set('model', model);
  const protocols: string[] = [];
  const headers: Record<string, string> = withHeaders ? { ...settings.headers } : {};
  const secrets = Object.values(settings.headers).filter((value) => value.length >= 8);
  if (key !== undefined) {
    secrets.push(key);
    if (withHeaders) Object.assign(headers, keyHeader(traits.keyHeader, accessToken !== undefined, key));
    else if (accessToken !== undefined) {
      throw new NotSupportedError('accessToken', 'a WebSocket that takes no headers');
    } else if (traits.keyProtocol === undefined) url.searchParams.set('api-key', key);
    else if (token.test(key)) protocols.push('realtime', traits.keyProtocol + key);
    else {
      const expected = 'characters that a subprotocol can hold, since this WebSocket takes no headers';
      throw new InvalidInputError(what, expected, `${key.length} characters, others among them`);
    }
  }
  return { url: url.href, protocols, headers, secrets };
}

function keyHeader(name: 'authorization' | 'api-key', isToken: boolean, key: string): Record<string, string> {
  return name === 'authorization' || isToken ? { Authorization: `Bearer ${key}` } : { 'api-key': key };
}
