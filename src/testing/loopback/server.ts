/**
 * What the fakes of the services have in common: an HTTP server on 127.0.0.1 that takes WebSockets, and can misbehave in
 * every way that a network and a service do.
 *
 * - L1 it listens on the loopback interface only, on a port that the system chooses
 * - L2 `close()` drops whatever is open and resolves when nothing of it is left
 * - L3 what is sent on a connection that is gone is dropped; nothing throws for it
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { type JsonRecord, kindOf } from '../../contract/wire-reading.js';

/** The request for a connection, as it arrived. */
export interface UpgradeRequest {
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The subprotocols that the client offers, in its order. */
  readonly protocols: readonly string[];
}

/** What becomes of the request for a connection. */
export type UpgradeAnswer =
  /** The connection is made; `protocol`: the one that is chosen of those offered. */
  | { readonly accept: true; readonly protocol?: string }
  /** An HTTP answer with this status, and no connection. */
  | { readonly refuse: number; readonly body?: string; readonly contentType?: string }
  /** The request is taken and never answered. */
  | { readonly hang: true };

/** What a fake does with requests and connections. */
export interface LoopbackHandler {
  upgrade(request: UpgradeRequest): UpgradeAnswer;
  connected(connection: LoopbackConnection): void;
  /** Plain HTTP, with the body as text; 404 where absent. */
  http?(request: HttpRequest): HttpAnswer;
}

/** A plain HTTP request. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** The answer to a plain HTTP request, as JSON. */
export interface HttpAnswer {
  readonly status: number;
  readonly json: unknown;
}

/** How a connection ended, as the server saw it; 1006 without a close frame. */
export interface LoopbackClose {
  readonly code: number;
  readonly reason: string;
}

/** A server on 127.0.0.1 (L1–L3). Make one with {@link listen}. */
export class LoopbackServer {
  /** Every connection that was made, in order. */
  readonly connections: LoopbackConnection[] = [];
  readonly #handler: LoopbackHandler;
  #host = '';
  readonly #http: Server;
  readonly #sockets = new Set<Socket>();
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: 64 * 1024 * 1024,
    handleProtocols: (_, request) => this.#chosen.get(request) ?? false,
  });
  readonly #chosen = new WeakMap<IncomingMessage, string>();
  #waiting: ((connection: LoopbackConnection) => void)[] = [];

  private constructor(handler: LoopbackHandler) {
    this.#handler = handler;
    this.#http = createServer((request, response) => this.#answer(request, response));
    this.#http.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', ignore);
    });
    this.#http.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#upgrade(request, socket, head);
    });
  }

  /** Starts a server on a free port. */
  static async listen(handler: LoopbackHandler): Promise<LoopbackServer> {
    const server = new LoopbackServer(handler);
    await new Promise<void>((resolve, reject) => {
      server.#http.once('error', reject);
      server.#http.listen(0, '127.0.0.1', resolve);
    });
    server.#host = `127.0.0.1:${(server.#http.address() as AddressInfo).port}`;
    return server;
  }

  /** `127.0.0.1:` and the port; it stays when the server is closed. */
  get host(): string {
    return this.#host;
  }

  /** The next connection that is made. */
  nextConnection(): Promise<LoopbackConnection> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Drops every connection, and stops listening. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#webSockets.close();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const asked = upgradeRequestOf(request);
    const answer = this.#handler.upgrade(asked);
    if ('hang' in answer) return;
    if ('refuse' in answer) {
      const { refuse, body = '', contentType = 'application/json' } = answer;
      const lines = [
        `HTTP/1.1 ${refuse} Refused`,
        'Connection: close',
        `Content-Type: ${contentType}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
      ];
      socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
      return;
    }
    if (answer.protocol !== undefined) this.#chosen.set(request, answer.protocol);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new LoopbackConnection(asked, { webSocket, tcp: socket });
      this.connections.push(connection);
      const waiting = this.#waiting;
      this.#waiting = [];
      this.#handler.connected(connection);
      for (const resolve of waiting) resolve(connection);
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      const { path, headers } = upgradeRequestOf(request);
      const answer = this.#handler.http?.({ method: request.method ?? 'GET', path, headers, body }) ?? {
        status: 404,
        json: { error: { message: 'not found' } },
      };
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.json));
    });
  }
}

type Done = (error?: Error | null) => void;
type Write = (data: Buffer, done?: Done) => boolean;

/** One connection of a client, from the server's side. */
export class LoopbackConnection {
  /** Every message of the client, as text, in order. */
  readonly received: string[] = [];
  readonly closed: Promise<LoopbackClose>;
  readonly #webSocket: WebSocket;
  readonly #tcp: Socket;
  #listener: ((message: string) => void) | undefined;
  #muted = false;
  #binary = false;
  #pieces = 1;

  /** Made by the server. (Its declarations name no types of Node or of `ws`, which a host need not have.) */
  constructor(
    readonly request: UpgradeRequest,
    sockets: { readonly webSocket: unknown; readonly tcp: unknown },
  ) {
    const webSocket = sockets.webSocket as WebSocket;
    const tcp = sockets.tcp as Socket;
    this.#webSocket = webSocket;
    this.#tcp = tcp;
    tcp.setNoDelay(true);
    webSocket.on('error', ignore);
    webSocket.on('message', (data: RawData) => {
      const message = String(data);
      this.received.push(message);
      this.#listener?.(message);
    });
    this.closed = new Promise((resolve) => {
      webSocket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** Hands each message of the client on; those that came before are in `received`. */
  onMessage(listener: (message: string) => void): void {
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** Sends a message; text, or binary where {@link sendBinary} was asked for. */
  send(text: string): void {
    if (this.#muted || !this.isOpen) return;
    if (this.#pieces === 1) {
      this.#webSocket.send(this.#binary ? Buffer.from(text) : text, ignore);
      return;
    }
    // Cut in bytes, as a service would: a character may be cut in two.
    const bytes = Buffer.from(text);
    const step = Math.max(1, Math.ceil(bytes.length / this.#pieces));
    for (let from = 0; from < bytes.length; from += step) {
      const fin = from + step >= bytes.length;
      this.#webSocket.send(bytes.subarray(from, from + step), { fin, binary: this.#binary }, ignore);
    }
  }

  /** Sends a value as JSON. */
  sendJson(value: unknown): void {
    this.send(JSON.stringify(value));
  }

  /** From now on messages go out as binary ones, or as text again. */
  sendBinary(binary = true): void {
    this.#binary = binary;
  }

  /** From now on every message goes out in this many frames of one fragmented message. */
  fragment(pieces: number): void {
    this.#pieces = pieces;
  }

  /** From now on everything that is written goes out in pieces of at most `bytes` bytes, headers of frames included. */
  splitWrites(bytes: number): void {
    this.#rewrite((data, write, done) => {
      let went = true;
      for (let from = 0; from < data.length; from += bytes) {
        went = write(data.subarray(from, from + bytes), from + bytes >= data.length ? done : undefined);
      }
      return went;
    });
  }

  /** Lets so many bytes more go out, headers of frames included, and then ends the connection: in the middle of a frame, mostly. */
  cutAfter(bytes: number): void {
    let left = bytes;
    this.#rewrite((data, write, done) => {
      const part = data.subarray(0, left);
      left -= part.length;
      const went = part.length === 0 || write(part, done);
      if (part.length < data.length) this.#tcp.end();
      return went;
    });
  }

  #rewrite(rewritten: (data: Buffer, write: Write, done: Done | undefined) => boolean): void {
    const tcp = this.#tcp;
    const write = tcp.write.bind(tcp) as Write;
    tcp.cork = ignore;
    tcp.uncork = ignore;
    tcp.write = ((data: string | Uint8Array, encodingOrDone?: unknown, maybeDone?: unknown): boolean => {
      const done = (typeof encodingOrDone === 'function' ? encodingOrDone : maybeDone) as Done | undefined;
      return rewritten(Buffer.from(data as Uint8Array), write, done);
    }) as typeof tcp.write;
  }

  /** Everything that `send`s leaves in one write. */
  together(sends: () => void): void {
    this.#tcp.cork();
    sends();
    this.#tcp.uncork();
  }

  ping(): void {
    if (this.isOpen) this.#webSocket.ping(undefined, undefined, ignore);
  }

  /** Begins the closing handshake. */
  close(code = 1000, reason = ''): void {
    this.#webSocket.close(code, reason);
  }

  /** Ends the connection without a close frame: an orderly end of TCP, or a reset. */
  cut(how: 'end' | 'reset' = 'end'): void {
    if (how === 'reset') this.#tcp.resetAndDestroy();
    else this.#tcp.destroy();
  }

  /** Half open: the connection stands, and nothing is read, sent or answered any more. */
  stall(): void {
    this.#muted = true;
    this.#webSocket.pause();
  }

  /** Reads nothing until {@link resume}, so that what the client sends piles up on its side; it still sends. */
  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }
}

/**
 * Reads a message of a client as a JSON object.
 * @returns the object, or what is wrong with it.
 */
export function jsonObject(message: string): JsonRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return 'expected a JSON object, found text that is no JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `expected a JSON object, found ${kindOf(value)}`;
  }
  return value as JsonRecord;
}

function upgradeRequestOf(request: IncomingMessage): UpgradeRequest {
  const target = request.url ?? '/';
  const mark = target.indexOf('?');
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return {
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    headers,
    protocols: (headers['sec-websocket-protocol'] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  };
}

function ignore(): void {}
