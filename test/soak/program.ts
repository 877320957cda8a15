/** The process of a soak: `node --expose-gc program.mjs ORDERS`, with the orders as JSON. Ends with 1 where something was found. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { later } from './far-side.js';
import { workShift } from './shift.js';
import { Tally, tableOf } from './tally.js';

/** What a soak is told. */
export interface SoakOrders {
  readonly seed: number;
  readonly ms: number;
  readonly hosts: number;
  readonly shiftMs: number;
}

/** A heap that has grown by no more than this, over all the shifts after the first two, has come back. */
const slackBytes = 12 * 2 ** 20;

const orders = JSON.parse(process.argv[2] as string) as SoakOrders;
const { seed, ms, hosts, shiftMs } = orders;
const tally = new Tally();

for (const type of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(type, (error: unknown) => {
    tally.found(type, error instanceof Error ? (error.stack ?? String(error)) : String(error));
  });
}

/** What is open, by kind; timers are told of by the clocks of the shifts. */
function handles(): string {
  const kinds = process.getActiveResourcesInfo().filter((kind) => kind !== 'Timeout' && kind !== 'Immediate');
  return kinds.sort().join(' ');
}

async function heapNow(): Promise<number> {
  // what an earlier shift left to the finalisers, timers of tests and sockets on their way
  await later(150);
  for (let time = 0; time < 3; time++) {
    globalThis.gc?.();
    await later(0);
  }
  return process.memoryUsage().heapUsed;
}

const began = Date.now();
const seconds = () => Math.round((Date.now() - began) / 1000);

function progress(): void {
  tally.look();
  if (!process.stdout.isTTY) return;
  const { sessions, shifts, restarts, findings, records } = tally;
  const heap = (process.memoryUsage().heapUsed / 2 ** 20).toFixed(0);
  process.stdout.write(
    `\r\u001b[K${seconds()} s: ${shifts} shifts, ${sessions} sessions, ${restarts} restarts, ${records} records verified, ${findings.length} findings, heap ${heap} MiB`,
  );
}

const folder = await mkdtemp(join(tmpdir(), 'soak-'));
process.stdout.write(`soak of ${Math.round(ms / 1000)} s, ${hosts} hosts at once, seed ${seed}\n`);
await later(0);
const heaps: number[] = [];
// a warning of the platform would open its stream later
void process.stderr;
const before = handles();
const ticking = setInterval(progress, 500);
try {
  for (let shift = 0; Date.now() - began < ms; shift++) {
    const left = ms - (Date.now() - began);
    await workShift({ seed: seed + shift, ms: Math.min(shiftMs, left), hosts, folder }, tally);
    heaps.push(await heapNow());
    const after = handles();
    if (after !== before)
      tally.found(`shift of seed ${seed + shift}`, `open handles: ${after || 'none'}, before: ${before || 'none'}`);
    const files = await readdir(folder);
    if (files.length > 0) tally.found(`shift of seed ${seed + shift}`, `files are left: ${files.join(', ')}`);
  }
} finally {
  clearInterval(ticking);
  await rm(folder, { recursive: true, force: true });
}
// while the first shifts work the machine still compiles, and fills its caches
const warm = heaps[Math.min(1, heaps.length - 1)] as number;
const last = heaps.at(-1) as number;
if (heaps.length > 2 && last - warm > slackBytes) {
  tally.found(
    'heap',
    `${(warm / 2 ** 20).toFixed(1)} MiB after the second shift, ${(last / 2 ** 20).toFixed(1)} at the end`,
  );
}
const mebibytes = heaps.map((heap) => (heap / 2 ** 20).toFixed(1));
if (process.stdout.isTTY) process.stdout.write('\r\u001b[K');
process.stdout.write(
  `${tableOf(tally, [
    [
      'heap at rest',
      `${mebibytes[0]} MiB after the first of ${tally.shifts} shifts, ${mebibytes.at(-1)} after the last`,
    ],
    ['time', `${seconds()} s`],
  ])}\n`,
);
for (const { where, what } of tally.findings) process.stdout.write(`${where}: ${what}\n`);
if (tally.beyond > 0) process.stdout.write(`and ${tally.beyond} more\n`);
process.exit(tally.findings.length > 0 ? 1 : 0);
