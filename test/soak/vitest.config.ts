import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** A short soak: `npm run test:soak`, apart from `npm test`, since it takes its time. `npm run soak` is as long as it is told to be. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/soak/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 180_000,
  },
});
