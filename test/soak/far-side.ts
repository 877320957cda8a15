/** A far side that does whatever its seed says: what a service does, what none should, and what goes wrong on the way. */
import type {
  BidiConnectParams,
  BidiEvent,
  BidiInput,
  BidiProvider,
  BidiSession,
} from '../../src/contract/provider.js';
import type { Random } from '../crash/random.js';

/** What drivers are blamed with. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Timers of the test itself, so that nothing of it is taken for the library's. */
export function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How a call into a driver goes: mostly well, at once or soon; else as badly as it can. */
function answer(random: Random, trouble: number): Promise<void> {
  if (!random.chance(trouble)) return random.chance(0.7) ? Promise.resolve() : later(random.below(8));
  switch (random.below(4)) {
    case 0:
      throw new Fault('the driver throws');
    case 1:
      return Promise.reject(new Fault('the driver refuses'));
    case 2:
      return later(random.below(10)).then(() => Promise.reject(new Fault('the driver refuses after a while')));
    default:
      // one for each call: what waits for it is to go with it
      return new Promise(() => {});
  }
}

const words = ['well', ' ', 'let me see', ', ', 'one moment', '. ', 'so', '\u{1f600}'];

/** Makes events, most of them legal. */
class Script {
  readonly #random: Random;
  readonly #tools: readonly string[];
  readonly #ids: string[] = [];

  constructor(random: Random, tools: readonly string[]) {
    this.#random = random;
    this.#tools = tools;
  }

  next(): unknown {
    const random = this.#random;
    const die = random.below(1000);
    if (die < 300) return { type: 'text', text: random.one(words) };
    if (die < 400) return { type: 'audio', data: 'AAAAAAAA', mediaType: 'audio/pcm' };
    if (die < 680) return this.#call();
    if (die < 780) return { type: 'turn_complete' };
    if (die < 850) return { type: 'interrupted' };
    if (die < 890) return { type: 'tool_call_cancelled', ids: this.#some() };
    if (die < 920) return { type: 'usage', inputTokens: random.below(100), outputTokens: random.below(100) };
    if (die < 940) return { type: 'input_text', text: random.one(words), final: random.chance(0.5) };
    if (die < 950) return { type: 'expiring', inMs: 1000 };
    if (die < 965) return { type: 'error', message: 'slow down' };
    if (die < 975) return { type: 'weather', is: 'fine' };
    if (die < 980) return { type: 'usage', inputTokens: 'many' };
    if (die < 984) return { type: 'text' };
    if (die < 988) return this.#ids.length > 0 ? this.#callOf(random.one(this.#ids)) : null;
    if (die < 994) return { type: 'closed', reason: 'time is up' };
    return undefined;
  }

  #call(): BidiEvent {
    const id = `c${this.#ids.length}`;
    this.#ids.push(id);
    return this.#callOf(id);
  }

  #callOf(id: string): BidiEvent {
    const random = this.#random;
    const name = random.chance(0.03) ? 'nobody' : random.one(this.#tools);
    const args = random.chance(0.05) ? '{' : random.chance(0.05) ? '{"n":"x"}' : `{"n":${random.below(100)}}`;
    return { type: 'tool_call', id, name, arguments: args };
  }

  #some(): string[] {
    const random = this.#random;
    return this.#ids.filter(() => random.chance(0.3)).concat(random.chance(0.2) ? ['nobody'] : []);
  }
}

/** Ends the stream when the session is closed, whoever waits. */
function until(closed: Promise<void>, ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : Promise.race([later(ms), closed]);
}

async function* eventsOf(random: Random, script: Script, closed: Promise<void>, isClosed: () => boolean) {
  const length = 5 + random.below(120);
  for (let count = 0; count < length && !isClosed(); count++) {
    // bursts, with pauses between them
    if (random.chance(0.25)) await until(closed, random.below(6));
    if (isClosed()) return;
    const event = script.next();
    if (event === undefined) {
      if (random.chance(0.5)) return;
      throw new Fault('the line is cut');
    }
    yield event as BidiEvent;
    if ((event as { type?: unknown } | null)?.type === 'closed') return;
  }
  // most wait for the host to end it
  if (random.chance(0.7)) await closed;
}

class SoakSession implements BidiSession {
  readonly #random: Random;
  readonly #script: Script;
  readonly #trouble: number;
  #isClosed = false;
  #close: () => void = () => {};
  readonly #closed: Promise<void>;
  abandonToolCall?: (id: string) => Promise<void>;
  interrupt?: () => Promise<void>;
  played?: () => Promise<void>;
  resumption?: () => unknown;

  constructor(random: Random, tools: readonly string[], trouble: number) {
    this.#random = random;
    this.#script = new Script(random, tools);
    this.#trouble = trouble;
    this.#closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    if (random.chance(0.5)) this.abandonToolCall = () => answer(random, trouble);
    if (random.chance(0.7)) this.interrupt = () => answer(random, trouble);
    if (random.chance(0.7)) this.played = () => answer(random, trouble);
    if (random.chance(0.5)) {
      this.resumption = () => {
        if (random.chance(trouble)) throw new Fault('no handle');
        return { handle: random.below(1000) };
      };
    }
  }

  send(_input: BidiInput): Promise<void> {
    return answer(this.#random, this.#trouble);
  }

  sendToolResult(_id: string, _output: string): Promise<void> {
    return answer(this.#random, this.#trouble);
  }

  events(): AsyncIterable<BidiEvent> {
    if (this.#random.chance(this.#trouble / 4)) throw new Fault('there are no events');
    return eventsOf(this.#random, this.#script, this.#closed, () => this.#isClosed);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#close();
    return answer(this.#random, this.#trouble);
  }
}

/** A driver of such a far side. `trouble`: the share of calls into it that go wrong. */
export function soakProvider(random: Random, tools: readonly string[], trouble: number): BidiProvider {
  return {
    id: 'soak',
    connect(_params: BidiConnectParams): Promise<BidiSession> {
      const session = () => new SoakSession(random, tools, trouble);
      const ready = answer(random, trouble);
      return ready.then(session);
    },
  };
}
