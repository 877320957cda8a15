import { Observable, type Observer, type Subscriber, type TeardownLogic, type Operator, type Subscription } from 'rxjs';

/** Is told what a host callback threw. */
export type OnThrow = (thrown: unknown) => void;

/**
 * An observable whose subscribers cannot harm anybody: what a handler throws
 * goes to `onThrow`, where plain RxJS would throw it again on a bare stack and
 * end the process. Holds for whatever operators are piped behind it, too.
 */
export class GuardedObservable<Value> extends Observable<Value> {
  readonly #onThrow: OnThrow;

  constructor(onThrow: OnThrow, subscribe?: (subscriber: Subscriber<Value>) => TeardownLogic) {
    super(subscribe);
    this.#onThrow = onThrow;
  }

  override lift<Out>(operator?: Operator<Value, Out>): Observable<Out> {
    const lifted = new GuardedObservable<Out>(this.#onThrow);
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
    if (isSubscriber(first)) return super.subscribe(first as Observer<Value>);
    const observer: Partial<Observer<Value>> =
      typeof first === 'function' || first === null || first === undefined
        ? { ...(first ? { next: first } : {}), ...(error ? { error } : {}), ...(complete ? { complete } : {}) }
        : first;
    const guard = <Argument>(call: (argument: Argument) => void) => {
      return (argument: Argument) => {
        try {
          call(argument);
        } catch (thrown) {
          this.#onThrow(thrown);
        }
      };
    };
    return super.subscribe({
      next: guard((value: Value) => observer.next?.(value)),
      error: guard((failure: unknown) => {
        // what an operator of the host threw, where the host wants no errors
        if (observer.error === undefined) this.#onThrow(failure);
        else observer.error(failure);
      }),
      complete: guard(() => observer.complete?.()),
    });
  }
}

function isSubscriber(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'isStopped' in value && 'add' in value;
}
