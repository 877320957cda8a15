/**
 * Events on their way to a sink, one at a time, in order.
 *
 * O1. The next event is given when the sink is done with the one before.
 * O2. A sink that throws or rejects is given nothing more.
 * O3. After {@link SinkOutlet.end} nothing is taken in; what waits is still given.
 */
import type { ResponseEvent } from '../../../proto/index.js';
import { attempt, isThenable } from '../attempt.js';
import { Ring } from '../ring.js';

/** Takes the events of a response stream. A promise that it returns is waited for. */
export type ResponseSink = (event: ResponseEvent) => void | Promise<void>;

export class SinkOutlet {
  readonly #sink: ResponseSink;
  readonly #waiting = new Ring<ResponseEvent>();
  readonly #settle: (failure: { readonly error: unknown } | undefined) => void;
  #isGiving = false;
  #hasEnded = false;
  #hasFailed = false;

  /** `settle` is called once: when the last event was taken, or at the failure. */
  constructor(sink: ResponseSink, settle: (failure: { readonly error: unknown } | undefined) => void) {
    this.#sink = sink;
    this.#settle = settle;
  }

  /** How many events wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  push(event: ResponseEvent): void {
    if (this.#hasEnded || this.#hasFailed) return;
    this.#waiting.push(event);
    this.#give();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#give();
  }

  #give(): void {
    if (this.#isGiving || this.#hasFailed) return;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      this.#isGiving = true;
      if (!this.#giveOne(event)) return;
      this.#isGiving = false;
    }
    if (this.#hasEnded) this.#settle(undefined);
  }

  /** Whether the sink is done with it at once. */
  #giveOne(event: ResponseEvent): boolean {
    try {
      const answer: unknown = this.#sink(event);
      if (!isThenable(answer)) return true;
      attempt(
        () => answer,
        () => {
          this.#isGiving = false;
          this.#give();
        },
        (error) => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
    }
    return false;
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    while (this.#waiting.shift() !== undefined);
    this.#settle({ error });
  }
}
