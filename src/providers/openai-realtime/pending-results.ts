import type { Clock } from '../../contract/clock.js';
import { ResultRefusedError, ResultUnknownError } from '../../contract/errors.js';

/** A result that was written and that the service has not answered yet. */
interface PendingResult {
  readonly callId: string;
  readonly itemId: string;
  readonly timer: unknown;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Results on their way. The service takes one by making it an item of the conversation, and refuses it by an error that
 * names our message, or the call.
 *
 * - A1 every result that was added is settled once: by what answers it, by time, or by the end
 * - A2 nothing is pending after {@link end}
 */
export class PendingResults {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** By the id of the message. */
  readonly #pending = new Map<string, PendingResult>();

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#pending.size;
  }

  add(eventId: string, itemId: string, callId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(() => {
        this.#pending.delete(eventId);
        reject(new ResultUnknownError(callId, `no answer within ${this.#timeoutMs} ms`));
      }, this.#timeoutMs);
      this.#pending.set(eventId, { callId, itemId, timer, resolve, reject });
    });
  }

  /** An item is part of the conversation now: our id of it, if it is a result. A service that gives our items ids of its own still names the call. */
  acknowledge(itemId: string | undefined, callId: string | undefined): string | undefined {
    const eventId =
      this.#find((result) => result.itemId === itemId) ?? this.#find((result) => result.callId === callId);
    const result = this.#take(eventId);
    result?.resolve();
    return result?.itemId;
  }

  /** An error answers our message, or names a call: the item whose result it refuses, if it does. */
  refuse(eventId: string | undefined, callId: string | undefined, message: string): string | undefined {
    const found =
      eventId !== undefined && this.#pending.has(eventId)
        ? eventId
        : callId === undefined
          ? undefined
          : this.#find((result) => result.callId === callId);
    const result = this.#take(found);
    result?.reject(new ResultRefusedError(result.callId, message));
    return result?.itemId;
  }

  /** The connection has ended. */
  end(why: string): void {
    for (const eventId of [...this.#pending.keys()]) {
      const result = this.#take(eventId);
      result?.reject(new ResultUnknownError(result.callId, why));
    }
  }

  #find(is: (result: PendingResult) => boolean): string | undefined {
    for (const [eventId, result] of this.#pending) if (is(result)) return eventId;
    return undefined;
  }

  #take(eventId: string | undefined): PendingResult | undefined {
    if (eventId === undefined) return undefined;
    const result = this.#pending.get(eventId);
    if (result === undefined) return undefined;
    this.#pending.delete(eventId);
    this.#clock.clearTimeout(result.timer);
    return result;
  }
}
