import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../vitest.config.js';
import { folderAtHand } from './folders.mjs';

const tests = [...folderAtHand().tests, 'test/mutation/loads.check.ts'];

/** Files run in the order in which the folder lists them. */
class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => tests.findIndex((test) => moduleId.endsWith(test));
    return files.sort((one, other) => place(one) - place(other));
  }
}

/** The tests that mutants have to get past, see `mutation.mjs`. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: tests,
    runner: fileURLToPath(new URL('runner.ts', import.meta.url)),
    setupFiles: [fileURLToPath(new URL('setup.ts', import.meta.url))],
    // one worker, and one copy of every module in it: most of a run would be loading them anew for each file
    isolate: false,
    fileParallelism: false,
    sequence: { sequencer: AsListed },
    // few histories, and the same ones in every run: a mutant that lives today must not be dead tomorrow
    env: { COMMITPOINT_RUNS: '50', COMMITPOINT_SEED: '1' },
  },
});
