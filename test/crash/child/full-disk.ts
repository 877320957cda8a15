/** A journal on a disk that is really full; run with a small file system of its own. Prints what came of it, as JSON. */
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalRecord } from '../../../src/contract/journal.js';
import { fileJournal } from '../../../src/journals/file/index.js';
import { recover } from '../../../src/runtime/index.js';
import { verify } from '../../../src/verify/index.js';
import { untruthsOf } from '../../runtime/recover/truth.js';
import { listeners } from '../listeners.js';
import { liveUntilFull } from '../until-full.js';

const folder = process.argv[2] ?? '';
const path = join(folder, 'full.journal');
const ballast = join(folder, 'ballast');
await writeFile(ballast, new Uint8Array(32 * 1024));
const journal = await fileJournal(path, { payloads: 'keep' });
const { report, errors, facts } = await liveUntilFull(journal);
const { bavail } = await statfs(folder);
await journal.close().catch(() => {});

// still full: what is there can be read, and says so where it cannot be written
const full = await fileJournal(path);
const records: JournalRecord[] = [];
for await (const record of full.read()) records.push(record);
const { tools, told } = listeners(records);
const whileFull = await recover(full, { tools, calls: 'all' });
await full.close().catch(() => {});
const toldWhileFull = told.size;

await rm(ballast);
const mended = await fileJournal(path);
const recovery = await recover(mended, { tools, calls: 'all' });
const { findings } = await verify(mended);
await mended.close();
console.log(
  JSON.stringify({
    reason: report.reason,
    errors,
    bavail,
    calls: recovery.calls.length,
    failureWhileFull: whileFull.failure === undefined ? 'none' : String(whileFull.failure),
    toldWhileFull,
    wrong: [...untruthsOf(recovery, facts, true), ...findings.map(({ invariant, what }) => `${invariant}: ${what}`)],
  }),
);
