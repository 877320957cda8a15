/** How somebody runs this very command again. */
import { relative } from 'node:path';

/**
 * In a checkout the file itself: `npx` would first install the folder that it is called in, which takes its time and says nothing.
 * `started` is what Node was told to run, `folder` where it was.
 */
export function ownCommand(started = process.argv[1] ?? '', folder = process.cwd()): string {
  const file = relative(folder, started);
  return /^dist[\\/]src[\\/]cli[\\/]main\.js$/.test(file) ? `node ${file}` : 'npx commitpoint';
}
