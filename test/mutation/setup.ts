/**
 * Before each test file of a mutation run. Properties that choose their own
 * seed would kill one mutant today and another one tomorrow; and once a test has
 * failed the mutant is dead, so that no further file need be loaded.
 */
import fc from 'fast-check';
import { afterEach, beforeEach } from 'vitest';
import { folderAtHand } from './folders.mjs';
import { worker } from './worker.js';

class AlreadyDead extends Error {
  override readonly name = 'AlreadyDead';
}

if (worker.hasFailed) throw new AlreadyDead('a test has failed before');
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });
afterEach(({ task }) => {
  if (task.result?.state === 'fail') worker.hasFailed = true;
});

// Stryker keeps which test is at hand under this name; what is reached while none is, it tries with all of them
if (folderAtHand().tries === 'all') {
  const { __stryker__: stryker } = globalThis as { __stryker__?: { currentTestId?: string | undefined } };
  beforeEach(() => {
    if (stryker !== undefined) stryker.currentTestId = undefined;
  });
}
