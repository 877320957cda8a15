import type { SocketClose } from '../../contract/web-socket.js';
import { closedReason } from '../../contract/wire-mapping.js';
import { isRecord, textIn } from '../../contract/wire-reading.js';

/** Longest text of a service that is passed on, in characters. */
const longest = 500;

/** A text of a service or a socket without secrets, without what would garble a terminal, and not too long. */
export function concealed(text: string, secrets: readonly string[]): string {
  let shown = text;
  // What is shorter is no key, and taking it out would only garble; the longest first, since one may be part of another.
  const known = secrets.filter(({ length }) => length >= 4).sort((a, b) => b.length - a.length);
  for (const secret of known) shown = shown.replaceAll(secret, '[key]');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  shown = shown.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}

/** Why a connection ended before its session stood, in the service's own words, and the HTTP status if there was one. */
export function refusalOf(close: SocketClose): { readonly reason: string; readonly status?: number } {
  const { code, reason, failure, wasOpen } = close;
  const http = failure === undefined ? null : /^HTTP (\d{3})(?:: ([\s\S]*))?$/.exec(failure);
  if (http !== null) {
    const status = Number(http[1]);
    const said = messageIn(http[2] ?? '');
    return { reason: said === '' ? `HTTP ${status}` : `${said} (HTTP ${status})`, status };
  }
  if (!wasOpen) return { reason: failure ?? 'no connection, and the platform does not say why' };
  if (reason === '' && failure !== undefined) return { reason: closedReason(code, failure) };
  return { reason: closedReason(code, reason) };
}

/** The message of an error body of the service, or the body itself. */
function messageIn(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    const error = isRecord(first) ? (first.error ?? first) : undefined;
    const message = isRecord(error) ? textIn(error, 'message') : undefined;
    if (message !== undefined) return message;
  } catch {
    // a page of a proxy
  }
  return body;
}
