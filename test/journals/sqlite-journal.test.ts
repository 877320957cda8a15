/** Journals in SQLite, beside the contract: L1–L5 (sqlite-journal.ts). */
import { spawnSync } from 'node:child_process';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../src/contract/journal.js';
import { CompactionRule } from '../../src/journal/index.js';
import { type Database, loadSqlite } from '../../src/journals/sqlite/database.js';
import { readSqliteJournal, type SqliteJournal, sqliteJournal } from '../../src/journals/sqlite/index.js';
import { courses, recordOf, steps } from '../journal/lives.js';
import { entry } from '../journal/records.js';
import { collect, recordsOf } from './contract.js';
import { makeFolder, removeFolder } from './folder.js';
import { canMount } from './mounting.js';
import { hasSqlite } from './sqlite.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'run.sqlite');
});
afterEach(() => removeFolder(folder));

// this Node has SQLite, and the tests below run
test.skipIf(hasSqlite)('where Node has no SQLite, it says which one has', async () => {
  await expect(sqliteJournal(path)).rejects.toMatchObject({
    code: 'not_supported',
    message: expect.stringContaining('expected Node 22.13 or later'),
  });
  await expect(collect(readSqliteJournal(path))).rejects.toMatchObject({ code: 'not_supported' });
  expect(await readdir(folder)).toEqual([]);
});

/** Changes the database behind the journal's back. */
function change(sql: string): void {
  const { DatabaseSync } = loadSqlite();
  const database: Database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

async function write(count: number): Promise<void> {
  const journal = await sqliteJournal(path);
  for (let n = 1; n <= count; n++) journal.append(entry(n));
  await journal.close();
}

async function readAll(): Promise<{ seqs: number[]; thrown?: unknown }> {
  const seqs: number[] = [];
  try {
    for await (const { seq } of readSqliteJournal(path)) seqs.push(seq);
    return { seqs };
  } catch (thrown) {
    return { seqs, thrown };
  }
}

// Node 20 has no SQLite; `npm run test:nodes` has others
describe.skipIf(!hasSqlite)('a journal in SQLite', () => {
  test('is one file when it is closed, and is read without a lock while it is written', async () => {
    const journal = await sqliteJournal(path);
    journal.append(entry(1));
    await journal.flush();
    expect(await collect(readSqliteJournal(path))).toEqual([{ seq: 1, ...entry(1) }]);
    await journal.close();
    expect(await readdir(folder)).toEqual(['run.sqlite']);
  });

  test('what was appended together is one transaction (L1)', async () => {
    const journal = await sqliteJournal(path);
    const flushes = Array.from({ length: 1_000 }, (_, n) => {
      journal.append(entry(n));
      return journal.flush();
    });
    // nothing of it is there before all of it is
    expect((await readAll()).seqs).toEqual([]);
    await Promise.all(flushes);
    expect((await readAll()).seqs.length).toBe(1_000);
    await journal.close();
  });

  test('a reader sees what was there when it began, whatever goes meanwhile (L3)', async () => {
    const journal = await sqliteJournal(path);
    const all = fill(journal, 20);
    const reading = journal.read();
    const read = [(await reading.next()).value];
    expect((await journal.compact()).dropped).toBeGreaterThan(0);
    for await (const record of reading) read.push(record);
    expect(read).toEqual(all);
    await journal.close();
  });

  describe('damage', () => {
    test.each([
      ['holds no record', "UPDATE records SET record = x'ffff' WHERE seq = 700"],
      [
        'holds another record',
        'UPDATE records SET record = (SELECT record FROM records WHERE seq = 1) WHERE seq = 700',
      ],
    ])('a row that %s: what is before it is read, then the error names it; no writer opens it', async (_, sql) => {
      await write(1_000);
      change(sql);
      const { seqs, thrown } = await readAll();
      expect(seqs).toEqual(Array.from({ length: 699 }, (_, i) => i + 1));
      expect(thrown).toMatchObject({ code: 'journal_damaged', offset: 700 });
      await expect(sqliteJournal(path)).rejects.toMatchObject({ code: 'journal_damaged', offset: 700 });
      expect(await readdir(folder)).toEqual(['run.sqlite']);
    });

    test('a page that is overwritten', async () => {
      await write(1_000);
      const file = await open(path, 'r+');
      await file.write(Buffer.alloc(4096 * 4, 0xff), 0, 4096 * 4, 4096 * 3);
      await file.close();
      const { thrown } = await readAll();
      expect(thrown).toMatchObject({ code: 'journal_damaged' });
      await expect(sqliteJournal(path)).rejects.toMatchObject({ code: 'journal_damaged' });
    });
  });

  test.each([
    ['another kind of file', async () => writeFile(path, 'x'.repeat(5_000)), 'no database'],
    ['another database', async () => change('CREATE TABLE t (a)'), 'another database'],
    ['a newer format', async () => write(1).then(() => change('PRAGMA user_version = 2')), 'the format 2'],
    ['one without its table', async () => write(1).then(() => change('DROP TABLE records')), 'no such table'],
  ])('%s is no journal', async (_, make, found) => {
    await make();
    const expected = { code: 'journal_format', message: expect.stringContaining(found) };
    expect((await readAll()).thrown).toMatchObject(expected);
    await expect(sqliteJournal(path)).rejects.toMatchObject(expected);
  });

  test('a file that is not there cannot be read, and one in a folder that is not there cannot be made', async () => {
    expect((await readAll()).thrown).toMatchObject({ code: 'unreadable_file' });
    await expect(sqliteJournal(join(folder, 'none', 'x'))).rejects.toMatchObject({ code: 'journal_failed' });
    await expect(sqliteJournal(folder)).rejects.toMatchObject({ code: 'journal_failed' });
  });

  test('what waits is bounded (L4)', async () => {
    const journal = await sqliteJournal(path, { maxBufferedBytes: 10_000 });
    let appended = 0;
    const append = () => {
      for (;;) {
        journal.append(entry(appended + 1));
        appended++;
      }
    };
    expect(append).toThrow('more than 10000 bytes wait to be written');
    await journal.flush();
    expect(journal.append(entry(appended + 1))).toBe(appended + 1);
    await journal.close();
    expect((await readAll()).seqs.length).toBe(appended + 1);
  });

  test('another writer that has the database: the error, and what was flushed is there (L2)', async () => {
    const journal = await sqliteJournal(path);
    journal.append(entry(1));
    await journal.flush();
    // one who does not know of the lock
    change(`INSERT INTO records (seq, record) SELECT 2, record FROM records`);
    journal.append(entry(2));
    await expect(journal.flush()).rejects.toMatchObject({ code: 'journal_failed' });
    expect(() => journal.append(entry(3))).toThrow(expect.objectContaining({ code: 'journal_failed' }));
    await expect(journal.compact()).rejects.toMatchObject({ code: 'journal_failed' });
    await journal.close();
  });

  describe('compaction', () => {
    test('drops what may go in one transaction, keeps the seq of what stays, and goes on (L5)', async () => {
      const journal = await sqliteJournal(path);
      const all = fill(journal, 100);
      const compaction = journal.compact();
      const more = recordOf(all.length + 1, 'session-last', steps.toolCall);
      await new Promise((resolve) => setImmediate(resolve));
      journal.append(more);
      const flushed = journal.flush();
      // as long as it is not whole, nothing of it is seen
      expect((await readAll()).seqs.length).toBe(all.length);
      const report = await compaction;
      await flushed;
      const stays = staying(all);
      expect(report).toMatchObject({ kept: stays.length, dropped: all.length - stays.length });
      expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
      expect(await recordsOf(journal)).toEqual([...stays, more]);
      await journal.close();
      const again = await sqliteJournal(path);
      expect(again.append(more)).toBe(all.length + 2);
      await again.close();
    });

    test('that a close stops has done nothing', async () => {
      const journal = await sqliteJournal(path);
      const all = fill(journal, 100);
      const compaction = journal.compact();
      const rejected = expect(compaction).rejects.toMatchObject({ code: 'journal_closed' });
      await journal.close();
      await rejected;
      expect((await readAll()).seqs.length).toBe(all.length);
    });
  });

  // a small disk has to be mounted, which not everybody may
  test.skipIf(!canMount)('a disk that is full: what was flushed before is there', async () => {
    const small = join(folder, 'small');
    await mkdir(small);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'commitpoint', small]).status).toBe(0);
    try {
      path = join(small, 'run.sqlite');
      const journal = await sqliteJournal(path);
      let flushed = 0;
      const fillDisk = async () => {
        for (;;) {
          for (let n = 0; n < 100; n++) journal.append(entry(n));
          await journal.flush();
          flushed += 100;
        }
      };
      await expect(fillDisk()).rejects.toMatchObject({ code: 'journal_failed' });
      expect(flushed).toBeGreaterThan(100);
      await journal.close();
      expect(spawnSync('mount', ['-o', 'remount,size=4m', small]).status).toBe(0);
      expect((await readAll()).seqs).toEqual(Array.from({ length: flushed }, (_, i) => i + 1));
    } finally {
      spawnSync('umount', [small]);
    }
  });
});

function fill(journal: SqliteJournal, times: number): JournalRecord[] {
  const all: JournalRecord[] = [];
  for (let round = 0; round < times; round++) {
    for (const [n, course] of courses.entries()) {
      for (const step of course.steps) all.push(recordOf(all.length + 1, `session-${round}-${n}`, step));
    }
  }
  all.push(recordOf(all.length + 1, 'session-last', steps.began));
  for (const record of all) journal.append(record);
  return all;
}

function staying(records: readonly JournalRecord[]): JournalRecord[] {
  const rule = new CompactionRule();
  for (const record of records) rule.look(record);
  rule.looked();
  return records.filter((record) => rule.keeps(record));
}
