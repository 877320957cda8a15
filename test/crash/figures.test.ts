/**
 * A long journal is recovered in memory that does not grow with it. `COMMITPOINT_RECORDS` says how long; the figures
 * are printed.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundle } from '../runtime/child.js';

const records = Number(process.env.COMMITPOINT_RECORDS ?? 100_000);

interface Figures {
  readonly records: number;
  readonly runs: readonly {
    readonly calls: string;
    readonly ms: number;
    readonly heapMiB: number;
    readonly sessions: number;
  }[];
}

test(`${records} records`, { timeout: 60_000 + records / 10 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'figures-'));
  try {
    const program = await bundle(fileURLToPath(new URL('child/figures.ts', import.meta.url)), folder);
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      program,
      join(folder, 'j'),
      String(records),
    ]);
    console.log(stdout.trim());
    const { runs } = JSON.parse(stdout) as Figures;
    expect(runs.map(({ calls, sessions }) => [calls, sessions > 10])).toEqual([
      ['unfinished', false],
      ['all', true],
    ]);
    // what is kept is of the ten sessions without an end, and of the reader
    expect(runs[0]?.heapMiB).toBeLessThan(8);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
