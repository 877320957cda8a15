/** Programs of a test that need a process of their own: flags of Node, a heap that is theirs alone. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a program printed and how it ended. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Bundles `children/NAME.ts` with all that it imports and runs it in a Node of its own, with `flags`. */
export async function runChild(name: string, flags: readonly string[] = []): Promise<Ran> {
  const scratch = await mkdtemp(join(tmpdir(), 'child-'));
  try {
    return await run([...flags, await bundle(join(here, 'children', `${name}.ts`), scratch)]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Puts a program and all that it imports into one file in the folder `into`, which a bare Node runs. Gives its path. */
export async function bundle(program: string, into: string): Promise<string> {
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: program,
      outDir: into,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: { output: { entryFileNames: '[name].mjs' } },
    },
  });
  return join(into, `${basename(program, '.ts')}.mjs`);
}

function run(args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...printed }));
  });
}
