import { messageOf, NotSupportedError } from './errors.js';

/**
 * The one seam between the drivers and whatever WebSocket there is.
 *
 * - S1 `closed` comes exactly once for a socket, and nothing comes after it
 * - S2 nothing throws and nothing is left unhandled, whatever the platform's socket does
 * - S3 no text of this file holds the URL, a header or a protocol: keys travel in them
 * - S4 a frame longer than `maxFrameBytes` ends the connection; it is never handed on
 */

/** What a driver needs of a WebSocket: the part that browsers, Node, Deno, Bun and the package `ws` have in common. */
export interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  /** Bytes that were sent and have not left yet. */
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void): void;
  /** Drops the connection without the closing handshake, where the implementation can (`ws`). */
  terminate?(): void;
}

/** The fields that the events of a {@link WebSocketLike} may have. */
export interface SocketEvent {
  readonly type: string;
  /** Of `message`: text, or an `ArrayBuffer` or a view of one. */
  readonly data?: unknown;
  /** Of `close`. */
  readonly code?: unknown;
  readonly reason?: unknown;
  /** Of `error`, where the implementation says what went wrong. */
  readonly message?: unknown;
  readonly error?: unknown;
}

/** What a socket is made with. A platform that takes no headers ignores them. */
export interface WebSocketInit {
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The longest message to take, for an implementation that can refuse a longer one before it is read whole. */
  readonly maxFrameBytes: number;
}

/** Makes a socket that is connecting, or throws. A host hands in its own to choose an implementation, an agent or a proxy. */
export type WebSocketFactory = (url: string, init: WebSocketInit) => WebSocketLike | Promise<WebSocketLike>;

/** The WebSocket of the platform. */
export interface PlatformWebSocket {
  readonly make: WebSocketFactory;
  /** Whether request headers reach the server. Where not, a key has to travel as a protocol or in the URL. */
  readonly takesHeaders: boolean;
}

/**
 * The global `WebSocket`, or that of the package `ws` where there is none (Node 20).
 * @throws {NotSupportedError} when there is neither.
 */
export async function platformWebSocket(): Promise<PlatformWebSocket> {
  const { WebSocket } = globalThis as { WebSocket?: GlobalWebSocket };
  if (typeof WebSocket === 'function') {
    return { make: (url, { protocols }) => new WebSocket(url, [...protocols]), takesHeaders: false };
  }
  // By a name that no bundler follows: it is an optional package, and of no use where there is a global.
  const name = 'ws';
  let ws: WsModule;
  try {
    ws = (await import(/* @vite-ignore */ name)) as WsModule;
  } catch {
    const here = 'this platform: install the package `ws`, or hand in `webSocket`';
    throw new NotSupportedError('a WebSocket (there is no global one)', here);
  }
  return { make: (url, init) => wsSocket(ws.WebSocket, url, init), takesHeaders: true };
}

type GlobalWebSocket = new (url: string, protocols: string[]) => WebSocketLike;

/** The part of the package `ws` that is used here. */
interface WsModule {
  readonly WebSocket: WsConstructor;
}

/** The constructor that the package `ws` exports as `WebSocket`. */
export type WsConstructor = new (url: string, protocols: string[], options: Record<string, unknown>) => WsSocket;

interface WsSocket extends WebSocketLike {
  on(event: 'unexpected-response', listener: (request: unknown, response: HttpResponse) => void): unknown;
  emit(event: 'error', error: unknown): unknown;
}

interface HttpResponse {
  readonly statusCode?: number;
  on(event: 'data', listener: (piece: { toString(): string }) => void): unknown;
  on(event: 'end' | 'error' | 'close', listener: () => void): unknown;
}

/** How much of the answer to a refused upgrade is read, in characters. */
const longestRefusal = 4096;

/** A socket of the package `ws`, which tells why an upgrade was refused: `HTTP 401: ` and the body that came with it. */
export function wsSocket(WebSocket: WsConstructor, url: string, init: WebSocketInit): WebSocketLike {
  const { protocols, headers, maxFrameBytes } = init;
  const options = { headers, maxPayload: maxFrameBytes, perMessageDeflate: false, followRedirects: false };
  const socket = new WebSocket(url, [...protocols], options);
  socket.on('unexpected-response', (_, response) => {
    let body = '';
    let told = false;
    const tell = () => {
      if (told) return;
      told = true;
      socket.emit('error', new UpgradeRefused(response.statusCode, body.slice(0, longestRefusal)));
      socket.terminate?.();
    };
    response.on('data', (piece) => {
      body += piece.toString();
      if (body.length >= longestRefusal) tell();
    });
    for (const end of ['end', 'error', 'close'] as const) response.on(end, tell);
  });
  return socket;
}

/** What is emitted on a socket whose upgrade was refused. Never leaves this file but as the text of a {@link SocketClose}. */
class UpgradeRefused extends Error {
  constructor(
    readonly status: number | undefined,
    body: string,
  ) {
    super(`HTTP ${status ?? 'without a status'}${body.trim() === '' ? '' : `: ${body.trim()}`}`);
  }
}

/** How a connection ended. */
export interface SocketClose {
  /** The code of the close frame; 1006 where the connection ended without one. */
  readonly code: number;
  readonly reason: string;
  /** What the platform said of a connection that failed, a refused upgrade among them (`HTTP 401: …`). May hold whatever the server sent. */
  readonly failure?: string;
  /** Of the HTTP answer that refused the upgrade, where the implementation tells. */
  readonly status?: number;
  /** Whether the connection was ever open. */
  readonly wasOpen: boolean;
}

/** Who is told what happens on a socket. Its methods must not throw. */
export interface SocketListener {
  opened(): void;
  /** One message, text or the UTF-8 of a binary one. */
  frame(text: string): void;
  closed(close: SocketClose): void;
}

/** What a {@link Socket} is opened with. */
export interface SocketRequest extends WebSocketInit {
  readonly url: string;
  readonly make: WebSocketFactory;
}

const CONNECTING = 0;
const OPEN = 1;

/** A connection, from the request for it to its end (S1–S4). Begins to connect at once; tells nothing within the constructor. */
export class Socket {
  readonly #listener: SocketListener;
  readonly #maxFrameBytes: number;
  #socket: WebSocketLike | undefined;
  #failure: string | undefined;
  #status: number | undefined;
  #wasOpen = false;
  #over = false;
  /** What was asked of a socket that the factory has not given yet. */
  #leaving: 'close' | 'destroy' | undefined;

  constructor(request: SocketRequest, listener: SocketListener) {
    this.#listener = listener;
    this.#maxFrameBytes = request.maxFrameBytes;
    const { url, make, ...init } = request;
    Promise.resolve()
      .then(() => (this.#leaving === undefined ? make(url, init) : undefined))
      .then(
        (socket) => this.#take(socket),
        (error) => this.#end(1006, '', messageOf(error)),
      );
  }

  /** Whether frames can be sent. */
  get isOpen(): boolean {
    return !this.#over && this.#socket?.readyState === OPEN;
  }

  /** Bytes that were sent and have not left yet. */
  get bufferedAmount(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** Sends one text frame; whether it could be. It may still be lost with the connection. */
  send(text: string): boolean {
    if (!this.isOpen) return false;
    try {
      this.#socket?.send(text);
      return true;
    } catch (error) {
      this.#failure ??= messageOf(error);
      return false;
    }
  }

  /** Begins the closing handshake; `closed` follows when the other side answers, which it may never do: see {@link destroy}. */
  close(code = 1000, reason = ''): void {
    if (this.#over) return;
    this.#leaving ??= 'close';
    attempt(() => this.#socket?.close(code, reason));
  }

  /** Drops the connection: `closed` comes at once, with 1006, and nothing is waited for. */
  destroy(failure?: string): void {
    if (this.#over) return;
    this.#leaving = 'destroy';
    this.#drop();
    this.#end(1006, '', failure);
  }

  #take(socket: WebSocketLike | undefined): void {
    if (socket === undefined) {
      this.#end(1006, '');
      return;
    }
    this.#socket = socket;
    try {
      // Never taken off again: an `error` that nobody listens for would end the process.
      socket.addEventListener('error', ({ message, error }) => {
        if (error instanceof UpgradeRefused) this.#status = error.status;
        if (typeof message === 'string' && message !== '') this.#failure ??= message;
        // The global one of Node 22 tells of a refused upgrade in this way alone: no `close` follows.
        if (!this.#wasOpen && socket.readyState === CONNECTING) this.#end(1006, '');
      });
      socket.addEventListener('open', () => this.#opened());
      socket.addEventListener('message', ({ data }) => this.#message(data));
      socket.addEventListener('close', ({ code, reason }) => {
        this.#end(typeof code === 'number' ? code : 1006, typeof reason === 'string' ? reason : '');
      });
      socket.binaryType = 'arraybuffer';
      if (this.#leaving !== undefined || this.#over) this.#drop();
      else if (socket.readyState === OPEN) this.#opened();
      else if (socket.readyState > OPEN) this.#end(1006, '', 'the socket was closed before it was handed in');
    } catch (error) {
      this.#drop();
      this.#end(1006, '', messageOf(error));
    }
  }

  #opened(): void {
    if (this.#over || this.#wasOpen) return;
    this.#wasOpen = true;
    this.#listener.opened();
  }

  #message(data: unknown): void {
    if (this.#over) return;
    const text = textOf(data, this.#maxFrameBytes);
    if (typeof text === 'string') this.#listener.frame(text);
    else {
      this.#drop();
      this.#end(text.code, text.problem);
    }
  }

  #drop(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    // A browser's socket has no `terminate`, and takes no code of the protocol's own.
    if (typeof socket.terminate === 'function') attempt(() => socket.terminate?.());
    else attempt(() => socket.close());
  }

  #end(code: number, reason: string, failure = this.#failure): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.closed({
      code,
      reason,
      wasOpen: this.#wasOpen,
      ...(failure === undefined ? {} : { failure }),
      ...(this.#status === undefined ? {} : { status: this.#status }),
    });
  }
}

function textOf(data: unknown, limit: number): string | { code: number; problem: string } {
  if (typeof data === 'string') return data.length > limit ? tooLong(data.length, limit) : data;
  const bytes = bytesOf(data);
  if (bytes === undefined) return { code: 1003, problem: 'a message that is neither text nor an ArrayBuffer' };
  return bytes.byteLength > limit ? tooLong(bytes.byteLength, limit) : new TextDecoder().decode(bytes);
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined;
}

function tooLong(found: number, limit: number) {
  return { code: 1009, problem: `a message of ${found} bytes, where at most ${limit} are taken` };
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // a socket that cannot be closed is closed
  }
}
