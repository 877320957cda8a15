import { InvalidInputError, messageOf } from '../../contract/errors.js';
import { createInspectorServer } from '../../inspect/server/index.js';
import type { ExitStatus } from '../exit.js';
import { framesFrom, inspectorUrl } from '../inspect-connect.js';
import { tellFrames } from '../inspect-frames.js';
import { inspectSourceOf } from '../inspect-source.js';
import { openBrowser } from '../open-browser.js';
import { complain, print } from '../output.js';
import { untilInterrupted } from '../until-interrupted.js';

export interface InspectOptions {
  /** Of another process: what its `createInspectorServer` gave as `url`. */
  readonly connect?: string;
  readonly port?: string;
  /** Whether a browser is opened, where standard output is a terminal. */
  readonly open?: boolean;
  readonly json?: boolean;
}

/**
 * `commitpoint inspect FILE` and `--connect URL`: the local page on a run, until it is interrupted.
 *
 * @throws {UnreadableFileError} {@link ScenarioError} {@link JournalFormatError} {@link InvalidInputError}
 */
export async function inspect(file: string | undefined, options: InspectOptions): Promise<ExitStatus> {
  const { connect, json = false } = options;
  if ((file === undefined) === (connect === undefined)) {
    throw new InvalidInputError('arguments', 'a file, or --connect URL', file === undefined ? 'neither' : 'both');
  }
  if (connect !== undefined) return inspectProcess(inspectorUrl(connect), options);
  const source = await inspectSourceOf(file as string);
  if (json) {
    await tellFrames(source, (frame) => print(JSON.stringify(frame)));
    return 0;
  }
  const server = await createInspectorServer({ port: portOf(options.port) });
  const interrupted = untilInterrupted();
  let status: ExitStatus = 0;
  const shown = server.open(source).catch((thrown: unknown) => {
    complain(messageOf(thrown));
    status = 2;
  });
  show(server.url, options);
  await interrupted;
  await server.close();
  // a run in virtual time has ended long before anybody has seen it
  await shown;
  return status;
}

/** The page of another process; with `json` what it tells. */
async function inspectProcess(url: URL, options: InspectOptions): Promise<ExitStatus> {
  const ending = new AbortController();
  if (options.json) {
    untilInterrupted().then(() => ending.abort());
    for await (const frame of framesFrom(url, ending.signal)) print(frame);
    return 0;
  }
  // whether somebody answers there
  for await (const _ of framesFrom(url, ending.signal)) break;
  show(url.href, { ...options, isTheirs: true });
  return 0;
}

function show(url: string, { open = true, isTheirs = false }: InspectOptions & { readonly isTheirs?: boolean }): void {
  print(url);
  if (process.stdout.isTTY !== true) return;
  if (open) openBrowser(url);
  if (!isTheirs) print('Ctrl-C ends it.');
}

function portOf(text = '0'): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidInputError('--port', 'a port, 0 for any that is free', text);
  return Number(text);
}
