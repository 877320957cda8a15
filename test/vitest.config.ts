import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { entryPoints } from '../.ci/package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** These take a browser, many processes, or most of a minute: `npm run test:browser`, `test:crash`, `test:soak`, `test:explore`. */
const elsewhere = [
  ...configDefaults.exclude,
  'test/browser/**',
  'test/crash/**',
  'test/soak/**',
  'test/verify/explore/bound.test.ts',
];

/** Files that replace a module, or count what is left in their process: each has a worker of its own. */
const apart = ['test/properties/fast-lane.test.ts', 'test/runtime/leaks.test.ts', 'test/guides/host.test.ts'];

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
    // one file after another in the same worker, so that the sources are loaded once for all of them
    projects: [
      {
        extends: true,
        test: { name: 'together', isolate: false, include: ['test/**/*.test.ts'], exclude: [...elsewhere, ...apart] },
      },
      { extends: true, test: { name: 'apart', include: apart } },
    ],
    maxWorkers: '100%',
    // Nothing waits on the wall clock; this only ends a test that hangs.
    testTimeout: 30_000,
    coverage: { provider: 'v8', include: ['machines/**/*.ts', 'src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
