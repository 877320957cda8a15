/**
 * Hears the abort of signals that hosts share among any number of sessions: on
 * each signal there is one listener of ours, where the platform warns of a leak
 * at the eleventh.
 */

const listening = new WeakMap<AbortSignal, { readonly listeners: Set<() => void>; readonly onAbort: () => void }>();

/** `listener` is called once, when `signal` aborts, after those that were added before it. It does not throw. */
export function addAbortListener(signal: AbortSignal, listener: () => void): void {
  const known = listening.get(signal);
  if (known !== undefined) {
    known.listeners.add(listener);
    return;
  }
  const listeners = new Set([listener]);
  const onAbort = () => {
    for (const one of listeners) one();
    listening.delete(signal);
  };
  listening.set(signal, { listeners, onAbort });
  signal.addEventListener('abort', onAbort, { once: true });
}

export function removeAbortListener(signal: AbortSignal, listener: () => void): void {
  const known = listening.get(signal);
  if (known === undefined) return;
  known.listeners.delete(listener);
  if (known.listeners.size > 0) return;
  listening.delete(signal);
  signal.removeEventListener('abort', known.onAbort);
}
