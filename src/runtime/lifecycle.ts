import type { Observable } from 'rxjs';
import type { LifecycleEvent } from '../contract/lifecycle.js';
import { GuardedObservable, type OnThrow } from './guarded-observable.js';
import { Multicast } from './multicast.js';

/** A session's `lifecycle$` and its source. */
export class Lifecycle {
  readonly events$: Observable<LifecycleEvent>;
  // what a subscriber's operators throw at its own end is nobody's to be told
  readonly #events = new Multicast<LifecycleEvent>(() => {});

  constructor(onThrow: OnThrow) {
    // the note of a throw comes on `lifecycle$` itself: more than one for a subscriber would never end
    const noteOnce = (): OnThrow => {
      let isNoted = false;
      return (thrown) => {
        if (isNoted) return;
        isNoted = true;
        onThrow(thrown);
      };
    };
    this.events$ = new GuardedObservable(noteOnce, (subscriber) => this.#events.subscribe(subscriber));
  }

  get observed(): boolean {
    return this.#events.observed;
  }

  next(event: LifecycleEvent): void {
    this.#events.next(event);
  }

  complete(): void {
    this.#events.complete();
  }
}
