/** A journal that is made smaller while it is used, and whatever happens on the way. */
import { cp, open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../src/contract/journal.js';
import { CompactionRule } from '../../src/journal/index.js';
import { type FileJournal, fileJournal, readJournalFile } from '../../src/journals/file/index.js';
import { openFileJournal } from '../../src/journals/file/open-file.js';
import { courses, recordOf, steps } from '../journal/lives.js';
import { collect, recordsOf } from './contract.js';
import { diskWith, Gate, type Operation, SystemError } from './failing-disk.js';
import { makeFolder, removeFolder } from './folder.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'run.journal');
});
afterEach(() => removeFolder(folder));

/** Sessions of every course, `times` over, and one that is open at the end. */
function fill(journal: FileJournal, times = 1): JournalRecord[] {
  const all: JournalRecord[] = [];
  const put = (id: string, step: Parameters<typeof recordOf>[2]) => {
    const record = recordOf(all.length + 1, id, step);
    expect(journal.append(record)).toBe(record.seq);
    all.push(record);
  };
  for (let round = 0; round < times; round++) {
    for (const [n, course] of courses.entries()) for (const step of course.steps) put(`session-${round}-${n}`, step);
  }
  put('session-last', steps.began);
  return all;
}

function staying(records: readonly JournalRecord[]): JournalRecord[] {
  const rule = new CompactionRule();
  for (const record of records) rule.look(record);
  rule.looked();
  return records.filter((record) => rule.keeps(record));
}

const next = (records: readonly JournalRecord[], more = 1) =>
  Array.from({ length: more }, (_, i) => recordOf(records.length + 1 + i, 'session-last', steps.toolCall));

test('drops what may go, keeps the seq of what stays, and goes on', async () => {
  const journal = await fileJournal(path);
  const all = fill(journal, 60);
  const stays = staying(all);
  const report = await journal.compact();
  expect(report).toEqual({
    kept: stays.length,
    dropped: all.length - stays.length,
    bytesBefore: expect.any(Number),
    bytesAfter: (await stat(path)).size,
  });
  expect(report.bytesAfter).toBeLessThan(report.bytesBefore * 0.7);
  expect(await recordsOf(journal)).toEqual(stays);
  for (const record of next(all)) expect(journal.append(record)).toBe(record.seq);
  await journal.flush();
  expect(await collect(readJournalFile(path))).toEqual([...stays, ...next(all)]);
  await journal.close();
  const again = await fileJournal(path);
  expect(again.append(recordOf(all.length + 2, 'session-last', steps.toolCall))).toBe(all.length + 2);
  await again.close();
  expect(await readdir(folder)).toEqual(['run.journal']);
});

test('what a recovery has found goes when the host says so', async () => {
  const journal = await fileJournal(path);
  fill(journal);
  const kept = (await journal.compact()).kept;
  expect((await journal.compact({ recovered: true })).kept).toBeLessThan(kept);
  await journal.close();
});

test('readers that are under way read on, and what is appended and flushed meanwhile is not lost', async () => {
  const gate = new Gate();
  let renaming = () => {};
  const disk = diskWith((operation) => {
    if (operation !== 'rename') return;
    renaming();
    return gate.pass();
  });
  const journal = await openFileJournal(path, {}, disk);
  const isRenaming = new Promise<void>((resolve) => {
    renaming = resolve;
  });
  const all = fill(journal, 60);
  const before = journal.read();
  const read = [(await before.next()).value];
  gate.shut();
  const compaction = journal.compact();
  const [early, late] = [next(all, 10), next(all, 20).slice(10)];
  for (const record of early) journal.append(record);
  const flushed = journal.flush();
  await isRenaming;
  for (const record of late) journal.append(record);
  const flushes = [journal.flush(), flushed];
  const during = recordsOf(journal);
  gate.open();
  await Promise.all(flushes);
  await compaction;
  for await (const record of before) read.push(record);
  expect(read).toEqual(all);
  const stays = [...staying(all), ...early, ...late];
  expect(await during).toEqual(stays);
  expect(await recordsOf(journal)).toEqual(stays);
  await journal.close();
  expect(await collect(readJournalFile(path))).toEqual(stays);
});

test('a flush does not wait for it: what is written to the old file meanwhile is in the new one', async () => {
  await (await fileJournal(path)).close();
  const gate = new Gate();
  const disk = diskWith((operation, file) =>
    operation === 'write' && file.endsWith('.making') ? gate.pass() : undefined,
  );
  const journal = await openFileJournal(path, {}, disk);
  const all = fill(journal, 60);
  gate.shut();
  const compaction = journal.compact();
  await journal.flush();
  const more = next(all, 10);
  for (const record of more) {
    journal.append(record);
    await journal.flush();
  }
  expect(await collect(readJournalFile(path))).toEqual([...all, ...more]);
  gate.open();
  await compaction;
  expect(await recordsOf(journal)).toEqual([...staying(all), ...more]);
  await journal.close();
});

test('two at once are one after the other', async () => {
  const journal = await fileJournal(path);
  const all = fill(journal);
  const [one, other] = await Promise.all([journal.compact(), journal.compact()]);
  expect(one.dropped).toBeGreaterThan(0);
  expect(other).toMatchObject({ kept: one.kept, dropped: 0 });
  expect(await recordsOf(journal)).toEqual(staying(all));
  await journal.close();
});

test('a process that dies at any instant of it leaves the journal as it was, or as it will be', async () => {
  const remains: string[] = [];
  let isRunning = false;
  const order: Operation[] = [];
  const disk = diskWith(async (operation) => {
    if (!isRunning) return;
    order.push(operation);
    const copy = await makeFolder();
    remains.push(copy);
    for (const name of await readdir(folder)) {
      if (!name.endsWith('.lock')) await cp(join(folder, name), join(copy, name));
    }
  });
  const journal = await openFileJournal(path, {}, disk);
  const all = fill(journal, 20);
  await journal.flush();
  isRunning = true;
  await journal.compact();
  isRunning = false;
  await journal.close();
  // so that a power cut does the same as a death: the new file is on the disk before it has the name
  expect(order.slice(-3)).toEqual(['sync', 'rename', 'syncFolder']);
  const found = new Set<number>();
  for (const copy of remains) {
    const again = await fileJournal(join(copy, basename(path)));
    const records = await recordsOf(again);
    expect([all, staying(all)]).toContainEqual(records);
    found.add(records.length);
    expect(again.append(recordOf(1, 'session-last', steps.toolCall))).toBe(all.length + 1);
    await again.close();
    expect(await readdir(copy)).toEqual([basename(path)]);
    await removeFolder(copy);
  }
  expect(found.size).toBe(2);
});

describe('a disk that fails', () => {
  const breaking = async (kind: Operation, at = '') => {
    const broken = { is: false };
    const disk = diskWith((operation, file) => {
      if (broken.is && operation === kind && file.endsWith(at)) throw new SystemError('EIO');
    });
    // so that it is not open by the name under which it was made
    await (await fileJournal(path)).close();
    const journal = await openFileJournal(path, {}, disk);
    return { journal, all: fill(journal, 20), broken };
  };

  test.each(['open', 'write', 'sync', 'rename'] as const)(
    'at the %s of the new file: the journal is as it was, and goes on',
    async (kind) => {
      const { journal, all, broken } = await breaking(kind, '.making');
      await journal.flush();
      broken.is = true;
      await expect(journal.compact()).rejects.toMatchObject({ code: 'journal_failed' });
      expect(await readdir(folder)).toEqual(['run.journal', 'run.journal.lock']);
      expect(journal.append(recordOf(0, 'session-last', steps.toolCall))).toBe(all.length + 1);
      await journal.flush();
      expect((await recordsOf(journal)).length).toBe(all.length + 1);
      broken.is = false;
      expect((await journal.compact()).dropped).toBeGreaterThan(0);
      await journal.close();
    },
  );

  test('after the new file has the name: nobody knows which of them a power cut leaves, so that it takes no more', async () => {
    const { journal, all, broken } = await breaking('syncFolder');
    await journal.flush();
    broken.is = true;
    await expect(journal.compact()).rejects.toMatchObject({ code: 'journal_failed' });
    expect(() => journal.append(recordOf(0, 'session-last', steps.toolCall))).toThrow(
      expect.objectContaining({ code: 'journal_failed' }),
    );
    await journal.close();
    expect(await collect(readJournalFile(path))).toEqual(staying(all));
  });

  test('damage that the journal has got meanwhile: says so, and leaves it', async () => {
    const { journal } = await breaking('open');
    await journal.flush();
    const file = await open(path, 'r+');
    await file.write(Buffer.from([0xff]), 0, 1, 20);
    await file.close();
    const damaged = await readFile(path);
    await expect(journal.compact()).rejects.toMatchObject({ code: 'journal_damaged', offset: 8 });
    expect((await readFile(path)).equals(damaged)).toBe(true);
    await journal.close();
  });
});

test('a close stops it', async () => {
  const journal = await fileJournal(path);
  const all = fill(journal, 60);
  const compaction = journal.compact();
  const rejected = expect(compaction).rejects.toMatchObject({ code: 'journal_closed' });
  await journal.close();
  await rejected;
  await expect(journal.compact()).rejects.toMatchObject({ code: 'journal_closed' });
  expect(await readdir(folder)).toEqual(['run.journal']);
  expect(await collect(readJournalFile(path))).toEqual(all);
});
