/** What lasts from one test file to the next: the worker, and so its globals. */
interface Lasting {
  /** A test has failed: the mutant is dead. */
  hasFailed: boolean;
  /** Files that have no tests, since they could not be loaded. */
  readonly notLoaded: string[];
}

const key = Symbol.for('commitpoint.mutation');
const globals = globalThis as { [key]?: Lasting };
globals[key] ??= { hasFailed: false, notLoaded: [] };

export const worker: Lasting = globals[key];
