/**
 * Where time comes from. A host hands in its own to hold the time in its hand;
 * the default reads the wall clock and the platform's timers.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once, not before `ms` milliseconds from now and never inside this call. Gives a handle for {@link clearTimeout}. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Takes a timer back. A handle that is spent or unknown is ignored. */
  clearTimeout(handle: unknown): void;
}
