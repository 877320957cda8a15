/** The guard of the tests of the runtime: whatever a session meets, nothing reaches the process. */
import { afterEach, beforeEach, expect } from 'vitest';
import { watchProcess } from './stage.js';

/**
 * Fails every test of the file, or of the `describe` that calls this, in which an uncaught exception or an unhandled
 * rejection reaches the process. `harm` is what did so far in the test at hand.
 */
export function expectNoHarm(): { readonly harm: readonly unknown[] } {
  let watch: ReturnType<typeof watchProcess>;
  beforeEach(() => {
    watch = watchProcess();
  });
  afterEach(async () => {
    expect(await watch.stop()).toEqual([]);
  });
  return {
    get harm() {
      return watch.harm;
    },
  };
}
