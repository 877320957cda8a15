import type { Clock } from '../../contract/clock.js';
import { ResultRefusedError, ResultUnknownError } from '../../contract/errors.js';
import { Recent } from '../../contract/recent.js';

/** A call that the service asked for. */
export interface LiveCall {
  readonly id: string;
  readonly name: string;
  /** Whether the wire gave the id. One of ours is left off the answer. */
  readonly onWire: boolean;
  /** Whether the model waits for the answer. */
  readonly blocking: boolean;
}

type CallState = 'open' | 'answered' | 'abandoned' | 'withdrawn';

interface Entry extends LiveCall {
  state: CallState;
}

/** A result that was written and is not yet taken for accepted. */
interface Pending {
  readonly call: LiveCall;
  /** What the service says still belongs to the turn that the result was written for. */
  current: boolean;
  readonly writtenAt: number;
  timer: unknown;
  resolve(): void;
  reject(error: Error): void;
}

/** How long a {@link Calls} waits, in milliseconds. */
export interface CallTimes {
  readonly quietMs: number;
  readonly writeTimeoutMs: number;
}

/**
 * The calls of a connection, and what became of their results. The wire
 * acknowledges nothing, so a result is taken for accepted on evidence:
 *
 * - R1 of a call that the model waited for: it goes on (it says something, calls again, or the service gives a handle),
 *   and no interruption came between
 * - R2 of any call: it stood unrefused for `quietMs` after it was written, the socket was open and nothing waited to be written
 * - R3 it is rejected if the call is withdrawn first, if the connection ends first, or if it could not be written in time
 * - R4 a call is answered once: a second result, one of a withdrawn, an abandoned or an unknown call is refused, and nothing is written
 */
export class Calls {
  readonly #calls = new Recent<Entry>(65_536);
  readonly #pending = new Map<string, Pending>();

  constructor(
    readonly clock: Clock,
    readonly times: CallTimes,
    /** Bytes that were sent and have not left yet. */
    readonly unsent: () => number,
  ) {}

  asked(call: LiveCall): void {
    this.#calls.set(call.id, { ...call, state: 'open' });
  }

  /**
   * The call to answer, which is answered from here on (R4).
   * @throws {ResultRefusedError} when it is not to be answered.
   */
  answer(id: string): LiveCall {
    const call = this.#calls.get(id);
    if (call === undefined) throw new ResultRefusedError(id, 'this connection knows no such call; nothing was sent');
    if (call.state !== 'open') throw new ResultRefusedError(id, `the call was ${call.state} before; nothing was sent`);
    call.state = 'answered';
    return call;
  }

  /** The call that a stub is to be sent for, or `undefined` where none is needed: it is not open, or the model does not wait for it. */
  abandon(id: string): LiveCall | undefined {
    const call = this.#calls.get(id);
    if (call?.state !== 'open') return undefined;
    call.state = 'abandoned';
    return call.blocking ? call : undefined;
  }

  /** Its result was written: resolves or rejects by R1–R3. */
  written(call: LiveCall): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry: Pending = { call, current: true, writtenAt: this.clock.now(), timer: undefined, resolve, reject };
      this.#pending.set(call.id, entry);
      this.#watch(entry);
    });
  }

  withdrawn(id: string): void {
    const call = this.#calls.get(id);
    if (call !== undefined) call.state = 'withdrawn';
    this.#settle(id, new ResultRefusedError(id, 'the far side withdrew the call while its result was on the way'));
  }

  /** The model says or asks something, or its state became resumable. */
  goesOn(): void {
    for (const { call, current } of this.#pending.values()) if (call.blocking && current) this.#settle(call.id);
  }

  /** What comes from now on belongs to another turn. */
  interrupted(): void {
    for (const pending of this.#pending.values()) pending.current = false;
  }

  /** The connection is over: nothing is watched any more. Gives what rejects the results of which nothing will ever tell (R3). */
  end(reason: string): () => void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { timer } of pending) this.clock.clearTimeout(timer);
    return () => {
      for (const { call, reject } of pending) {
        reject(new ResultUnknownError(call.id, `the connection ended before anything showed it: ${reason}`));
      }
    };
  }

  #watch(pending: Pending): void {
    pending.timer = this.clock.setTimeout(() => {
      const { id } = pending.call;
      if (this.unsent() === 0) this.#settle(id);
      else if (this.clock.now() - pending.writtenAt < this.times.writeTimeoutMs) this.#watch(pending);
      else this.#settle(id, new ResultUnknownError(id, 'the connection takes nothing more'));
    }, this.times.quietMs);
  }

  #settle(id: string, error?: Error): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    this.clock.clearTimeout(pending.timer);
    if (error === undefined) pending.resolve();
    else pending.reject(error);
  }
}
