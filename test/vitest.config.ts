import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { entryPoints } from '../.ci/package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

export default defineConfig({
  root,
  resolve: {
    // The package's own name leads to its sources, so that snippets of the documents run against what is being edited.
    alias: entryPoints().map(({ specifier, source }) => ({
      find: new RegExp(`^${specifier}$`),
      replacement: `${root}${source}`,
    })),
  },
  test: {
    include: ['test/**/*.test.ts'],
    // these take a browser, many processes, or most of a minute: `npm run test:browser`, `test:crash`, `test:explore`
    exclude: [
      ...configDefaults.exclude,
      'test/browser/**',
      'test/crash/**',
      'test/soak/**',
      'test/verify/explore/bound.test.ts',
    ],
    // Nothing waits on the wall clock; this only ends a test that hangs.
    testTimeout: 30_000,
    coverage: { provider: 'v8', include: ['machines/**/*.ts', 'src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
