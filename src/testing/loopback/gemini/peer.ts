import type { Clock } from '../../../contract/clock.js';
import { jsonObject, type LoopbackConnection } from '../server.js';
import { clientMessages } from './client-frames.js';
import type { GeminiFarSide } from './options.js';
import { Replay } from './replay.js';
import { type Setup, takeSetup } from './setup.js';
import { readMessage } from './shape.js';
import { type FunctionResponse, type Line, Talk } from './talk.js';

/** A message of the client, with its keys in camelCase. */
export interface ClientMessage {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks for what it expects
  readonly message: any;
}

/** What the sessions of one server share. */
export interface Shared {
  readonly options: GeminiFarSide;
  readonly clock: Clock;
  /** What clients did that they must not. */
  readonly violations: string[];
  /** What can be resumed, by handle. */
  readonly handles: Map<string, readonly unknown[]>;
}

/** One session of a loopback server, from the service's side. Made for each connection. */
export class GeminiPeer implements Line {
  /** Every message of the client that could be read, in order. */
  readonly received: ClientMessage[] = [];
  /** Every frame that went out, in order. */
  readonly sent: unknown[] = [];
  readonly #shared: Shared;
  #talk: Talk | undefined;
  readonly #replay: Replay | undefined;
  #phase: 'before the set-up' | 'set up' | 'live' = 'before the set-up';
  #seeding = false;
  #contentAllowed = true;
  #manual = false;
  #resumes = false;
  #cutAt: { readonly sent?: number; readonly received?: number; readonly how: 'end' | 'reset' } | undefined;
  readonly #waiting: { readonly kind: string; readonly count: number; resolve(message: ClientMessage): void }[] = [];

  constructor(
    readonly connection: LoopbackConnection,
    shared: Shared,
  ) {
    this.#shared = shared;
    const { binary = true, recording } = shared.options;
    connection.sendBinary(binary);
    this.#replay = recording && new Replay(recording, this, (problem) => this.violation(problem));
  }

  /** Begins to read. */
  begin(): void {
    const { connection } = this;
    connection.onMessage((text) => this.#message(text));
    void connection.closed.then(() => this.#talk?.end());
    this.#replay?.play();
    if (!this.#keyIsGood()) this.close(1007, 'API key not valid. Please pass a valid API key.');
  }

  get clock(): Clock {
    return this.#shared.clock;
  }

  get options(): GeminiFarSide {
    return this.#shared.options;
  }

  /** What was said so far, history included; empty before the set-up. */
  get context(): readonly unknown[] {
    return this.#talk?.context ?? [];
  }

  /** Messages of one kind (`setup`, `clientContent`, `realtimeInput`, `toolResponse`), in order. */
  ofKind(kind: string): readonly ClientMessage['message'][] {
    return this.received.filter((entry) => entry.kind === kind).map(({ message }) => message);
  }

  /** The message of that kind with that number, from 1, when it has come. */
  async message(kind: string, count = 1): Promise<ClientMessage['message']> {
    const known = this.ofKind(kind)[count - 1];
    if (known !== undefined) return known;
    const entry = await new Promise<ClientMessage>((resolve) => this.#waiting.push({ kind, count, resolve }));
    return entry.message;
  }

  // What the far side does of its own.

  /** Cuts the connection right after so many frames went out, or so many messages came. */
  cutAt(at: { readonly sent?: number; readonly received?: number }, how: 'end' | 'reset' = 'end'): void {
    this.#cutAt = { ...at, how };
  }

  /** The user speaks over the model. */
  interrupt(): void {
    this.#talk?.interrupt();
  }

  withdraw(...ids: readonly string[]): void {
    this.#talk?.withdraw(...ids);
  }

  /** The connection will end in so many milliseconds, and then does. */
  goAway(ms: number, code = 1000, reason = ''): void {
    this.send({ goAway: { timeLeft: `${ms / 1000}s` } });
    this.clock.setTimeout(() => this.close(code, reason), ms);
  }

  send(frame: unknown): void {
    const { noise = false, pretty = false } = this.options;
    if (noise) this.connection.sendJson({ serverContent: {} });
    this.connection.send(JSON.stringify(frame, undefined, pretty ? 2 : undefined));
    this.sent.push(frame);
    if (this.#cutAt?.sent === this.sent.length) this.cut();
  }

  /** Closes with a reason, of which a close frame holds 123 bytes. */
  close(code: number, reason = ''): void {
    let shown = reason;
    while (Buffer.byteLength(shown) > 123) shown = shown.slice(0, -1);
    this.connection.close(code, shown);
  }

  cut(): void {
    this.connection.cut(this.#cutAt?.how);
  }

  violation(reason: string, code = 1007): void {
    this.#shared.violations.push(reason);
    this.close(code, reason);
  }

  resumable(yes: boolean): void {
    if (!this.#resumes) return;
    if (!yes) {
      this.send({ sessionResumptionUpdate: { resumable: false } });
      return;
    }
    const newHandle = `handle-${this.#shared.handles.size + 1}`;
    this.#shared.handles.set(newHandle, [...this.context]);
    this.send({ sessionResumptionUpdate: { newHandle, resumable: true } });
  }

  // What the client sends.

  #message(text: string): void {
    if (!this.connection.isOpen) return;
    const frame = jsonObject(text);
    if (typeof frame === 'string') {
      this.violation(`Invalid JSON payload received. ${frame}`);
      return;
    }
    const reading = readMessage(frame, clientMessages, '');
    if ('problem' in reading) {
      this.violation(reading.problem);
      return;
    }
    const kinds = Object.keys(reading.value);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) {
      this.violation(`expected one message, found ${kinds.join(', ') || 'none'}`);
      return;
    }
    const entry: ClientMessage = { kind, message: reading.value[kind] };
    this.received.push(entry);
    if (this.#cutAt?.received === this.received.length) {
      this.cut();
      return;
    }
    if (this.#replay === undefined) this.#take(entry);
    else this.#replay.message(kind);
    const count = this.ofKind(kind).length;
    for (const waiting of [...this.#waiting]) {
      if (waiting.kind !== kind || waiting.count !== count) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(entry);
    }
  }

  #take({ kind, message }: ClientMessage): void {
    if (kind === 'setup') {
      if (this.#phase === 'before the set-up') this.#setUp(message);
      else this.violation('setup: expected as the first message, and once');
      return;
    }
    const talk = this.#talk;
    if (this.#phase !== 'live' || talk === undefined) {
      this.violation(`${kind}: expected after setupComplete`);
      return;
    }
    switch (kind) {
      case 'clientContent':
        this.#content(talk, message);
        break;
      case 'realtimeInput':
        if (this.#seeding) this.violation('realtimeInput: expected after the initial history');
        else this.#input(talk, message);
        break;
      case 'toolResponse':
        talk.answers((message.functionResponses ?? []) as FunctionResponse[]);
        break;
    }
  }

  #setUp(setup: Setup): void {
    const { options, handles } = this.#shared;
    this.#phase = 'set up';
    const taken = takeSetup(setup, options);
    if ('reason' in taken) {
      // A model that is not there is no mistake of a driver, and a bad argument is.
      if (taken.code === 1008) this.close(taken.code, taken.reason);
      else this.violation(taken.reason, taken.code);
      return;
    }
    const { setup: answer = 'complete' } = options;
    if (answer === 'silence') return;
    if (answer !== 'complete') {
      this.close(answer.code, answer.reason);
      return;
    }
    const handle = taken.resumption?.handle;
    const context = handle === undefined ? [] : handles.get(handle);
    if (context === undefined) {
      this.close(1008, 'BidiGenerateContent session not found');
      return;
    }
    this.#resumes = taken.resumption !== undefined;
    this.#talk = new Talk(this, taken, context);
    this.#seeding = taken.seeds;
    this.#contentAllowed = taken.takesContent;
    this.#manual = taken.manualTurns;
    this.#phase = 'live';
    const sessionId = options.service === 'vertex' ? { sessionId: '00000000-0000-0000-0000-000000000000' } : {};
    this.send({ setupComplete: sessionId });
  }

  #content(talk: Talk, { turns = [], turnComplete = false }: { turns?: unknown[]; turnComplete?: boolean }): void {
    if (this.#seeding) {
      talk.seed(turns);
      this.#seeding = !turnComplete;
    } else if (this.#contentAllowed) talk.content(turns, turnComplete);
    else this.violation('Request contains an invalid argument.');
  }

  #input(talk: Talk, input: RealtimeInput): void {
    const { audio, video, text, audioStreamEnd, activityStart, activityEnd, mediaChunks } = input;
    for (const blob of [...(audio ? [audio] : []), ...(mediaChunks ?? [])]) {
      const rate = /^audio\/pcm(?:;\s*rate=(\d+))?$/.exec(blob.mimeType ?? '');
      if (rate === null) {
        this.violation(`realtimeInput.audio.mimeType: expected audio/pcm, found ${blob.mimeType}`);
        return;
      }
      talk.audio(blob.data ?? '', Number(rate[1] ?? 16_000));
    }
    if (video !== undefined && !video.mimeType?.startsWith('image/')) {
      this.violation('realtimeInput.video.mimeType: expected an image');
      return;
    }
    if (text !== undefined) talk.text(text);
    if ((activityStart ?? activityEnd) !== undefined && !this.#manual) {
      this.violation('Explicit activity control is not supported when automatic activity detection is enabled.');
      return;
    }
    if (audioStreamEnd === true) {
      if (this.#manual) this.violation('audioStreamEnd: expected with automatic activity detection only');
      else talk.audioEnd();
    }
    if (activityStart !== undefined) talk.activityStart();
    if (activityEnd !== undefined) talk.activityEnd();
  }

  #keyIsGood(): boolean {
    const { keys } = this.options;
    if (keys === undefined) return true;
    const { query, headers } = this.connection.request;
    const bearer = headers.authorization?.replace(/^Bearer /, '');
    const given = query.get('key') ?? query.get('access_token') ?? headers['x-goog-api-key'] ?? bearer;
    return given !== undefined && keys.includes(given);
  }
}

interface RealtimeInput {
  readonly audio?: Blob;
  readonly video?: Blob;
  readonly text?: string;
  readonly audioStreamEnd?: boolean;
  readonly activityStart?: unknown;
  readonly activityEnd?: unknown;
  readonly mediaChunks?: readonly Blob[];
}

interface Blob {
  readonly data?: string;
  readonly mimeType?: string;
}
