import type { Observable } from 'rxjs';
import type { LifecycleEvent } from '../contract/lifecycle.js';
import { GuardedObservable, type OnThrow } from './guarded-observable.js';
import type { Multicast } from './multicast.js';

/**
 * What the host sees of the session's `lifecycle$`. A subscriber that throws is
 * noted once: the note comes on `lifecycle$`, so one for each throw would never
 * end.
 */
export function observed(events: Multicast<LifecycleEvent>, onThrow: OnThrow): Observable<LifecycleEvent> {
  let isNoted = false;
  const noteOnce = (thrown: unknown) => {
    if (isNoted) return;
    isNoted = true;
    onThrow(thrown);
  };
  return new GuardedObservable<LifecycleEvent>(noteOnce, (subscriber) => events.subscribe(subscriber));
}
