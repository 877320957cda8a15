import {
  ConnectFailedError,
  ConnectTimeoutError,
  InvalidInputError,
  SessionEndedError,
  SocketFullError,
} from '../../contract/errors.js';
import type { BidiEvent, BidiInput, BidiSession } from '../../contract/provider.js';
import { Socket, type SocketClose, type SocketListener, type WebSocketFactory } from '../../contract/web-socket.js';
import { closedReason, type WireFact, type WireStep } from '../../contract/wire-mapping.js';
import type { JsonRecord } from '../../contract/wire-reading.js';
import { Calls, type LiveCall } from './calls.js';
import { type Answer, answerMessage, inputMessage, stopMessage } from './client-messages.js';
import type { Access } from './endpoint.js';
import { EventQueue } from './event-queue.js';
import { concealed, refusalOf } from './failure-text.js';
import type { LiveRequest } from './live-request.js';
import { type GeminiLiveMapping, geminiLiveMapping } from './mapping.js';

/** Why a call is answered with a stub: the words are for the model. */
const abandonment = 'abandoned: the user went on before this call was answered';

/**
 * One connection to Gemini Live, from the first byte to the last.
 *
 * - L1 `ready` settles once, within `connectTimeoutMs`, whatever the service does
 * - L2 nothing is given after `closed`, and nothing after `close()` or an abort began
 * - L3 no promise that was given is pending after the end
 * - L4 no text that leaves holds a secret
 */
export class LiveSession implements BidiSession, SocketListener {
  /** Resolves when the session stands, rejects when it never will. */
  readonly ready: Promise<void>;
  readonly #request: LiveRequest;
  readonly #socket: Socket;
  readonly #mapping: GeminiLiveMapping;
  readonly #queue: EventQueue;
  readonly #calls: Calls;
  #secrets: readonly string[] = [];
  readonly #nonBlocking: ReadonlySet<string>;
  /** Ids of calls to which the wire gave none, until they are taken. */
  readonly #synthesised = new Set<string>();
  #settleReady: { resolve(): void; reject(error: unknown): void } | undefined;
  #connectTimer: unknown;
  #closeTimer: unknown;
  #holdTimer: unknown;
  #handle: string | undefined;
  /** Why nothing more goes out or comes in. */
  #over: string | undefined;
  #closing: Promise<void> | undefined;
  #closed: (() => void) | undefined;
  #gone = false;

  constructor(request: LiveRequest) {
    const { clock, nonBlocking, limits, signal } = request;
    this.#request = request;
    this.#nonBlocking = new Set(nonBlocking);
    this.#mapping = geminiLiveMapping({ nonBlocking });
    this.#queue = new EventQueue(limits);
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    this.#connectTimer = clock.setTimeout(() => this.#connectTimedOut(), request.connectTimeoutMs);
    signal?.addEventListener('abort', this.#aborted, { once: true });
    const { shown } = request.endpoint;
    this.#socket = new Socket(
      { url: shown, headers: {}, protocols: [], maxFrameBytes: limits.frameBytes, make: this.#make },
      this,
    );
    this.#calls = new Calls(clock, request.calls, () => this.#socket.bufferedAmount);
  }

  // What the host asks for.

  async send(input: BidiInput): Promise<void> {
    const message = inputMessage(input, this.#request.traits);
    this.#mustBeOpen();
    const { unsentBytes } = this.#request.limits;
    const waiting = this.#socket.bufferedAmount;
    if (waiting > unsentBytes) throw new SocketFullError(waiting, unsentBytes);
    this.#write(message);
  }

  async sendToolResult(id: string, output: string, isError = false): Promise<void> {
    if (typeof output !== 'string') throw new InvalidInputError('output', 'a text', output);
    this.#mustBeOpen();
    const call = this.#calls.answer(id);
    this.#answer(call, isError ? { error: output } : { output });
    await this.#calls.written(call);
  }

  async abandonToolCall(id: string): Promise<void> {
    this.#mustBeOpen();
    const call = this.#calls.abandon(id);
    if (call !== undefined) this.#answer(call, { error: abandonment });
  }

  async interrupt(): Promise<void> {
    this.#mustBeOpen();
    const stop = stopMessage(this.#request.traits);
    if (stop !== undefined) this.#write(stop);
    this.#take(this.#mapping.interrupt());
  }

  events(): AsyncIterable<BidiEvent> {
    return this.#queue;
  }

  resumption(): unknown {
    return this.#handle;
  }

  close(): Promise<void> {
    this.#leave('closed by the host');
    this.#queue.drop();
    this.#closing ??= this.#gone
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#closed = resolve;
        });
    return this.#closing;
  }

  // What the socket tells.

  opened(): void {
    if (this.#over === undefined) this.#socket.send(JSON.stringify(this.#request.setup));
  }

  frame(text: string): void {
    if (this.#over !== undefined) return;
    let data: unknown;
    try {
      data = JSON.parse(text);
    } catch {
      this.#diagnose('frame_unreadable', `${text.length} characters that are no JSON`);
      return;
    }
    this.#take(this.#mapping.frame(data));
  }

  closed(close: SocketClose): void {
    this.#gone = true;
    const { clock } = this.#request;
    clock.clearTimeout(this.#closeTimer);
    this.#closed?.();
    if (this.#over !== undefined) return;
    if (this.#settleReady !== undefined) {
      const { reason, status } = refusalOf(close);
      const closeCode = close.wasOpen ? close.code : undefined;
      this.#connectFailed(
        new ConnectFailedError(this.#request.endpoint.shown, this.#conceal(reason), { status, closeCode }),
      );
      return;
    }
    for (const event of this.#mapping.release().events) this.#queue.push(event);
    this.#end(closedReason(close.code, close.reason || (close.failure ?? '')));
  }

  // Inside.

  #take(step: WireStep): void {
    const { clock } = this.#request;
    for (const fact of step.facts) this.#note(fact);
    if (this.#over !== undefined) return;
    let evidence = step.facts.some((fact) => fact.type === 'resumption' && fact.handle !== undefined);
    for (const event of step.events) {
      switch (event.type) {
        case 'tool_call':
          this.#calls.asked(this.#callOf(event.id, event.name));
          evidence = true;
          break;
        case 'text':
        case 'audio':
          evidence = true;
          break;
        case 'tool_call_cancelled':
          for (const id of event.ids) this.#calls.withdrawn(id);
          break;
        case 'interrupted':
          this.#calls.interrupted();
          break;
        case 'error':
          this.#give({ type: 'error', message: this.#conceal(event.message) });
          continue;
      }
      this.#give(event);
      if (this.#over !== undefined) return;
    }
    if (evidence) this.#calls.goesOn();
    const { hold } = step;
    if (hold === undefined) return;
    clock.clearTimeout(this.#holdTimer);
    this.#holdTimer = clock.setTimeout(() => this.#take(this.#mapping.release(hold.id)), hold.ms);
  }

  #note(fact: WireFact): void {
    switch (fact.type) {
      case 'ready':
        this.#isReady();
        break;
      case 'id_synthesised':
        this.#synthesised.add(fact.callId);
        break;
      case 'call_dropped': {
        // The model waits for this one too, though the host never heard of it.
        const call = this.#callOf(fact.id, fact.name);
        if (call.blocking) this.#stub(call);
        break;
      }
      case 'resumption':
        this.#handle = fact.handle;
        break;
      case 'diagnostic':
        this.#diagnose(fact.code, fact.detail);
        break;
      case 'error':
        if (this.#settleReady !== undefined) {
          this.#connectFailed(new ConnectFailedError(this.#request.endpoint.shown, this.#conceal(fact.message)));
        }
        break;
    }
  }

  #callOf(id: string, name: string): LiveCall {
    return { id, name, onWire: !this.#synthesised.delete(id), blocking: !this.#nonBlocking.has(name) };
  }

  #answer(call: LiveCall, response: Answer['response']): void {
    const { scheduling } = this.#request;
    this.#write(
      answerMessage({
        ...(call.onWire ? { id: call.id } : {}),
        name: call.name,
        response,
        ...(scheduling === undefined || call.blocking ? {} : { scheduling }),
      }),
    );
  }

  /** Answers a call that the host never heard of. */
  #stub(call: LiveCall): void {
    try {
      this.#answer(call, { error: abandonment });
    } catch {
      // the connection is closing, so nothing waits for it
    }
  }

  #write(message: JsonRecord): void {
    this.#mustBeOpen();
    const { frameBytes } = this.#request.limits;
    const text = JSON.stringify(message);
    // A character of JSON is three bytes at most.
    if (text.length * 3 > frameBytes && new TextEncoder().encode(text).length > frameBytes) {
      throw new InvalidInputError('message', `at most ${frameBytes} bytes`, text.length);
    }
    if (this.#socket.send(text)) return;
    // The service has begun to close, and its reason comes with the end of that, unless it never ends.
    this.#destroyLater();
    throw new SessionEndedError('the connection is closing');
  }

  #destroyLater(): void {
    const { clock, closeTimeoutMs } = this.#request;
    this.#closeTimer ??= clock.setTimeout(() => this.#socket.destroy(), closeTimeoutMs);
  }

  #mustBeOpen(): void {
    if (this.#over !== undefined) throw new SessionEndedError(this.#over);
  }

  #give(event: BidiEvent): void {
    if (this.#queue.hasRoom) this.#queue.push(event);
    else this.#fail('more events wait unread than may');
  }

  /** The session ends by our own doing: told as an error, and then as any other end. */
  #fail(problem: string): void {
    if (this.#over !== undefined) return;
    this.#queue.push({ type: 'error', message: problem });
    this.#end(problem);
    this.#socket.destroy();
  }

  #end(reason: string): void {
    const shown = this.#conceal(reason);
    const giveUp = this.#stop(shown);
    this.#queue.push({ type: 'closed', reason: shown });
    const unread = this.#queue.size;
    this.#queue.end();
    void afterReader(unread).then(giveUp);
  }

  /** Nothing comes or goes any more. Gives what rejects the results that are pending. */
  #stop(reason: string): () => void {
    const { clock, signal } = this.#request;
    this.#over = reason;
    clock.clearTimeout(this.#connectTimer);
    clock.clearTimeout(this.#holdTimer);
    signal?.removeEventListener('abort', this.#aborted);
    return this.#calls.end(reason);
  }

  /** The host leaves: nothing more is given, and the service is told so. */
  #leave(reason: string): void {
    if (this.#over !== undefined) return;
    this.#stop(reason)();
    this.#queue.drop();
    this.#socket.close(1000);
    if (!this.#gone) this.#destroyLater();
  }

  /** Makes the socket when the key is there. */
  readonly #make: WebSocketFactory = async (_, init) => {
    const { endpoint, make } = this.#request;
    const access: Access = await endpoint.access();
    this.#secrets = access.secrets;
    // Nobody waits for it any more.
    this.#mustBeOpen();
    return make(access.url, { ...init, headers: access.headers });
  };

  #conceal(text: string): string {
    return concealed(text, this.#secrets);
  }

  #diagnose(code: string, detail: string): void {
    try {
      this.#request.onDiagnostic({ code, detail: this.#conceal(detail) });
    } catch {
      // a host that throws here does not end its session by it
    }
  }

  readonly #aborted = (): void => {
    const reason: unknown = this.#request.signal?.reason;
    if (this.#settleReady !== undefined) this.#connectFailed(reason);
    else this.#leave('aborted by the host');
  };

  #connectTimedOut(): void {
    this.#connectFailed(new ConnectTimeoutError(this.#request.connectTimeoutMs));
  }

  #isReady(): void {
    const waiting = this.#settleReady;
    if (waiting === undefined) return;
    this.#settleReady = undefined;
    this.#request.clock.clearTimeout(this.#connectTimer);
    if (this.#request.history !== undefined) this.#socket.send(JSON.stringify(this.#request.history));
    waiting.resolve();
  }

  #connectFailed(error: unknown): void {
    const waiting = this.#settleReady;
    this.#settleReady = undefined;
    this.#stop('it was never connected');
    this.#queue.drop();
    this.#socket.destroy();
    waiting?.reject(error);
  }
}

/**
 * A reader that keeps up hears of the end before the results that were on their way are given up: a session then knows
 * that they were not refused.
 */
async function afterReader(unread: number): Promise<void> {
  for (let turn = 0; turn < 16 + 4 * unread; turn++) await undefined;
}
