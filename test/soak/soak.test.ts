/** Half a minute of `npm run soak`: nothing is found, and everything it is there for happens. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const seconds = Number(process.env.COMMITPOINT_SOAK_SECONDS ?? 30);
const seed = process.env.COMMITPOINT_SEED;

function soak(): Promise<{ readonly code: number | null; readonly printed: string }> {
  const program = fileURLToPath(new URL('soak.mjs', import.meta.url));
  const args = [program, '--seconds', String(seconds), ...(seed === undefined ? [] : ['--seed', seed])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, printed }));
  });
}

test(`a soak of ${seconds} seconds`, { timeout: seconds * 1000 + 150_000 }, async () => {
  const { code, printed } = await soak();
  process.stdout.write(printed);
  expect(printed).toMatch(/findings +0\n/);
  expect(code).toBe(0);
  for (const outcome of ['completed', 'rejected', 'unconfirmed', 'abandoned', 'cancelled']) {
    expect(printed).toMatch(new RegExp(`calls .*${outcome} [1-9]`));
  }
  for (const reason of [
    'host',
    'aborted',
    'far_side',
    'protocol_failure',
    'stream_ended',
    'stream_failed',
    'overflow',
  ]) {
    expect(printed).toMatch(new RegExp(`incarnations .*${reason} [1-9]`));
  }
  expect(printed).toMatch(/restarts +[1-9]/);
  expect(printed).toMatch(/sessions .* [1-9]\d* of them over sockets/);
});
