import { InvalidInputError, SessionEndedError, SocketFullError } from '../../contract/errors.js';
import type { BidiEvent, BidiInput, BidiSession } from '../../contract/provider.js';
import type { Socket, SocketClose } from '../../contract/web-socket.js';
import { closedReason, type WireErrorFact, type WireFact } from '../../contract/wire-mapping.js';
import { countIn, idIn, isRecord, type JsonRecord } from '../../contract/wire-reading.js';
import { byteLength, isBase64 } from './base64.js';
import {
  appendAudio,
  createItem,
  type FrameIds,
  isAdvice,
  keyIn,
  parseFrame,
  responseFrame,
  truncateItem,
} from './client-frames.js';
import type { EventQueue } from './event-queue.js';
import { assertInput, assertMs } from './input.js';
import { resultItem, userItem } from './items.js';
import type { RealtimeMapping } from './mapping.js';
import type { Settings } from './options.js';
import { PendingResults } from './pending-results.js';
import { durationMs, Playback } from './playback.js';
import { type ResponseAction, ResponseQueue } from './response-queue.js';
import type { Secrets } from './secrets.js';

/** What a session that is ready is made of. */
export interface SessionParts {
  readonly settings: Settings;
  readonly ids: FrameIds;
  readonly socket: Socket;
  readonly signal: AbortSignal | undefined;
  readonly mapping: RealtimeMapping;
  readonly events: EventQueue;
  readonly secrets: Secrets;
  readonly expiresAtMs: number | undefined;
}

/** How long a request that was refused for no reason that is known waits to be made again. */
const blockedMs = 250;

/** A timer of the platform takes no more. */
const longestTimer = 2_147_483_647;

/**
 * A session with OpenAI Realtime, or a service that speaks its protocol, from the end of the set-up to the end.
 *
 * - Z1 after the end nothing is sent, no event is pushed and no result is pending
 * - Z2 an error that answers a result settles that result, and is no event; one that answers advice (a cancel, a truncation) is neither
 * - Z3 when a turn is interrupted, by whomever, what was not heard of its audio is truncated once
 * - Z4 every text of an event or an error has passed {@link Secrets}
 *
 * There is no `abandonToolCall`: a call without an output is an item like any other here. The service holds nothing open
 * for it and answers the next request for a response all the same, and a stub would be read by the model as the result.
 */
export class RealtimeSession implements BidiSession {
  readonly #parts: SessionParts;
  readonly #queue = new ResponseQueue();
  readonly #results: PendingResults;
  readonly #playback: Playback;
  readonly #onAbort = () => this.#end('aborted by the host', 'dropped');
  #ended: string | undefined;
  #socketGone: (() => void) | undefined;
  #isSocketGone = false;
  #expiresAtMs: number | undefined;
  #expiryTimer: unknown;
  #blockedTimer: unknown;
  #requestTimer: { readonly key: string; readonly timer: unknown } | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { settings, signal } = parts;
    this.#results = new PendingResults(settings.clock, settings.resultTimeoutMs);
    this.#playback = new Playback(settings.clock);
    signal?.addEventListener('abort', this.#onAbort);
    this.#expires(parts.expiresAtMs);
  }

  async send(input: BidiInput): Promise<void> {
    const { settings, ids } = this.#parts;
    assertInput(input, settings.inputFormat);
    this.#assertOpen();
    this.#assertRoom();
    if (input.type === 'audio') {
      this.#write(appendAudio(ids.message(), input.data));
      return;
    }
    // As with speech: what the model is saying is cut, and the next response answers both.
    if (this.#queue.isBusy) this.#stop(false);
    const itemId = ids.item();
    this.#write(createItem(ids.message(), userItem(itemId, input.text)));
    this.#queue.said(itemId);
    this.#pump();
  }

  sendToolResult(id: string, output: string, isError = false): Promise<void> {
    try {
      if (typeof id !== 'string' || id === '') throw new InvalidInputError('id of a call', 'text', id);
      if (typeof output !== 'string') throw new InvalidInputError('output of a call', 'text', output);
      this.#assertOpen();
    } catch (error) {
      return Promise.reject(error);
    }
    const { ids } = this.#parts;
    const itemId = ids.item();
    const eventId = ids.message();
    const answer = this.#results.add(eventId, itemId, id);
    this.#write(createItem(eventId, resultItem(itemId, id, output, isError)));
    this.#queue.answered(id, itemId);
    this.#pump();
    return answer;
  }

  events(): AsyncIterable<BidiEvent> {
    return this.#parts.events;
  }

  /** Stops the output at once: `interrupted` follows, whatever the service is doing, and nothing more comes of what it was. */
  async interrupt(options: { readonly playedMs?: number } = {}): Promise<void> {
    const { playedMs } = options;
    if (playedMs !== undefined) assertMs('playedMs', playedMs);
    this.#assertOpen();
    this.#stop(true, playedMs);
  }

  /** `ms` is counted from the first audio of the stretch that is playing. */
  played({ ms }: { readonly ms: number }): void {
    assertMs('ms', ms);
    this.#playback.reported(ms);
  }

  async close(): Promise<void> {
    this.#end('closed by the host', 'dropped');
    if (this.#isSocketGone) return;
    const { clock, closeTimeoutMs } = this.#parts.settings;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(() => this.#parts.socket.destroy(), closeTimeoutMs);
      this.#socketGone = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  /** A message of the service. */
  frame(text: string): void {
    if (this.#ended !== undefined) return;
    const data = parseFrame(text);
    const { mapping } = this.#parts;
    const step = mapping.frame(data);
    let isTold = false;
    let speech = false;
    for (const fact of step.facts) {
      if (this.#fact(fact)) isTold = true;
      if (fact.type === 'speech_started') speech = true;
    }
    for (const event of step.events) {
      if (event.type === 'interrupted') speech = false;
      if (!(isTold && event.type === 'error')) this.#emit(event, data);
    }
    // The model has said all of it already, and the user has not heard it to the end.
    if (speech && mapping.interruptsOnSpeech && this.#playback.isUnfinished) {
      mapping.stop();
      this.#emit({ type: 'interrupted' }, data);
    }
    this.#pump();
  }

  /** The connection has ended, whoever ended it. */
  socketClosed({ code, reason, failure }: SocketClose): void {
    this.#isSocketGone = true;
    const text = this.#parts.secrets.hide(closedReason(code, reason || failure));
    if (this.#ended === undefined) {
      this.#parts.events.push({ type: 'closed', reason: text });
      this.#end(text, 'kept');
    }
    this.#socketGone?.();
  }

  /** What a fact asks for. Whether it tells the host of the error that stands beside it. */
  #fact(fact: WireFact): boolean {
    const queue = this.#queue;
    switch (fact.type) {
      case 'opened':
      case 'ready':
        if (fact.expiresAtMs !== undefined) this.#expires(fact.expiresAtMs);
        return false;
      case 'acknowledged': {
        const ours = this.#results.acknowledge(fact.itemId, fact.callId) ?? fact.itemId;
        if (ours !== undefined) queue.acknowledged(ours);
        return false;
      }
      case 'error':
        return this.#error(fact);
      case 'response_opened': {
        const [{ discard }, actions] = queue.opened(fact.id, keyIn(fact.metadata));
        if (discard) this.#parts.mapping.discard(fact.id);
        this.#act(actions);
        return false;
      }
      case 'response_closed':
        queue.closed(fact.id);
        return false;
      case 'call_dropped':
        this.#diagnose('call_dropped', `call ${fact.id} of ${fact.name}: its response was cut`);
        return false;
      case 'diagnostic':
        this.#diagnose(fact.code, fact.detail);
        return false;
      default:
        return false;
    }
  }

  #error({ treatment, message, eventId, callId }: WireErrorFact): boolean {
    if (treatment === 'conflict') {
      this.#diagnose('response_conflict', message);
      if (!this.#queue.conflict(eventId)) this.#push({ type: 'error', message });
      return true;
    }
    if (treatment === 'swallowed' || isAdvice(eventId)) {
      this.#diagnose('advice_refused', message);
      return true;
    }
    const itemId = this.#results.refuse(eventId, callId, this.#parts.secrets.hide(message));
    if (itemId !== undefined) this.#queue.refused(itemId);
    else if (treatment !== 'refused') this.#queue.requestFailed(eventId);
    return itemId !== undefined;
  }

  #emit(event: BidiEvent, data: unknown): void {
    const frame = isRecord(data) ? data : {};
    switch (event.type) {
      case 'audio': {
        if (!isBase64(event.data)) {
          this.#diagnose('malformed_frame', 'response.output_audio.delta: expected base64');
          return;
        }
        const ms = durationMs(byteLength(event.data), event.mediaType);
        const itemId = idIn(frame, 'item_id');
        if (itemId !== undefined) this.#playback.arrived(itemId, countIn(frame, 'content_index') ?? 0, ms);
        break;
      }
      case 'tool_call':
        this.#queue.called(event.id, idIn(frame, 'response_id') ?? '');
        break;
      case 'turn_complete':
        this.#playback.stretchEnded();
        break;
      case 'interrupted':
        this.#act(this.#queue.interrupted(false));
        this.#truncate();
        break;
      default:
    }
    this.#push(event);
  }

  #push(event: BidiEvent): void {
    if (this.#ended !== undefined) return;
    const { events, settings, secrets } = this.#parts;
    if (events.push(event.type === 'error' ? { ...event, message: secrets.hide(event.message) } : event)) return;
    const reason = `more than ${settings.maxUnreadEvents} events wait unread`;
    events.push({ type: 'error', message: reason });
    events.push({ type: 'closed', reason });
    this.#end(reason, 'kept');
  }

  /** Cuts what the far side says. `tells`: whether `interrupted` comes even where nothing was cut. */
  #stop(tells: boolean, playedMs?: number): void {
    const wasOpen = this.#parts.mapping.stop();
    this.#act(this.#queue.interrupted(true));
    this.#truncate(playedMs);
    if (wasOpen || tells) this.#push({ type: 'interrupted' });
    this.#pump();
  }

  #truncate(playedMs?: number): void {
    const { settings, ids } = this.#parts;
    for (const truncation of this.#playback.cut(playedMs)) {
      if (settings.traits.truncates) this.#write(truncateItem(ids.advice(), truncation));
    }
  }

  #pump(): void {
    if (this.#ended !== undefined) return;
    const { clock } = this.#parts.settings;
    const action = this.#queue.next();
    if (action !== undefined) this.#act([action]);
    this.#timeRequest();
    if (this.#queue.isBlocked && this.#blockedTimer === undefined) {
      this.#blockedTimer = clock.setTimeout(() => {
        this.#blockedTimer = undefined;
        this.#queue.unblock();
        this.#pump();
      }, blockedMs);
    }
  }

  /** A request that nothing answers must not keep the model silent for ever. */
  #timeRequest(): void {
    const { clock, responseTimeoutMs } = this.#parts.settings;
    const key = this.#queue.request;
    if (key === this.#requestTimer?.key) return;
    clock.clearTimeout(this.#requestTimer?.timer);
    this.#requestTimer = undefined;
    if (key === undefined) return;
    const timer = clock.setTimeout(() => {
      this.#queue.requestFailed(key);
      this.#push({ type: 'error', message: `no response began within ${responseTimeoutMs} ms` });
      this.#pump();
    }, responseTimeoutMs);
    this.#requestTimer = { key, timer };
  }

  #act(actions: readonly ResponseAction[]): void {
    for (const action of actions) this.#write(responseFrame(action, this.#parts.ids, this.#parts.settings.traits));
  }

  #write(frame: JsonRecord): void {
    if (this.#ended === undefined) this.#parts.socket.send(JSON.stringify(frame));
  }

  #expires(atMs: number | undefined): void {
    const { clock, expiryNoticeMs } = this.#parts.settings;
    if (atMs === undefined || atMs === this.#expiresAtMs) return;
    this.#expiresAtMs = atMs;
    clock.clearTimeout(this.#expiryTimer);
    const left = atMs - clock.now();
    // A time that has passed is a matter of clocks that differ: the service ends the session when it does.
    if (left <= 0 || left - expiryNoticeMs > longestTimer) return;
    const tell = () => this.#push({ type: 'expiring', inMs: Math.max(0, Math.round(atMs - clock.now())) });
    this.#expiryTimer = clock.setTimeout(tell, Math.max(0, left - expiryNoticeMs));
  }

  #end(reason: string, unread: 'kept' | 'dropped'): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    const { settings, signal, events, socket } = this.#parts;
    const backlog = events.size;
    settings.clock.clearTimeout(this.#expiryTimer);
    settings.clock.clearTimeout(this.#blockedTimer);
    settings.clock.clearTimeout(this.#requestTimer?.timer);
    signal?.removeEventListener('abort', this.#onAbort);
    events.end(unread);
    socket.close(1000);
    void this.#endResults(reason, unread === 'kept' ? backlog : 0);
  }

  /** A reader that keeps up hears of the end before the results of calls are given up: a session then knows that they were not refused. */
  async #endResults(reason: string, backlog: number): Promise<void> {
    if (this.#results.size === 0) return;
    for (let turn = 0; turn < 16 + 4 * backlog; turn++) await undefined;
    this.#results.end(`session ended: ${reason}`);
  }

  #assertOpen(): void {
    if (this.#ended !== undefined) throw new SessionEndedError(this.#ended);
    if (!this.#parts.socket.isOpen) throw new SessionEndedError('the connection is closing');
  }

  #assertRoom(): void {
    const { socket, settings } = this.#parts;
    const waiting = socket.bufferedAmount;
    if (waiting > settings.maxBufferedBytes) throw new SocketFullError(waiting, settings.maxBufferedBytes);
  }

  #diagnose(code: string, detail: string): void {
    const { settings, secrets } = this.#parts;
    settings.onDiagnostic({ code, detail: secrets.hide(detail) });
  }
}
