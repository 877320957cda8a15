// @ts-check
// Stryker, for `npm run mutation`, which says by the environment what is mutated; see mutation.mjs and folders.mjs.

import { folderAtHand } from './folders.mjs';
import { scratch } from './scratch.mjs';

const { name, mutate } = folderAtHand();
const only = process.env.COMMITPOINT_MUTATE_ONLY;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  // the tests are listed; to look for those that import a file takes longer than to run them
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  // see `tries` in folders.mjs
  coverageAnalysis: 'perTest',
  mutate: only === undefined ? [...mutate] : only.split(','),
  // A table is made while its module loads. What Stryker calls static is what a machine does: nothing is left out.
  ignoreStatic: false,
  ignorePatterns: ['/.scratch', '/dist', '/docs/api', '/test/bench', '/test/browser', '/coverage', '/temp'],
  concurrency: Number(process.env.COMMITPOINT_MUTATE_WORKERS ?? 2),
  // a machine in use takes its time; a loop that does not end is ended by the count of its turns
  timeoutMS: 10_000,
  timeoutFactor: 2,
  dryRunTimeoutMinutes: 10,
  incremental: true,
  incrementalFile: `${scratch}/${name}.incremental.json`,
  tempDirName: scratch,
  cleanTempDir: true,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${scratch}/${name}.json` },
  disableTypeChecks: true,
  allowConsoleColors: false,
};
