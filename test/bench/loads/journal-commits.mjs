import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'commitpoint/journals/file';

const measureMs = 1_500;

/**
 * Commit points: so many at once, each appends the record of its intent and
 * goes on when that is durable. Time that passes is counted, since what is
 * waited for is the disk.
 * @param {{ atOnce: number }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function journalCommits({ atOnce }) {
  const folder = mkdtempSync(join(tmpdir(), 'commitpoint-bench-'));
  try {
    const journal = await fileJournal(join(folder, 'journal'));
    let records = 0;
    let until = performance.now() + measureMs / 3;
    /** @param {number} which */
    const commit = async (which) => {
      const actor = `ses_${which}/call_1`;
      for (; performance.now() < until; records += 1) {
        journal.append({
          at: Date.now(),
          actor,
          kind: 'call',
          event: 'placed',
          from: 'queued',
          to: 'starting',
          cause: 0,
          did: [{ effect: 'flush', detail: 'start' }],
        });
        await journal.flush();
      }
    };
    const all = () => Promise.all(Array.from({ length: atOnce }, (_, which) => commit(which)));
    await all();
    records = 0;
    const since = performance.now();
    until = since + measureMs;
    await all();
    const wallMs = performance.now() - since;
    await journal.close();
    return { value: (1000 * records) / wallMs, unit: '/s', wallMs: Math.round(wallMs) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
