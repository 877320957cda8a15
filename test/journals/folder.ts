import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of a test's own. */
export async function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'commitpoint-journal-'));
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
