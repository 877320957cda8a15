import { InvalidInputError } from '../../contract/errors.js';
import type { ExitStatus } from '../exit.js';
import { type RunLiveOptions, runLive } from './run-live.js';
import { runRecording } from './run-recording.js';

export interface RunOptions extends RunLiveOptions {
  readonly recording?: string;
}

/** `commitpoint run`: a session with a live service, or one that was recorded. */
export async function run({ recording, ...options }: RunOptions): Promise<ExitStatus> {
  if (recording === undefined) return runLive(options);
  for (const [option, value] of Object.entries(onlyLive(options))) {
    if (value !== undefined) throw new InvalidInputError(option, 'none with --recording', value);
  }
  return runRecording({ recording, ...options });
}

/** Options that mean nothing to a recording. */
function onlyLive({ model, text, baseUrl, journal }: RunLiveOptions): Record<string, string | undefined> {
  return { '--model': model, '--text': text, '--base-url': baseUrl, '--journal': journal };
}
