import { afterEach, expect } from 'vitest';
import type { BidiConnectParams, BidiEvent, BidiSession } from '../../../src/contract/provider.js';
import { type OpenAiRealtimeOptions, openaiRealtime } from '../../../src/providers/openai-realtime/index.js';
import {
  type OpenAiFakeSession,
  type OpenAiLoopback,
  type OpenAiLoopbackOptions,
  openaiLoopback,
} from '../../../src/testing/loopback/openai/index.js';

// A driver and the fake of its service, on a socket of this machine. What a test opens is closed after it, and a client that
// sent what no client should fails it.

const open: { close(): Promise<void> }[] = [];
const fakes: OpenAiLoopback[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  for (const fake of fakes.splice(0)) expect(fake.violations, 'what the driver sent').toEqual([]);
});

/** A fake that the test may go against. */
export async function fakeOf(options: OpenAiLoopbackOptions = {}): Promise<OpenAiLoopback> {
  const fake = await openaiLoopback(options);
  open.push(fake);
  fakes.push(fake);
  return fake;
}

/** A session of the driver, what it gives, and the fake's side of it. */
export interface Pair {
  readonly fake: OpenAiLoopback;
  readonly far: OpenAiFakeSession;
  readonly session: BidiSession;
  readonly log: EventLog;
}

export interface PairOptions {
  readonly fake?: OpenAiLoopbackOptions;
  readonly driver?: Partial<OpenAiRealtimeOptions>;
  readonly params?: Partial<BidiConnectParams>;
}

export async function connected({ fake: fakeOptions = {}, driver = {}, params = {} }: PairOptions = {}): Promise<Pair> {
  const fake = await fakeOf(fakeOptions);
  const { dialect } = fakeOptions;
  const provider = openaiRealtime({
    apiKey: key,
    baseUrl: fake.baseUrl,
    ...(dialect === undefined ? {} : { dialect }),
    modalities: dialect === 'xai' ? ['audio'] : ['text'],
    ...driver,
  });
  const session = await provider.connect({ model: 'gpt-realtime', tools: [look], ...params });
  open.push(session);
  return { fake, far: fake.session, session, log: new EventLog(session) };
}

export const key = 'sk-secret-0123456789';

export const look = {
  type: 'function',
  function: { name: 'look', description: 'Looks something up.', parameters: { type: 'object' } },
} as const;

/** What a session gives, read as it comes. */
export class EventLog {
  readonly events: BidiEvent[] = [];
  #ended = false;
  #waiting: (() => void)[] = [];

  constructor(session: BidiSession) {
    void this.#read(session);
  }

  /** Waits until it holds. Fails when the events end first, with what there was. */
  async until(holds: (events: readonly BidiEvent[]) => boolean): Promise<readonly BidiEvent[]> {
    while (!holds(this.events)) {
      if (this.#ended) throw new EventsEnded(this.events);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.events;
  }

  /** Waits for so many events of a type. */
  untilType(type: BidiEvent['type'], count = 1): Promise<readonly BidiEvent[]> {
    return this.until((events) => events.filter((event) => event.type === type).length >= count);
  }

  async untilEnd(): Promise<readonly BidiEvent[]> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.events;
  }

  async #read(session: BidiSession): Promise<void> {
    for await (const event of session.events()) {
      this.events.push(event);
      this.#wake();
    }
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

class EventsEnded extends Error {
  constructor(events: readonly BidiEvent[]) {
    super(`the events ended: ${JSON.stringify(events)}`);
  }
}

/** Waits until the fake has got so many messages of a type from the client. */
export async function arrived(far: OpenAiFakeSession, type: string, count = 1): Promise<void> {
  while (far.of(type).length < count) {
    if (!far.connection.isOpen) throw new RangeError(`the connection is gone: ${type} never came`);
    await turnOfTheLoop();
  }
}

/** Lets what is ready on the sockets happen. */
export function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Waits until everything that the fake has sent was read, a marker comes behind it as an `error` event; and until everything
 * that the driver has sent for it has arrived, a piece of silence comes behind that. The events without markers.
 */
export async function settled({ far, log, session }: Pair): Promise<BidiEvent[]> {
  const message = `marker ${++markers}`;
  far.error({ code: null, message });
  await log.until((events) => events.some((event) => event.type === 'error' && event.message === message));
  const count = far.of('input_audio_buffer.append').length;
  await session.send({ type: 'audio', data: 'AAAAAAAA', mediaType: 'audio/pcm' });
  await arrived(far, 'input_audio_buffer.append', count + 1);
  return log.events.filter((event) => !(event.type === 'error' && event.message.startsWith('marker ')));
}

let markers = 0;

/** The words of the user as text, and nothing else. */
export function say(session: BidiSession, text = 'hello'): Promise<void> {
  return session.send({ type: 'text', text });
}

/** The types of the client's messages after the set-up, without audio. */
export function sent(far: OpenAiFakeSession): string[] {
  return far.received
    .map(({ type }) => String(type))
    .filter((type) => type !== 'session.update' && !type.includes('append'));
}

/** A reply of a script that calls tools of one name, and is then done. */
export function calls(count: number): { calls: { name: string; arguments: string }[] } {
  return { calls: Array.from({ length: count }, (_, n) => ({ name: 'look', arguments: `{"n":${n}}` })) };
}
