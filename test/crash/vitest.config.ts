import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Processes that are killed: `npm run test:crash`, apart from `npm test`, since each of them takes its time. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/crash/**/*.test.ts'],
    // two cores: a kill is to hit a process that runs, not one that waits for its turn
    fileParallelism: false,
    // ends a test that hangs
    testTimeout: 60_000,
  },
});
