/**
 * Before each test file of a mutation run. Properties that choose their own
 * seed would kill one mutant today and another one tomorrow; and once a test has
 * failed the mutant is dead, so that no further file need be loaded.
 */
import fc from 'fast-check';
import { afterEach } from 'vitest';

class AlreadyDead extends Error {
  override readonly name = 'AlreadyDead';
}

/** What lasts from one file to the next: the worker, and so its globals. */
const worker = globalThis as { hasFailed?: boolean };

if (worker.hasFailed === true) throw new AlreadyDead('a test has failed before');
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });
afterEach(({ task }) => {
  if (task.result?.state === 'fail') worker.hasFailed = true;
});
