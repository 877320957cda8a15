/** What the tests of the runtime share: a session on a scripted far side, in time that is held in the hand. */

import type { LifecycleEvent } from '../../src/contract/lifecycle.js';
import type { BidiEvent } from '../../src/contract/provider.js';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import { type Session, type SessionOptions, startSession } from '../../src/runtime/index.js';
import {
  type DriverAnswer,
  type DriverCall,
  type ScriptedProvider,
  type ScriptedProviderOptions,
  scriptedProvider,
  VirtualClock,
} from '../../src/testing/index.js';
import { quiet } from '../../src/testing/quiet.js';

/** A call into the driver that was not answered yet, and the means to answer it. */
export type HeldCall = DriverCall & DriverAnswer;

export interface StageOptions extends Partial<Omit<SessionOptions, 'provider' | 'clock'>> {
  /** What the driver has beside the contract. */
  readonly driver?: Pick<ScriptedProviderOptions, 'abandonToolCall' | 'interrupt' | 'played'>;
  /** Calls into the driver that wait for their answer in `held`; all others are answered at once. */
  readonly hold?: readonly DriverCall['method'][];
}

export interface Stage {
  readonly session: Session;
  readonly far: ScriptedProvider;
  readonly clock: VirtualClock;
  /** Every call into the driver, in order. */
  readonly driverCalls: DriverCall[];
  /** Those that wait for an answer, oldest first. */
  readonly held: HeldCall[];
  /** What `lifecycle$` gave. */
  readonly lifecycle: LifecycleEvent[];
  /** Emits these and runs until nothing more can happen by itself. */
  emit(...events: BidiEvent[]): Promise<void>;
}

/** Starts a session; its connection is made when this resolves. */
export async function stage(options: StageOptions = {}): Promise<Stage> {
  const { driver = {}, hold = [], ...sessionOptions } = options;
  const clock = new VirtualClock();
  const driverCalls: DriverCall[] = [];
  const held: HeldCall[] = [];
  const far = scriptedProvider({
    ...driver,
    onCall(call, answer) {
      driverCalls.push(call);
      if (hold.includes(call.method)) held.push({ ...call, ...answer });
      else answer.resolve();
    },
  });
  const session = await startSession({ connect: { model: 'scripted' }, ...sessionOptions, provider: far, clock });
  const lifecycle: LifecycleEvent[] = [];
  session.lifecycle$.subscribe((event) => {
    lifecycle.push(event);
  });
  return {
    session,
    far,
    clock,
    driverCalls,
    held,
    lifecycle,
    async emit(...events) {
      for (const event of events) far.emit(event);
      await quiet();
    },
  };
}

/** Reads `session.events()` to its end, in the background. */
export function readAll(session: Session): { readonly seen: BidiTurnEvent[]; readonly ended: Promise<void> } {
  const seen: BidiTurnEvent[] = [];
  const read = async () => {
    for await (const event of session.events()) seen.push(event);
  };
  return { seen, ended: read() };
}

/** A `tool_call` of the far side. */
export function toolCall(id: string, name: string, args: unknown = {}): BidiEvent {
  return { type: 'tool_call', id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

/** A promise that is settled from outside: a tool, a validator or a driver that takes its time. */
export interface Held<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

export function held<Value = unknown>(): Held<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((settle, refuse) => {
    resolve = settle;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

/** How a promise ended, without a throw. */
export function outcomeOf<Value>(promise: Promise<Value>): Promise<{ value: Value } | { error: unknown }> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** Whether a promise is settled once all that was ready has run. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await quiet();
  return settled;
}

/** Whatever reached the process: uncaught exceptions and unhandled rejections, from now until `stop`. */
export function watchProcess(): { readonly harm: unknown[]; stop(): Promise<readonly unknown[]> } {
  const harm: unknown[] = [];
  const note = (error: unknown) => {
    harm.push(error);
  };
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  return {
    harm,
    async stop() {
      await quiet();
      // a throw that a library puts off with a timer comes before a timer that is set after it
      await new Promise((resolve) => setTimeout(resolve, 1));
      await quiet();
      process.off('uncaughtException', note);
      process.off('unhandledRejection', note);
      return harm;
    },
  };
}

export { quiet };
