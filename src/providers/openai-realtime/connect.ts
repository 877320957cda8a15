import {
  ConnectFailedError,
  ConnectTimeoutError,
  InvalidInputError,
  NotSupportedError,
} from '../../contract/errors.js';
import type { BidiConnectParams, BidiSession } from '../../contract/provider.js';
import { platformWebSocket, Socket, type SocketClose, type SocketListener } from '../../contract/web-socket.js';
import { closedReason, type WireFact } from '../../contract/wire-mapping.js';
import { idIn, isRecord, type JsonRecord, recordIn } from '../../contract/wire-reading.js';
import { createItem, FrameIds, parseFrame } from './client-frames.js';
import { endpointOf, placeOf } from './endpoint.js';
import { EventQueue } from './event-queue.js';
import { historyItems } from './items.js';
import { RealtimeMapping } from './mapping.js';
import type { Settings } from './options.js';
import { Secrets } from './secrets.js';
import { RealtimeSession } from './session.js';
import { sessionOf } from './session-update.js';

/**
 * Connects: the socket, the service's greeting, the set-up, what was said before. Settles once, in bounded time.
 *
 * - N1 it resolves only when the service has taken the set-up and every entry of the history
 * - N2 it rejects with the exact reason of an abort; with a `ConnectTimeoutError` when time is up; else with a
 *   `ConnectFailedError` that has the service's own reason
 * - N3 when it has rejected, the socket is gone, or goes as soon as the platform gives it
 */
export async function connect(settings: Settings, params: BidiConnectParams): Promise<BidiSession> {
  const { model, system, resume, history = [] } = params;
  const signal = params.signal;
  if (typeof model !== 'string' || model === '') throw new InvalidInputError('model', 'the name of one', model);
  if (system !== undefined && typeof system !== 'string') throw new InvalidInputError('system', 'text', system);
  if (resume !== undefined) {
    throw new NotSupportedError('resuming a session', `${settings.traits.name}: hand in \`history\` instead`);
  }
  signal?.throwIfAborted();
  const ids = new FrameIds();
  const items = historyItems(history, settings.traits.shape === 'beta', () => ids.item());
  return new Promise((resolve, reject) => {
    new Connecting(settings, params, signal, ids, items, resolve, reject).start();
  });
}

/** How the greeting goes: what is waited for. */
type Phase = 'greeting' | 'set-up' | 'history' | 'done';

class Connecting implements SocketListener {
  readonly #mapping: RealtimeMapping;
  readonly #events: EventQueue;
  readonly #onAbort = () => this.#fail(this.signal?.reason);
  #secrets = new Secrets([]);
  #socket: Socket | undefined;
  #session: RealtimeSession | undefined;
  #phase: Phase = 'greeting';
  #expiresAtMs: number | undefined;
  #timer: unknown;
  #items: readonly JsonRecord[];
  /** Ids of entries of the history that the service has not taken yet, and of items that it has. */
  readonly #unseen: Set<string>;
  readonly #seen = new Set<string>();

  constructor(
    readonly settings: Settings,
    readonly params: BidiConnectParams,
    readonly signal: AbortSignal | undefined,
    readonly ids: FrameIds,
    items: readonly JsonRecord[],
    readonly resolve: (session: BidiSession) => void,
    readonly reject: (error: unknown) => void,
  ) {
    this.#mapping = new RealtimeMapping(settings.traits);
    this.#events = new EventQueue(settings.maxUnreadEvents);
    this.#items = items;
    this.#unseen = new Set(items.map(({ id }) => String(id)));
  }

  start(): void {
    const { clock, connectTimeoutMs } = this.settings;
    this.#timer = clock.setTimeout(() => this.#fail(new ConnectTimeoutError(connectTimeoutMs)), connectTimeoutMs);
    this.signal?.addEventListener('abort', this.#onAbort);
    this.#open().catch((error) => this.#fail(error));
  }

  async #open(): Promise<void> {
    const { settings } = this;
    const platform =
      settings.webSocket === undefined
        ? await platformWebSocket()
        : { make: settings.webSocket, takesHeaders: settings.auth !== 'headerless' };
    const withHeaders = settings.auth === undefined ? platform.takesHeaders : settings.auth === 'header';
    if (withHeaders && !platform.takesHeaders)
      throw new NotSupportedError('auth header', 'the WebSocket of this platform');
    const { url, protocols, headers, secrets } = await endpointOf(settings, this.params.model, withHeaders);
    if (this.#phase === 'done') return;
    this.#secrets = new Secrets([...secrets, url]);
    const { maxFrameBytes } = settings;
    this.#socket = new Socket({ url, protocols, headers, maxFrameBytes, make: platform.make }, this);
  }

  opened(): void {}

  frame(text: string): void {
    if (this.#session !== undefined) {
      this.#session.frame(text);
      return;
    }
    if (this.#phase === 'done') return;
    const step = this.#mapping.frame(parseFrame(text));
    for (const event of step.events) if (event.type !== 'error') this.#events.push(event);
    for (const fact of step.facts) this.#fact(fact);
  }

  closed(close: SocketClose): void {
    if (this.#session !== undefined) {
      this.#session.socketClosed(close);
      return;
    }
    const { status, code } = close;
    const details = { status, closeCode: close.wasOpen ? code : undefined };
    this.#refuse(this.#secrets.hide(reasonOf(close)), details);
  }

  #fact(fact: WireFact): void {
    switch (fact.type) {
      case 'opened':
        this.#expiresAtMs = fact.expiresAtMs ?? this.#expiresAtMs;
        if (this.#phase === 'greeting') this.#setUp();
        break;
      case 'ready':
        this.#expiresAtMs = fact.expiresAtMs ?? this.#expiresAtMs;
        if (this.#phase === 'set-up') this.#seed();
        break;
      case 'acknowledged':
        if (this.#phase === 'history') this.#seeded(fact.itemId);
        break;
      case 'error':
        if (fact.treatment === 'swallowed' || fact.treatment === 'conflict') return;
        this.#refuse(this.#secrets.hide(fact.message), {});
        break;
      default:
    }
  }

  #setUp(): void {
    this.#phase = 'set-up';
    const session = sessionOf(this.settings, this.params);
    this.#send({ type: 'session.update', event_id: this.ids.message(), session });
  }

  #seed(): void {
    this.#phase = 'history';
    for (const item of this.#items) this.#send(createItem(this.ids.message(), item));
    this.#items = [];
    if (this.#unseen.size === 0) this.#done();
  }

  /** Nothing but our items can become part of the conversation now, so one with an id of the service's own is the next of ours. */
  #seeded(itemId: string | undefined): void {
    // Each is told of twice by some services, and once by others.
    if (itemId === undefined || this.#seen.has(itemId)) return;
    this.#seen.add(itemId);
    const [oldest] = this.#unseen;
    if (!this.#unseen.delete(itemId) && oldest !== undefined) this.#unseen.delete(oldest);
    if (this.#unseen.size === 0) this.#done();
  }

  #done(): void {
    const { settings, ids, signal } = this;
    const socket = this.#socket as Socket;
    this.#leave();
    const session = new RealtimeSession({
      settings,
      ids,
      socket,
      signal,
      mapping: this.#mapping,
      events: this.#events,
      secrets: this.#secrets,
      expiresAtMs: this.#expiresAtMs,
    });
    this.#session = session;
    this.resolve(session);
  }

  #send(frame: JsonRecord): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #refuse(reason: string, details: { status?: number | undefined; closeCode?: number | undefined }): void {
    if (this.#phase !== 'done') this.#fail(new ConnectFailedError(placeOf(this.settings), reason, details));
  }

  #fail(error: unknown): void {
    if (this.#phase === 'done') return;
    this.#leave();
    this.#socket?.destroy();
    this.reject(error);
  }

  #leave(): void {
    this.#phase = 'done';
    this.settings.clock.clearTimeout(this.#timer);
    this.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** What a connection that ended before it was ready says of itself; of a refused upgrade, the message in its body. */
function reasonOf({ code, reason, failure, wasOpen }: SocketClose): string {
  if (reason !== '' || failure === undefined) {
    return wasOpen ? closedReason(code, reason) : reason || 'the connection could not be made';
  }
  const refusal = /^(HTTP [^:]*): ([\s\S]*)$/.exec(failure);
  if (refusal === null) return failure;
  const [, status, body = ''] = refusal;
  const answer = parseFrame(body);
  const error = isRecord(answer) ? (recordIn(answer, 'error') ?? answer) : undefined;
  return `${status}: ${(error && (idIn(error, 'message') ?? idIn(error, 'error'))) ?? body}`;
}
