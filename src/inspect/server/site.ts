/** The page over HTTP, on 127.0.0.1 alone: its files, and the frames. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gate } from './gate.js';
import type { Listeners } from './listeners.js';
import type { PageFile } from './page-files.js';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Connections beyond those that listen: a page asks for a few files at a time. */
const spareConnections = 32;

export interface SiteParts {
  readonly port: number;
  readonly token: string;
  readonly files: ReadonlyMap<string, PageFile>;
  readonly listeners: Listeners;
  readonly maxClients: number;
}

export class Site {
  readonly port: number;
  readonly #server: Server;
  readonly #parts: SiteParts;
  readonly #gate: Gate;

  private constructor(server: Server, parts: SiteParts) {
    this.#server = server;
    this.#parts = parts;
    this.port = (server.address() as AddressInfo).port;
    this.#gate = new Gate(this.port, parts.token);
    server.maxConnections = parts.maxClients + spareConnections;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response));
    server.on('error', () => {});
  }

  /** Listens. Rejects as `listen` does: the port is taken, or not to be had. */
  static open(parts: SiteParts): Promise<Site> {
    return new Promise((resolve, reject) => {
      const server = createServer({ maxHeaderSize: 16_384 });
      server.once('error', reject);
      server.listen(parts.port, '127.0.0.1', () => {
        server.removeListener('error', reject);
        resolve(new Site(server, parts));
      });
    });
  }

  /** Ends every connection. Resolves when nothing is left. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {});
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const { method, url = '' } = request;
    if (!this.#gate.isOwn(request)) refuse(response, 403, 'not from here');
    else if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      refuse(response, 405, 'GET or HEAD');
    } else this.#give(url, method === 'HEAD', request, response);
  }

  #give(address: string, isHead: boolean, request: IncomingMessage, response: ServerResponse): void {
    const url = urlOf(address);
    const name = url?.pathname.slice(1);
    if (url === undefined || name === undefined) refuse(response, 400, 'no address');
    else if (name === 'events' || name === '' || name === 'index.html') {
      if (!this.#gate.hasToken(url)) refuse(response, 403, 'the address lacks the token that was printed with it');
      else if (name === 'events') this.#listen(isHead, request, response);
      else this.#file('index.html', isHead, response);
    } else this.#file(name, isHead, response);
  }

  #listen(isHead: boolean, request: IncomingMessage, response: ServerResponse): void {
    const { listeners } = this.#parts;
    if (!isHead && listeners.size >= this.#parts.maxClients) {
      response.setHeader('retry-after', '5');
      refuse(response, 503, 'too many pages listen');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    if (isHead) response.end();
    else listeners.accept(request, response);
  }

  #file(name: string, isHead: boolean, response: ServerResponse): void {
    const file = this.#parts.files.get(name);
    if (file === undefined) {
      refuse(response, 404, name === 'index.html' ? 'the page was not built: npm run build' : 'there is no such file');
      return;
    }
    response.writeHead(200, { 'content-type': file.type, 'content-length': file.body.length });
    if (isHead) response.end();
    else response.end(file.body);
  }
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${why}\n`);
}

function urlOf(address: string): URL | undefined {
  try {
    return address.startsWith('/') ? new URL(`http://127.0.0.1${address}`) : undefined;
  } catch {
    return undefined;
  }
}
