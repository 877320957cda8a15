/** The example host as a process of its own, and the process that the tests run in. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { build } from 'vite';
import { entryPoints } from '../../.ci/package.mjs';
import { quiet } from '../../src/testing/quiet.js';
import { example } from './host.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Puts the example and the sources that it stands on into one file, so that no stale `dist/` is tried. */
export async function bundledHost(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'host-'));
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    resolve: {
      alias: entryPoints().map(({ specifier, source }) => ({
        find: new RegExp(`^${specifier}$`),
        replacement: join(root, source),
      })),
    },
    build: {
      ssr: example,
      outDir: folder,
      minify: false,
      target: 'es2022',
      rolldownOptions: { output: { entryFileNames: 'host.mjs' } },
    },
  });
  return { path: join(folder, 'host.mjs'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A host that runs. */
export class HostProcess {
  out = '';
  err = '';
  /** Its status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly #child: ChildProcess;

  constructor(path: string) {
    const child = spawn(process.execPath, ['--throw-deprecation', path], {
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status, signal) => resolve(signal ?? status));
    });
  }

  /** Its address, once it has said it. */
  async url(): Promise<string> {
    for (;;) {
      const [, url] = /^listening on (\S+)\n/.exec(this.out) ?? [];
      if (url !== undefined) return url;
      const more = new Promise((resolve) => this.#child.stdout?.once('data', resolve));
      const over = await Promise.race([more.then(() => false), this.ended.then(() => true)]);
      if (over) throw new TypeError(`the host has not come up: ${this.err}`);
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Lets go of what nobody holds. A weak reference that was read is held for the rest of the turn. */
export async function collect(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await quiet();
    gc();
  }
}

/** What keeps this process alive, and who listens to it. */
export function footprint(): readonly string[] {
  const listeners = process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`);
  return [...process.getActiveResourcesInfo(), ...listeners].sort();
}

/** What there is beyond a footprint from before, once what was closed is closed. */
export async function addedTo(before: readonly string[]): Promise<readonly string[]> {
  for (let turns = 0; ; turns++) {
    const left = [...before];
    const added = footprint().filter((each) => {
      const at = left.indexOf(each);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    if (added.length === 0 || turns === 500) return added;
    await quiet();
  }
}
