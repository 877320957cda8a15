import type { Subscriber, TeardownLogic } from 'rxjs';
import type { OnThrow } from './guarded-observable.js';

/**
 * One stream of values for any number of subscribers, hot. What a subscriber or
 * its operators throw, at the end too, is told to `onThrow` and reaches no
 * other subscriber, where a plain RxJS subject stops at the first throw. Whoever
 * subscribes while a value is given out gets the next one.
 */
export class Multicast<Value> {
  readonly #onThrow: OnThrow;
  #subscribers: readonly Subscriber<Value>[] = nobody;
  #isComplete = false;

  constructor(onThrow: OnThrow) {
    this.#onThrow = onThrow;
  }

  get observed(): boolean {
    return this.#subscribers.length > 0;
  }

  next(value: Value): void {
    for (const subscriber of this.#subscribers) this.#guard(() => subscriber.next(value));
  }

  /** Nothing comes any more, for those that subscribe from now on neither. */
  complete(): void {
    const subscribers = this.#subscribers;
    this.#isComplete = true;
    this.#subscribers = nobody;
    for (const subscriber of subscribers) this.#guard(() => subscriber.complete());
  }

  /** What an observable's constructor takes. */
  subscribe(subscriber: Subscriber<Value>): TeardownLogic {
    if (this.#isComplete) {
      subscriber.complete();
      return undefined;
    }
    this.#subscribers = [...this.#subscribers, subscriber];
    return () => {
      this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
    };
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (thrown) {
      this.#onThrow(thrown);
    }
  }
}

const nobody: readonly never[] = [];
