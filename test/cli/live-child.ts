/** `commitpoint run` as a process, against the fakes of the services: what it prints as it comes, its signals, its status. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles the command line from the sources, so that no stale `dist/` is tried, and gives the folder that it is in. */
export async function bundledCommand(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'live-run-'));
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'));
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: join(root, 'src/cli/main.ts'),
      outDir: join(folder, 'dist/src/cli'),
      minify: false,
      target: 'es2022',
    },
  });
  return folder;
}

/** A running command. Its environment holds what is given here and nothing else of this one. */
export class Child {
  out = '';
  err = '';
  /** Its status; a signal's name where that ended it. */
  readonly ended: Promise<number | string | null>;
  readonly #child: ChildProcessWithoutNullStreams;
  #isOver = false;
  #waiting: (() => void)[] = [];

  constructor(folder: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, ['--throw-deprecation', 'dist/src/cli/main.js', 'run', ...args], {
      cwd: folder,
      env: { ...env },
    });
    this.#child = child;
    child.stdin.on('error', () => {});
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      this.out += piece;
      this.#wake();
    });
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      this.err += piece;
      this.#wake();
    });
    this.ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status, signal) => {
        this.#isOver = true;
        this.#wake();
        resolve(signal ?? status);
      });
    });
  }

  /** Waits until it has printed this. Fails when it ends before that, with all that it printed. */
  async prints(where: 'out' | 'err', pattern: RegExp): Promise<void> {
    while (!pattern.test(this[where])) {
      if (this.#isOver) throw new TypeError(`${pattern} was not in ${where}:\n${this.out}\n--\n${this.err}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  write(...lines: readonly string[]): void {
    for (const line of lines) this.#child.stdin.write(`${line}\n`);
  }

  end(): void {
    this.#child.stdin.end();
  }

  ctrlC(): void {
    this.#child.kill('SIGINT');
  }

  /** Ends it at once, if it still runs. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
