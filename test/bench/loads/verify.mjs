import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSession } from 'commitpoint';
import { fileJournal, readJournalFile } from 'commitpoint/journals/file';
import { verify } from 'commitpoint/verify';
import { pushedProvider } from '../driver.mjs';
import { collect, Meter, nextTurn } from '../meter.mjs';
import { lookup } from './calls.mjs';

const measureMs = 600;

/**
 * A journal in a file, written by sessions of ten calls each, one after another, and verified from its first record to its last: read,
 * decoded, judged, every step taken again. Or the memory that this takes.
 * @param {{ records: number, measures: 'rate' | 'heap' }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function verifyJournal({ records, measures }) {
  const folder = mkdtempSync(join(tmpdir(), 'commitpoint-bench-'));
  try {
    const path = join(folder, 'journal');
    await write(path, records);
    if (measures === 'heap') return { value: await peakHeap(path), unit: 'B' };
    await verifySound(path);
    const meter = new Meter();
    do {
      meter.start();
      meter.stop(await verifySound(path));
    } while (meter.cpuMs < measureMs);
    return meter.sample;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} path */
async function verifySound(path) {
  const verdict = await verify(readJournalFile(path));
  if (verdict.findings.length > 0) throw new Error(`not sound: ${JSON.stringify(verdict.findings[0])}`);
  return verdict.records;
}

/**
 * The most that stays in the heap while it is verified, beyond what was there before.
 * @param {string} path
 */
async function peakHeap(path) {
  await verifySound(path);
  collect();
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  let seen = 0;
  await verify(
    (async function* () {
      for await (const record of readJournalFile(path)) {
        seen += 1;
        if (seen % 5_000 === 0) {
          collect();
          most = Math.max(most, process.memoryUsage().heapUsed - before);
        }
        yield record;
      }
    })(),
  );
  return most;
}

/**
 * @param {string} path
 * @param {number} records
 */
async function write(path, records) {
  const journal = await fileJournal(path, { durable: false });
  const tools = [lookup()];
  // a session of ten calls: 2 records to begin, 6 a call, 2 to end
  for (let written = 0; written < records; written += 64) {
    const provider = pushedProvider();
    const session = await startSession({ provider, tools, connect: { model: 'm' }, journal });
    const driver = /** @type {import('../driver.mjs').PushedSession} */ (provider.sessions[0]);
    for (let at = 0; at < 10; at += 1) {
      driver.push({ type: 'tool_call', id: `call_${at}`, name: 'lookup', arguments: '{"word":"gate"}' });
    }
    let completed = 0;
    for await (const event of session.events()) {
      if (event.type === 'tool_completed') completed += 1;
      if (completed === 10) break;
    }
    await session.close();
    // all of this is microtasks: the file is written between turns of the event loop
    await nextTurn();
  }
  await journal.close();
}
