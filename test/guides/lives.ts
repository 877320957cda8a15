/** Far sides of many sessions, each with a script of its own that a seed decides, and tools that do what tools do. */
import { defineTool, type SupervisedSessionOptions } from '../../src/index.js';
import { type ScriptedProvider, scriptedProvider } from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';
import type { Random } from '../crash/random.js';

/** What a far side is scripted to be. */
export type Kind =
  /** Says its piece, and closes. */
  | 'closes'
  /** Its stream throws now and then, and a connect of a restart with it; a client ends it. */
  | 'breaks'
  /** Its stream ends without a word. */
  | 'ends'
  /** The host aborts it. */
  | 'aborted'
  /** A client ends it. */
  | 'deleted'
  /** Lives on until the host stops. */
  | 'lives'
  /** As `lives`, and is still busy with a result then: it is cut off at the deadline. */
  | 'busy'
  /** Cannot be connected to. */
  | 'away';

const told = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

const tools = [
  defineTool({ name: 'answers', description: '', input: {}, execute: () => 'so it is' }),
  defineTool({ name: 'takes_a_turn', description: '', input: {}, execute: () => quiet().then(() => 'in the end') }),
  defineTool({
    name: 'throws',
    description: '',
    input: {},
    execute: () => {
      throw new TypeError('no such thing');
    },
  }),
  defineTool({
    name: 'waits',
    description: '',
    input: {},
    onInterruption: 'cancel',
    execute: (_, { signal }) => told(signal),
  }),
  defineTool({ name: 'hangs', description: '', input: {}, execute: () => new Promise<never>(() => {}) }),
  defineTool({
    name: 'delivers',
    description: '',
    input: {},
    onInterruption: 'deliver',
    execute: () => quiet().then(() => 'late'),
  }),
];

export class Life {
  readonly kind: Kind;
  readonly abort = new AbortController();
  /** All that the far side said while somebody was to hear it. */
  said = '';
  /** Whether the script is done. */
  isDone = false;
  readonly #random: Random;
  #far: ScriptedProvider | undefined;
  #connected: (() => void) | undefined;

  constructor(kind: Kind, random: Random) {
    this.kind = kind;
    this.#random = random;
  }

  /** What the host starts its session with. */
  options(): Omit<SupervisedSessionOptions, 'id' | 'prepare'> {
    return {
      provider: ({ attempt }) => this.#farSide(attempt),
      connect: { model: 'm' },
      tools,
      signal: this.abort.signal,
      closeTimeoutMs: 50,
      restart: { type: this.kind === 'breaks' ? 'transient' : 'temporary', intensity: 100, backoff: () => 0 },
    };
  }

  /** Says so many things, one after another, and then what its kind comes to. */
  async play(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#say(step);
      // an event is on its way to the clients for a turn or two
      for (let turns = this.#random.below(5); turns > 0; turns--) await quiet();
      if (this.kind === 'breaks' && step % 8 === 7) await this.#break();
    }
    // so that what was said is heard before an end of our own throws it away
    await quiet();
    const far = this.#far as ScriptedProvider;
    if (this.kind === 'closes') far.emit({ type: 'closed' });
    else if (this.kind === 'ends') far.end();
    else if (this.kind === 'aborted') this.abort.abort(new TypeError('enough'));
    else if (this.kind === 'busy') {
      far.emit({ type: 'tool_call', id: 'last', name: 'answers', arguments: '{}' });
      await quiet();
      await quiet();
    }
    this.isDone = true;
  }

  #say(step: number): void {
    const far = this.#far as ScriptedProvider;
    const random = this.#random;
    const dice = random.next();
    if (dice < 0.5) {
      const text = `${step} ${'word '.repeat(random.below(8))}`;
      this.said += text;
      far.emit({ type: 'text', text });
    } else if (dice < 0.7)
      far.emit({ type: 'tool_call', id: `c${step}`, name: random.one(tools).name, arguments: '{}' });
    else if (dice < 0.8) far.emit({ type: 'turn_complete' });
    else if (dice < 0.87) far.emit({ type: 'interrupted' });
    else if (dice < 0.95) far.emit({ type: 'input_text', text: 'and I say ', final: random.chance(0.5) });
    else far.emit({ type: 'usage', inputTokens: 3, outputTokens: 4 });
  }

  /** The stream throws; gives the word back when somebody is there to hear again. */
  async #break(): Promise<void> {
    const again = new Promise<void>((resolve) => {
      this.#connected = resolve;
    });
    this.#far?.fail(new TypeError('the line is dead'));
    await again;
  }

  #farSide(attempt: number): ScriptedProvider {
    const far = scriptedProvider({
      interrupt: true,
      abandonToolCall: this.#random.chance(0.5),
      onCall: (call, answer) => {
        if (call.method === 'connect') {
          if (this.kind === 'away' || attempt % 2 === 1) answer.reject(new TypeError('nobody is there'));
          else {
            answer.resolve();
            this.#far = far;
            this.#connected?.();
          }
        } else if (call.method === 'sendToolResult' && call.id === 'last') {
          // it is never taken
        } else if (call.method === 'close' && this.kind === 'busy') {
          // it never closes
        } else answer.resolve();
        if (call.method === 'interrupt') far.emit({ type: 'interrupted' });
      },
    });
    return far;
  }
}
