/**
 * Calls code that is not ours (a driver, a tool, a validator) and tells how it
 * ended, exactly once. A synchronous throw counts as a rejection. `settled` may
 * be called before this returns; the caller takes it as an answer for later.
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
  if (isPending) Promise.resolve(answer).then(resolved, rejected);
  else resolved(answer);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
