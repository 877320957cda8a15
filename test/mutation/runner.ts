/**
 * A file that cannot be loaded has no test that could fail, and Stryker would
 * take that for a mutant that lives: many mutants of a table end like this. It
 * is told to `loads.check.ts`, which runs last and fails for it.
 */
import { type RunnerTestFile, TestRunner } from 'vitest';
import { worker } from './worker.js';

export default class LoadingNoted extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    for (const { name, result } of files) if (result?.state === 'fail') worker.notLoaded.push(name);
  }
}
