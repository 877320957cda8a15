/**
 * Who may look: this machine's user, with the address that was printed.
 *
 * W1. A request that names another host than this server is refused, so that a
 *     name that was bound to 127.0.0.1 by somebody else leads nowhere.
 * W2. One that another site's page has made is refused.
 * W3. What the run is comes only to whoever has the token; comparing takes as
 *     long whatever is compared.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export class Gate {
  readonly #hosts: ReadonlySet<string>;
  readonly #token: Uint8Array;

  constructor(port: number, token: string) {
    // as a browser names it: without a port that its protocol has anyway
    const behind = port === 80 ? '' : `:${port}`;
    this.#hosts = new Set([`127.0.0.1${behind}`, `localhost${behind}`]);
    this.#token = digest(token);
  }

  /** Whether a request comes from here, and is meant for this server. */
  isOwn({ headers }: IncomingMessage): boolean {
    const { host, origin } = headers;
    if (host === undefined || !this.#hosts.has(host)) return false;
    if (origin !== undefined && origin !== `http://${host}`) return false;
    const site = headers['sec-fetch-site'];
    return site === undefined || site === 'same-origin' || site === 'none';
  }

  hasToken(url: URL): boolean {
    const given = url.searchParams.get('token');
    return timingSafeEqual(digest(given ?? ''), this.#token) && given !== null;
  }
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
