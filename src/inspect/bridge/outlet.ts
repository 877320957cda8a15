/**
 * Where messages leave: a WebSocket of the host's, or a function.
 *
 * O1. Nothing that the socket or the function does reaches the caller.
 * O2. The socket stays the host's: it is neither opened nor closed here, and
 *     nothing is sent to one that holds more than its share unsent.
 */
import type { WebSocketLike } from '../../contract/web-socket.js';

/** What the bridge needs of a WebSocket: that of a browser or of the platform, or one of the package `ws`. */
export type InspectionSocket = Pick<WebSocketLike, 'readyState' | 'bufferedAmount' | 'send' | 'addEventListener'>;

/** Takes one message. `false`: not now, ask again later. */
export type SendMessage = (text: string) => unknown;

export interface OutletWatch {
  /** Messages can leave from now on. */
  opened(): void;
  /** No message will leave any more. */
  gone(): void;
  /** A message was taken, and was not sent after all. */
  failed(): void;
}

/** `later`: it may take messages yet. `full`: it has taken more than it has sent. */
export type OutletState = 'open' | 'full' | 'later' | 'gone';

export interface Outlet {
  readonly state: OutletState;
  /** `refused`: not taken now. `lost`: taken, and it failed. */
  send(text: string): 'sent' | 'refused' | 'lost';
  /** Tells its watch no more, and sends no more. */
  leave(): void;
}

const CONNECTING = 0;
const OPEN = 1;

export class SocketOutlet implements Outlet {
  readonly #socket: InspectionSocket;
  readonly #maxUnsentBytes: number;
  #watch: OutletWatch | undefined;

  /** Throws what `addEventListener` of something that is no socket throws. */
  constructor(socket: InspectionSocket, maxUnsentBytes: number, watch: OutletWatch) {
    this.#socket = socket;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#watch = watch;
    socket.addEventListener('open', () => this.#watch?.opened());
    socket.addEventListener('close', () => this.#gone());
    // a `close` follows; without a listener an `error` of the package `ws` would end the process
    socket.addEventListener('error', () => {});
  }

  get state(): OutletState {
    if (this.#watch === undefined) return 'gone';
    try {
      const { readyState, bufferedAmount } = this.#socket;
      if (readyState === CONNECTING) return 'later';
      if (readyState !== OPEN) return 'gone';
      return bufferedAmount > this.#maxUnsentBytes ? 'full' : 'open';
    } catch {
      return 'gone';
    }
  }

  send(text: string): 'sent' | 'lost' {
    try {
      this.#socket.send(text);
      return 'sent';
    } catch {
      this.#watch?.failed();
      // one that is open and does not send is broken
      this.#gone();
      return 'lost';
    }
  }

  leave(): void {
    this.#watch = undefined;
  }

  #gone(): void {
    const watch = this.#watch;
    this.#watch = undefined;
    watch?.gone();
  }
}

export class FunctionOutlet implements Outlet {
  readonly #send: SendMessage;
  readonly #watch: OutletWatch;
  #left = false;

  constructor(send: SendMessage, watch: OutletWatch) {
    this.#send = send;
    this.#watch = watch;
  }

  get state(): OutletState {
    return this.#left ? 'gone' : 'open';
  }

  send(text: string): 'sent' | 'refused' | 'lost' {
    try {
      const answer = this.#send(text);
      if (isThenable(answer)) Promise.resolve(answer).catch(() => this.#watch.failed());
      return answer === false ? 'refused' : 'sent';
    } catch {
      this.#watch.failed();
      return 'lost';
    }
  }

  leave(): void {
    this.#left = true;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
