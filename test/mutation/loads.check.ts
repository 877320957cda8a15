/** The last test of a mutation run, see `runner.ts`. */
import { expect, test } from 'vitest';
import { worker } from './worker.js';

test('every test file could be loaded', () => {
  expect(worker.notLoaded).toEqual([]);
});
