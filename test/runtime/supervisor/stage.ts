/** What the tests of the supervisor share: a far side that takes one connection after another, in time that is held in the hand. */
import type { LifecycleEvent } from '../../../src/contract/lifecycle.js';
import type { BidiConnectParams, BidiEvent, BidiProvider, BidiSession } from '../../../src/contract/provider.js';
import type { BidiTurnEvent } from '../../../src/contract/turn-event.js';
import {
  createSupervisor,
  type SupervisedSession,
  type SupervisedSessionOptions,
  type Supervisor,
  type SupervisorOptions,
} from '../../../src/runtime/index.js';
import { type ScriptedProvider, scriptedProvider, VirtualClock } from '../../../src/testing/index.js';
import { type HeldCall, quiet } from '../stage.js';

/** One connection to the far side. */
export interface Line {
  readonly params: BidiConnectParams;
  readonly far: ScriptedProvider;
  /** Calls into the driver, by name, in order. */
  readonly calls: string[];
  readonly held: HeldCall[];
}

export interface FarSideOptions {
  /** Calls that wait for their answer in `held`; all others are answered at once. */
  readonly hold?: readonly HeldCall['method'][];
  /** What `resumption` gives on the line of that number, from 1. */
  readonly handle?: (line: number) => unknown;
  /** What the connect of that number, from 1, is refused with. */
  readonly refuse?: (line: number) => unknown;
}

/** A far side that can be reached more than once. */
export class FarSide implements BidiProvider {
  readonly id = 'scripted';
  readonly lines: Line[] = [];
  /** Every call into any line, with the line's number, in order. */
  readonly log: string[] = [];
  readonly #options: FarSideOptions;

  constructor(options: FarSideOptions = {}) {
    this.#options = options;
  }

  async connect(params: BidiConnectParams): Promise<BidiSession> {
    const { hold = [], handle, refuse } = this.#options;
    const number = this.lines.length + 1;
    const calls: string[] = [];
    const held: HeldCall[] = [];
    const far = scriptedProvider({
      onCall: (call, answer) => {
        calls.push(call.method);
        this.log.push(`${number} ${call.method}`);
        if (hold.includes(call.method)) held.push({ ...call, ...answer });
        else answer.resolve();
      },
    });
    this.lines.push({ params, far, calls, held });
    const refusal = refuse?.(number);
    if (refusal !== undefined) throw refusal;
    const session = await far.connect(params);
    return handle === undefined ? session : { ...session, resumption: () => handle(number) };
  }

  /** The line that was opened last. */
  get last(): Line {
    return this.lines.at(-1) as Line;
  }
}

export interface Stage {
  readonly supervisor: Supervisor;
  readonly clock: VirtualClock;
  /** Starts a session on a far side; without a backoff, unless it says another. */
  start(far: BidiProvider, options?: Partial<Omit<SupervisedSessionOptions, 'provider'>>): Promise<SupervisedSession>;
  /** Lets time go by. */
  pass(ms: number): Promise<void>;
}

export function stage(options: Omit<SupervisorOptions, 'clock'> = {}): Stage {
  const clock = new VirtualClock();
  const supervisor = createSupervisor({ ...options, clock });
  return {
    supervisor,
    clock,
    start: (provider, { restart, ...rest } = {}) =>
      supervisor.startSession({
        connect: { model: 'scripted' },
        ...rest,
        ...(restart === undefined ? {} : { restart: { backoff: () => 100, ...restart } }),
        provider,
      }),
    async pass(ms) {
      // what is on its way happens first
      await quiet();
      await clock.advance(ms, quiet);
      await quiet();
    },
  };
}

/** Reads `events()` to its end, and `lifecycle$`, in the background. */
export function watch(session: SupervisedSession): {
  readonly seen: BidiTurnEvent[];
  readonly notes: LifecycleEvent[];
  /** Both, as words, in the order in which they came. */
  readonly words: string[];
  readonly ended: Promise<void>;
} {
  const seen: BidiTurnEvent[] = [];
  const notes: LifecycleEvent[] = [];
  const words: string[] = [];
  session.lifecycle$.subscribe((event) => {
    notes.push(event);
    words.push(event.type === 'call' ? `${event.id} ${event.to}` : event.type);
  });
  const read = async () => {
    for await (const event of session.events()) {
      seen.push(event);
      words.push(event.type === 'text' ? event.text : event.type);
    }
  };
  return { seen, notes, words, ended: read() };
}

export const text = (said: string): BidiEvent => ({ type: 'text', text: said });
