import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { BidiConnectParams, BidiEvent, BidiSession } from '../../../src/contract/provider.js';
import type { LLMToolSchema } from '../../../src/contract/tool.js';
import { type WsConstructor, wsSocket } from '../../../src/contract/web-socket.js';
import { type GeminiLiveOptions, geminiLive } from '../../../src/providers/gemini-live/index.js';
import {
  type GeminiLoopback,
  type GeminiLoopbackOptions,
  type GeminiPeer,
  geminiLoopback,
} from '../../../src/testing/loopback/gemini/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';

export const key = 'AIza-not-a-real-key-0123456789';

export const tool = (name: string): LLMToolSchema => ({
  type: 'function',
  function: { name, description: `does ${name}`, parameters: { type: 'object', properties: {} } },
});

/** Reads a session in the background, and waits for what is to come. */
export class Reading {
  readonly events: BidiEvent[] = [];
  /** Resolves at the end of the stream. */
  readonly done: Promise<void>;
  #waiting: { readonly test: () => boolean; resolve(): void }[] = [];
  #ended = false;

  constructor(session: BidiSession) {
    this.done = this.#read(session);
  }

  /** Waits until so many events of that type have come, and gives the last of them; fails at the end of the stream. */
  async until<Type extends BidiEvent['type']>(type: Type, count = 1): Promise<Extract<BidiEvent, { type: Type }>> {
    const of = () => this.events.filter((event) => event.type === type);
    if (of().length < count && !this.#ended) {
      await new Promise<void>((resolve) => this.#waiting.push({ test: () => of().length >= count, resolve }));
    }
    const found = of()[count - 1];
    if (found === undefined) throw new TypeError(`no ${type} number ${count} in ${JSON.stringify(this.events)}`);
    return found as Extract<BidiEvent, { type: Type }>;
  }

  /** Waits until there are so many events, or the stream has ended. */
  async reaches(count: number): Promise<void> {
    if (this.events.length >= count || this.#ended) return;
    await new Promise<void>((resolve) => this.#waiting.push({ test: () => this.events.length >= count, resolve }));
  }

  /** Waits until such an event has come, or the stream has ended. */
  async meets(test: (event: BidiEvent) => boolean): Promise<void> {
    if (this.events.some(test) || this.#ended) return;
    await new Promise<void>((resolve) => this.#waiting.push({ test: () => this.events.some(test), resolve }));
  }

  async #read(session: BidiSession): Promise<void> {
    for await (const event of session.events()) {
      this.events.push(event);
      this.#wake((waiting) => waiting.test());
    }
    this.#ended = true;
    this.#wake(() => true);
  }

  #wake(ready: (waiting: { readonly test: () => boolean }) => boolean): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter((entry) => !ready(entry));
    for (const entry of waiting) if (!this.#waiting.includes(entry)) entry.resolve();
  }
}

export async function server(options: GeminiLoopbackOptions = {}): Promise<GeminiLoopback> {
  const loopback = await geminiLoopback(options);
  onTestFinished(() => loopback.close());
  return loopback;
}

export interface Live {
  readonly session: BidiSession;
  readonly reading: Reading;
  readonly far: GeminiLoopback;
  readonly peer: GeminiPeer;
  /** The driver's clock. */
  readonly clock: VirtualClock;
}

export interface LiveOptions {
  readonly far?: GeminiLoopbackOptions;
  readonly driver?: Partial<GeminiLiveOptions>;
  readonly connect?: Partial<BidiConnectParams>;
}

/** A driver's options against a loopback server. */
export const against = (far: GeminiLoopback, options: Partial<GeminiLiveOptions> = {}): GeminiLiveOptions => ({
  ...(options.accessToken === undefined ? { apiKey: key } : {}),
  baseUrl: far.url,
  // The same on every Node: it tells why an upgrade was refused. The platform's own has a file of its own.
  webSocket: (url, init) => wsSocket(WebSocket as unknown as WsConstructor, url, init),
  ...options,
});

/** A session against a loopback server, both closed when the test is over. */
export async function live({ far: farOptions, driver, connect }: LiveOptions = {}): Promise<Live> {
  const far = await server(farOptions);
  const clock = new VirtualClock();
  const provider = geminiLive(against(far, { clock, ...driver }));
  const session = await provider.connect({ model: 'gemini-2.5-flash-live', ...connect });
  onTestFinished(async () => {
    const closed = session.close();
    // A far side that does not answer is waited for by the driver's clock.
    await clock.advance(60_000, quiet);
    await closed;
  });
  return { session, reading: new Reading(session), far, peer: far.peer as GeminiPeer, clock };
}

/** Texts joined, audio left out, everything else a word: what a conversation came to. */
export function story(events: readonly BidiEvent[]): string[] {
  const told: string[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') told.push(`“${text}”`);
    text = '';
  };
  for (const event of events) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'text' || event.type === 'audio' || event.type === 'usage') continue;
    flush();
    if (event.type === 'tool_call') told.push(`${event.id} ${event.name}${event.arguments}`);
    else if (event.type === 'tool_call_cancelled') told.push(`withdrawn ${event.ids.join(' ')}`);
    else if (event.type === 'closed') told.push(`closed: ${event.reason}`);
    else if (event.type === 'error') told.push(`error: ${event.message}`);
    else if (event.type === 'expiring') told.push(`expiring in ${event.inMs}`);
    else told.push(event.type);
  }
  flush();
  return told;
}
