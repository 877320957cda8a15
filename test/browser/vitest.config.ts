import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests in a real browser: `npm run test:browser`, apart from `npm test`, since not every machine has one. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/browser/**/*.test.ts'],
    // ends a test that hangs
    testTimeout: 30_000,
  },
});
