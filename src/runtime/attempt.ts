/**
 * Calls code that is not ours (a driver, a tool, a validator) and tells how it
 * ended, exactly once. A synchronous throw counts as a rejection. `resolved` or
 * `rejected` may be called before this returns; the caller takes it as an
 * answer for later.
 */
export function attempt(
  call: () => unknown,
  resolved: (value: unknown) => void,
  rejected: (error: unknown) => void,
): void {
  let answer: unknown;
  let isPending: boolean;
  try {
    answer = call();
    isPending = isThenable(answer);
  } catch (thrown) {
    rejected(thrown);
    return;
  }
  if (isPending) adopted(answer).then(resolved, rejected);
  else resolved(answer);
}

/**
 * A promise that settles once, as `answer` does, whatever code stands behind
 * it: thenables may throw and may settle as often as they like, and so may a
 * promise of the platform whose `then` was replaced. Never throws.
 */
export function adopted<Value>(answer: Value | PromiseLike<Value>): Promise<Value> {
  try {
    const isPlain =
      answer instanceof Promise && answer.constructor === Promise && answer.then === Promise.prototype.then;
    if (isPlain) return answer;
  } catch {
    // a promise that throws when it is looked at is adopted like any thenable: it rejects
  }
  return new Promise((resolve) => resolve(answer));
}

/** Whether a value says that it is a promise. Throws where it cannot be asked. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
