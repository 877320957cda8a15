/** A process that lives until it is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bundle } from '../runtime/child.js';
import type { Orders } from './points.js';

/** A folder for a whole run of the tests, with the programs in it. */
export interface Workshop {
  readonly folder: string;
  /** The program of `child/main.ts`. */
  readonly program: string;
  remove(): Promise<void>;
}

export async function openWorkshop(): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'crash-'));
  const program = await bundle(fileURLToPath(new URL('child/main.ts', import.meta.url)), folder);
  return { folder, program, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** What was there when a process was gone. */
export interface Remains {
  readonly seed: number;
  readonly journal: string;
  readonly effects: string;
  /** `here` where it was killed at the point that it was told to stop at. */
  readonly said: readonly string[];
}

/**
 * Runs a program and kills it: at the point in its orders, or so many milliseconds after it was ready. Fails where it ends in
 * another way.
 */
export async function runAndKill(
  { folder, program }: Workshop,
  { name, seed, stopAt, afterMs = 10_000 }: { name: string; seed: number; stopAt?: Orders['stopAt']; afterMs?: number },
): Promise<Remains> {
  const journal = join(folder, `${name}.journal`);
  const effects = join(folder, `${name}.effects`);
  const orders: Orders = { journal, effects, seed, ...(stopAt === undefined ? {} : { stopAt }) };
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  const said: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  createInterface({ input: child.stdio[3] as Readable }).on('line', (line) => {
    said.push(line);
    if (line === 'ready') timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    else child.kill('SIGKILL');
  });
  const { code, signal } = await endOf(child);
  clearTimeout(timer);
  if (signal !== 'SIGKILL' || printed.length > 0) throw new ChildFailed(code, printed.join(''));
  return { seed, journal, effects, said };
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** The child did not live until it was killed. */
class ChildFailed extends Error {
  override readonly name = 'ChildFailed';
  constructor(code: number | null, printed: string) {
    super(`the child ended with ${code}, before it was killed: ${printed}`);
  }
}
