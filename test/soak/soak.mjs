/**
 * `npm run soak -- [--minutes N | --seconds N] [--seed N] [--hosts N]`: sessions under a supervisor, in real time, with everything
 * that can go wrong, for as long as it is told to.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';

const help = `npm run soak -- [--minutes N | --seconds N] [--seed N] [--hosts N]

  --minutes N  how long; default 10
  --seconds N  the same, for short ones
  --seed N     what everything random comes from; default: the time. Printed, so that a soak can be had again, as far as
               real time lets it
  --hosts N    how many sessions are lived at once; default 40
`;

function read() {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string' },
        seconds: { type: 'string' },
        seed: { type: 'string' },
        hosts: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(help);
      process.exit(0);
    }
    const number = (/** @type {string | undefined} */ text, /** @type {number} */ otherwise) => {
      const value = text === undefined ? otherwise : Number(text);
      if (!Number.isFinite(value) || value <= 0) throw new RangeError(`expected a number above 0, found ${text}`);
      return value;
    };
    const ms = values.seconds === undefined ? number(values.minutes, 10) * 60_000 : number(values.seconds, 30) * 1000;
    return {
      seed: Math.floor(number(values.seed, (Date.now() % 1_000_000) + 1)),
      ms,
      hosts: Math.ceil(number(values.hosts, 40)),
      shiftMs: Math.min(15_000, ms / 4),
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    return process.exit(2);
  }
}

const orders = read();
const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = await mkdtemp(join(tmpdir(), 'soak-program-'));
try {
  await build({
    root,
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('program.ts', import.meta.url)),
      outDir: scratch,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: { output: { entryFileNames: '[name].mjs' } },
    },
  });
  const program = join(scratch, 'program.mjs');
  const child = spawn(process.execPath, ['--expose-gc', program, JSON.stringify(orders)], { stdio: 'inherit' });
  process.exitCode = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
} finally {
  await rm(scratch, { recursive: true, force: true });
}
