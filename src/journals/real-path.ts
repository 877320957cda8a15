import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** One name for one file, however it is called and whether or not it is there: its lock stands beside it. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return join(await realpath(dirname(path)), basename(path));
  }
}
