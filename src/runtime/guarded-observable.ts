import { Observable, type Observer, type Operator, type Subscriber, type Subscription, type TeardownLogic } from 'rxjs';
import { attempt } from './attempt.js';

/** Is told what a host callback threw. */
export type OnThrow = (thrown: unknown) => void;

/**
 * An observable whose subscribers cannot harm anybody: what a handler throws
 * goes to the `OnThrow` of its subscription, where plain RxJS would throw it
 * again on a bare stack and end the process. Holds for whatever operators are
 * piped behind it, too.
 */
export class GuardedObservable<Value> extends Observable<Value> {
  readonly #watch: () => OnThrow;

  /** `watch` is asked once for each subscription. */
  constructor(watch: () => OnThrow, subscribe?: (subscriber: Subscriber<Value>) => TeardownLogic) {
    super(subscribe);
    this.#watch = watch;
  }

  override lift<Out>(operator?: Operator<Value, Out>): Observable<Out> {
    const lifted = new GuardedObservable<Out>(this.#watch);
    lifted.source = this as unknown as Observable<Value>;
    if (operator !== undefined) lifted.operator = operator as Operator<unknown, Out>;
    return lifted;
  }

  override subscribe(observer?: Partial<Observer<Value>> | ((value: Value) => void)): Subscription;
  override subscribe(
    next?: ((value: Value) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription;
  override subscribe(
    first?: Partial<Observer<Value>> | ((value: Value) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // an operator's own subscriber handles its errors and passes them on
    if (isSubscriber(first)) return super.subscribe(first as unknown as Observer<Value>);
    const observer: Handlers<Value> =
      typeof first === 'object' && first !== null
        ? (first as Handlers<Value>)
        : { next: first ?? undefined, error: error ?? undefined, complete: complete ?? undefined };
    const onThrow = this.#watch();
    // an asynchronous handler's rejection is a throw as well
    const guard = (call: () => unknown) => attempt(call, () => {}, onThrow);
    return super.subscribe({
      next: (value) => guard(() => observer.next?.(value)),
      // what an operator of the host threw, where the host wants no errors, is noted
      error: (failure) => guard(() => (observer.error === undefined ? onThrow(failure) : observer.error(failure))),
      complete: () => guard(() => observer.complete?.()),
    });
  }
}

interface Handlers<Value> {
  readonly next?: ((value: Value) => void) | undefined;
  readonly error?: ((error: unknown) => void) | undefined;
  readonly complete?: (() => void) | undefined;
}

function isSubscriber(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'isStopped' in value && 'add' in value;
}
