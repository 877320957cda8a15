import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The bound that every build explores: `npm run test:explore`, apart from `npm test`, since it takes most of a minute. */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: { include: ['test/verify/explore/bound.test.ts'], testTimeout: 300_000 },
});
