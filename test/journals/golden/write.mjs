/**
 * Writes the golden journals of the machines' version that is built, where they are not there yet: `node test/journals/golden/write.mjs`,
 * after `npm run build`. What is there is never written again: old journals are read by every later version.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createConversation } from 'commitpoint';
import { memoryJournal, printRecord } from 'commitpoint/journal';
import { fileJournal } from 'commitpoint/journals/file';
import { machinesVersion } from 'commitpoint/machines';
import { parseScenario, simulate } from 'commitpoint/testing';
import { decodeJsonLine } from 'commitpoint/wire';

const scenarios = join(import.meta.dirname, '..', '..', 'scenarios');
const folder = join(import.meta.dirname, `v${machinesVersion}`);

/** One of each kind of end, policy, limit and answer. */
const sessions = [
  'abandoned-call-can-be-followed-by-the-same-question',
  'abort-decides-every-call',
  'approval-comes-before-the-record-of-the-start',
  'refused-call-counts-once-it-is-published',
  'too-many-refused-results-end-the-session',
  'acts-after-a-failed-journal',
  'acts-after-an-overflow',
  'acts-after-the-stream-failed',
];

mkdirSync(folder, { recursive: true });
for (const name of sessions) {
  const file = join(scenarios, `${name}.jsonl`);
  const { journal } = await simulate(parseScenario(readFileSync(file, 'utf8'), file));
  await write(name, journal);
}
for (const payloads of /** @type {const} */ (['keep', 'hash', 'omit'])) {
  for (const file of readdirSync(join(scenarios, 'fold')).filter((name) =>
    /savepoint|doomed|split|cancel/.test(name),
  )) {
    const journal = memoryJournal({ payloads });
    fold(readFileSync(join(scenarios, 'fold', file), 'utf8'), journal);
    if (journal.records.length > 2) await write(`${basename(file, '.jsonl')}.${payloads}`, journal.records);
  }
}

/**
 * @param {string} text
 * @param {import('commitpoint/journal').MemoryJournal} journal
 */
function fold(text, journal) {
  const clock = { now: () => 0, setTimeout, clearTimeout: () => {} };
  const conversation = createConversation({ id: 'con_golden', journal, clock, policies: { nested: 'savepoint' } });
  for (const line of text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'))) {
    const { end, message = '', expect } = JSON.parse(line);
    if (expect !== undefined) continue;
    conversation.apply(end === undefined ? decodeJsonLine(line) : { end, message });
  }
  conversation.close();
}

/**
 * In the binary format, and as lines for people.
 * @param {string} name
 * @param {readonly import('commitpoint').JournalRecord[]} records
 */
async function write(name, records) {
  const path = join(folder, `${name}.journal`);
  if (existsSync(path)) return;
  const journal = await fileJournal(path, { durable: false });
  for (const record of records) journal.append(record);
  await journal.close();
  writeFileSync(join(folder, `${name}.jsonl`), records.map((record) => `${printRecord(record)}\n`).join(''));
}
