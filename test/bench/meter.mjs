/**
 * What one case measured in one process.
 * @typedef {object} Sample
 * @property {number} value In `unit`.
 * @property {'/CPU-s' | '/s' | 'B' | 'ms' | '×'} unit Operations for each second of CPU time, or of time where a disk is waited for; bytes; milliseconds that somebody waited; or a ratio of two rates.
 * @property {number} [wallMs] Time that passed while measuring, for orientation.
 */

/**
 * CPU time of all threads of this process (the collector's and the compiler's
 * too), in stretches. It does not count what the neighbours on the machine do,
 * which is why every figure of speed here is one of CPU time.
 */
export class Meter {
  #cpuUs = 0;
  #wallMs = 0;
  #count = 0;
  #before = process.cpuUsage();
  #since = 0;

  start() {
    this.#since = performance.now();
    this.#before = process.cpuUsage();
  }

  /**
   * Ends a stretch in which `count` operations were done.
   * @param {number} count
   */
  stop(count) {
    const { user, system } = process.cpuUsage(this.#before);
    this.#cpuUs += user + system;
    this.#wallMs += performance.now() - this.#since;
    this.#count += count;
  }

  /** CPU time of the stretch that is open, in milliseconds. */
  get runningMs() {
    const { user, system } = process.cpuUsage(this.#before);
    return (user + system) / 1000;
  }

  /** CPU time of all stretches, in milliseconds. */
  get cpuMs() {
    return this.#cpuUs / 1000;
  }

  /** Microseconds of CPU time for one operation. */
  get each() {
    return this.#cpuUs / this.#count;
  }

  get wallMs() {
    return this.#wallMs;
  }

  /** @returns {Sample} */
  get sample() {
    return { value: 1e6 / this.each, unit: '/CPU-s', wallMs: Math.round(this.#wallMs) };
  }
}

/**
 * Collects all garbage (the case runs with `--expose-gc`). For figures of
 * memory only: a forced collection between two sessions lets the engine forget
 * the shapes of all that belonged to the first, and code that was compiled for
 * them with it, which no real host does to itself.
 */
export function collect() {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('run with --expose-gc');
  gc();
  gc();
}

/** The next turn of the event loop. */
export const nextTurn = () => new Promise((/** @type {(nothing: void) => void} */ resolve) => setImmediate(resolve));
