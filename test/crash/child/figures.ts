/** A recovery of a long journal: how long it takes, and how much memory. Prints it, as JSON. Run with --expose-gc. */
import type { JournalRecord } from '../../../src/contract/journal.js';
import { fileJournal } from '../../../src/journals/file/index.js';
import { recover } from '../../../src/runtime/index.js';
import { World } from '../../runtime/recover/world.js';

const path = process.argv[2] ?? '';
const records = Number(process.argv[3]);
const gc = (globalThis as unknown as { gc(): void }).gc;

const ended = await lived(true);
const cutOff = await lived(false);
const journal = await fileJournal(path, { durable: false });
let written = 0;
for (let number = 0; written < records; number++) {
  written += await write(number, ended);
}
// the last ones have no end
for (let number = 0; number < 10; number++) written += await write(number + records, cutOff);
await journal.close();

const found = { records: written, runs: [] as object[] };
for (const calls of ['unfinished', 'all'] as const) {
  const opened = await fileJournal(path, { durable: false });
  gc();
  const before = process.memoryUsage().heapUsed;
  let read = 0;
  let most = 0;
  const watched = {
    durable: false,
    append: opened.append.bind(opened),
    flush: opened.flush.bind(opened),
    async *read() {
      for await (const record of opened.read()) {
        yield record;
        if (++read % 50_000 !== 0) continue;
        gc();
        most = Math.max(most, process.memoryUsage().heapUsed - before);
      }
    },
  };
  // the one that is timed is not looked at meanwhile
  const start = performance.now();
  const plain = await recover(opened, { tools: [], calls });
  const ms = performance.now() - start;
  await recover(watched, { tools: [], calls });
  const { sessions, counts } = plain;
  found.runs.push({
    calls,
    ms: Math.round(ms),
    heapMiB: Math.round(most / 104857.6) / 10,
    sessions: sessions.length,
    counts,
  });
  await opened.close();
}
console.log(JSON.stringify(found));

/** The records of a session with eight calls, closed at the end or not. */
async function lived(closes: boolean): Promise<readonly JournalRecord[]> {
  const world = new World(true, { t: {} });
  await world.emit();
  for (let number = 0; number < 8; number++) {
    const id = `c${number}`;
    await world.call(id, 't');
    await world.flush();
    if (number === 7 && !closes) break;
    await world.settle(id);
    await world.flush();
    await world.answer(id, 'accepted');
  }
  if (closes) {
    world.session.close().catch(() => {});
    await world.emit();
  }
  return world.journal.records.slice();
}

async function write(number: number, life: readonly JournalRecord[]): Promise<number> {
  let first = 0;
  for (const { seq: _, ...entry } of life) {
    const actor = entry.actor.replace('ses_world', `ses_${number}`);
    const seq = journal.append({ ...entry, actor, cause: entry.cause === 0 ? 0 : first });
    if (entry.cause === 0) first = seq;
  }
  await journal.flush();
  return life.length;
}
