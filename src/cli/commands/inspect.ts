import type { ExitStatus } from '../exit.js';
import { tellFrames } from '../inspect-frames.js';
import { inspectSourceOf } from '../inspect-source.js';
import { print } from '../output.js';

export interface InspectOptions {
  readonly json?: boolean;
}

/** `commitpoint inspect FILE`: the local page on a run. */
export async function inspect(file: string, options: InspectOptions): Promise<ExitStatus> {
  const source = await inspectSourceOf(file);
  if (options.json) await tellFrames(source, (frame) => print(JSON.stringify(frame)));
  return 0;
}
