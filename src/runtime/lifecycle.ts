import { Observable, Subject } from 'rxjs';
import type { LifecycleEvent } from '../contract/lifecycle.js';
import { GuardedObservable, type OnThrow } from './guarded-observable.js';

/** The source of `lifecycle$`, made when somebody first asks for it. */
export function lifecycleSubject(isEnded: boolean): Subject<LifecycleEvent> {
  const subject = new Subject<LifecycleEvent>();
  if (isEnded) subject.complete();
  return subject;
}

/** What the host sees of it: no `next`, and throws of subscribers are caught. */
export function observed(subject: Subject<LifecycleEvent>, onThrow: OnThrow): Observable<LifecycleEvent> {
  return new GuardedObservable<LifecycleEvent>(onThrow, (subscriber) => subject.subscribe(subscriber));
}
