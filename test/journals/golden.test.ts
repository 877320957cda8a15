/**
 * Journals of every version of the machines since the first one: they are read, verified and replayed by this one, in either format,
 * byte for byte as they were written. `golden/write.mjs` adds those of a new version.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machinesVersion, versions } from '../../machines/index.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { parseRecords, printRecord } from '../../src/journal/index.js';
import { readJournalFile } from '../../src/journals/file/index.js';
import { replay, verify } from '../../src/verify/index.js';

const golden = join(import.meta.dirname, 'golden');

describe('the journals of every version', () => {
  it('are there', () => {
    const expected = versions.map((_, index) => `v${index + 1}`);
    expect(expected.filter((version) => !existsSync(join(golden, version)))).toEqual([]);
  });

  for (const version of readdirSync(golden).filter((name) => /^v\d+$/.test(name))) {
    const names = readdirSync(join(golden, version)).filter((name) => name.endsWith('.journal'));
    for (const name of names) {
      it(`${version}/${name}`, async () => {
        const path = join(golden, version, name);
        const records: JournalRecord[] = [];
        for await (const record of readJournalFile(path)) records.push(record);
        expect(records.length).toBeGreaterThan(2);
        const lines = readFileSync(path.replace(/\.journal$/, '.jsonl'), 'utf8');
        expect(records.map((record) => `${printRecord(record)}\n`).join('')).toBe(lines);
        expect([...parseRecords(lines)]).toEqual(records);
        const verdict = await verify(records);
        expect(verdict).toMatchObject({ records: records.length, unjudged: 0, machines: [Number(version.slice(1))] });
        // what an older version did otherwise is divergent, and said to be
        if (version === `v${machinesVersion}`) expect(verdict.findings).toEqual([]);
        const { sessions, conversations, findings } = await replay(records);
        expect(findings).toEqual(verdict.findings);
        expect(sessions.length + conversations.length).toBe(verdict.sessions + verdict.conversations);
      });
    }
  }
});
