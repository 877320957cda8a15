import type { Clock } from './clock.js';

/** The wall clock and the platform's timers: what a driver goes by when its host hands in no clock. */
export const platformClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>),
};
