/** Disks that fail: G1–G4 (file-journal.ts). The real disk, with a hand on it; and a real one that is full. */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JournalFailedError } from '../../src/contract/errors.js';
import { fileJournal, readJournalFile } from '../../src/journals/file/index.js';
import { openFileJournal } from '../../src/journals/file/open-file.js';
import { entry } from '../journal/records.js';
import { collect, recordsOf } from './contract.js';
import { diskWith, Gate, type Operation, SystemError } from './failing-disk.js';
import { makeFolder, removeFolder } from './folder.js';
import { canMount } from './mounting.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'run.journal');
});
afterEach(() => removeFolder(folder));

const failed = (code: string) => ({ code: 'journal_failed', cause: expect.objectContaining({ code }) });
const seqsIn = async (file: string) => (await collect(readJournalFile(file))).map(({ seq }) => seq);

/** A disk whose operations of a kind fail from when `broken.code` is set. */
function breaking(kind: Operation) {
  const broken: { code?: string } = {};
  const disk = diskWith((operation) => {
    if (operation === kind && broken.code !== undefined) throw new SystemError(broken.code);
  });
  return { broken, disk };
}

describe.each([
  ['write', 'ENOSPC'],
  ['write', 'EIO'],
  ['sync', 'EIO'],
] as const)('a %s that fails with %s', (kind, code) => {
  test('rejects what waits, refuses what comes, keeps what was flushed, and can be closed (G3)', async () => {
    const { broken, disk } = breaking(kind);
    const journal = await openFileJournal(path, {}, disk);
    journal.append(entry(1));
    await journal.flush();
    broken.code = code;
    journal.append(entry(2));
    const flushes = [journal.flush(), journal.flush()];
    journal.append(entry(3));
    const later = journal.flush();
    for (const flush of [...flushes, later]) await expect(flush).rejects.toMatchObject(failed(code));
    // the disk is well again: that says nothing of what it has lost
    delete broken.code;
    expect(() => journal.append(entry(4))).toThrow(expect.objectContaining(failed(code)));
    await expect(journal.flush()).rejects.toMatchObject(failed(code));
    await expect(journal.compact()).rejects.toMatchObject(failed(code));
    expect((await recordsOf(journal))[0]).toEqual({ seq: 1, ...entry(1) });
    await journal.close();
    const again = await fileJournal(path);
    expect((await recordsOf(again))[0]).toEqual({ seq: 1, ...entry(1) });
    await again.close();
  });

  test('that nobody waits for is told by the close', async () => {
    const { broken, disk } = breaking(kind);
    const journal = await openFileJournal(path, {}, disk);
    journal.append(entry(1));
    broken.code = code;
    await expect(journal.close()).rejects.toMatchObject(failed(code));
    // and the lock was given up all the same
    await (await fileJournal(path)).close();
  });
});

test('a write that is taken a few bytes at a time is written whole', async () => {
  const journal = await openFileJournal(
    path,
    {},
    diskWith(() => {}, 7),
  );
  for (let n = 1; n <= 20; n++) journal.append(entry(n));
  await journal.flush();
  expect((await recordsOf(journal)).map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  await journal.close();
});

test('a write that is torn is cut off by the next writer', async () => {
  let writes = 0;
  const disk = diskWith((operation) => {
    if (operation === 'write' && ++writes > 12) throw new SystemError('EIO');
  }, 9);
  const journal = await openFileJournal(path, {}, disk);
  journal.append(entry(1));
  await expect(journal.flush()).rejects.toThrow(JournalFailedError);
  await journal.close();
  expect((await readFile(path)).length).toBeGreaterThan(8);
  expect(await seqsIn(path)).toEqual([]);
  const again = await fileJournal(path);
  expect(again.append(entry(1))).toBe(1);
  await again.close();
  expect(await seqsIn(path)).toEqual([1]);
});

test('one group is on its way at a time, and all that is appended meanwhile goes with the next (G1, G2)', async () => {
  const operations: Operation[] = [];
  const gate = new Gate();
  const disk = diskWith((operation) => {
    operations.push(operation);
    if (operation !== 'sync') return;
    syncing();
    return gate.pass();
  });
  let syncing = () => {};
  const journal = await openFileJournal(path, {}, disk);
  operations.length = 0;
  gate.shut();
  const isSyncing = new Promise<void>((resolve) => {
    syncing = resolve;
  });
  const settled: number[] = [];
  const commit = async (n: number) => {
    journal.append(entry(n));
    await journal.flush();
    settled.push(n);
  };
  const first = commit(1);
  await isSyncing;
  const others = Array.from({ length: 500 }, (_, i) => commit(i + 2));
  expect(settled).toEqual([]);
  gate.open();
  await Promise.all([first, ...others]);
  expect(operations).toEqual(['write', 'sync', 'write', 'sync']);
  expect(settled).toEqual(Array.from({ length: 501 }, (_, i) => i + 1));
  // what is durable already is not made durable again
  await journal.flush();
  expect(operations.length).toBe(4);
  await journal.close();
});

test('a journal that is not durable asks for no sync', async () => {
  const operations: Operation[] = [];
  const disk = diskWith((operation) => {
    operations.push(operation);
  });
  const journal = await openFileJournal(path, { durable: false }, disk);
  operations.length = 0;
  journal.append(entry(1));
  await journal.flush();
  expect(await seqsIn(path)).toEqual([1]);
  await journal.close();
  expect(operations).not.toContain('sync');
});

test('what waits is bounded: an append beyond it is refused, and what waits is written (G4)', async () => {
  const gate = new Gate();
  const disk = diskWith((operation) => (operation === 'write' ? gate.pass() : undefined));
  const journal = await openFileJournal(path, { maxBufferedBytes: 10_000 }, disk);
  gate.shut();
  let appended = 0;
  const append = () => {
    for (;;) {
      journal.append(entry(appended + 1));
      appended++;
    }
  };
  expect(append).toThrow(expect.objectContaining({ code: 'journal_failed' }));
  expect(appended).toBeGreaterThan(50);
  expect(append).toThrow('more than 10000 bytes wait to be written');
  const flushed = journal.flush();
  gate.open();
  await flushed;
  expect(journal.append(entry(appended + 1))).toBe(appended + 1);
  await journal.close();
  expect(await seqsIn(path)).toEqual(Array.from({ length: appended + 1 }, (_, i) => i + 1));
});

test.each(['open', 'write', 'sync', 'rename', 'syncFolder'] as const)(
  'a journal that cannot be made, by %s: the error, no lock, and the next one makes it',
  async (kind) => {
    const { broken, disk } = breaking(kind);
    broken.code = 'EIO';
    await expect(openFileJournal(path, {}, disk)).rejects.toMatchObject(failed('EIO'));
    const journal = await fileJournal(path);
    expect(journal.append(entry(1))).toBe(1);
    await journal.close();
    expect((await readdir(folder)).sort()).toEqual(['run.journal']);
  },
);

// a small disk has to be mounted, which not everybody may
test.skipIf(!canMount)(
  'a disk that is full: what was flushed before is there, and room makes it usable again',
  async () => {
    const small = join(folder, 'small');
    await mkdir(small);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'commitpoint', small]).status).toBe(0);
    try {
      const file = join(small, 'run.journal');
      const journal = await fileJournal(file);
      let flushed = 0;
      const fill = async () => {
        for (;;) {
          for (let n = 0; n < 100; n++) journal.append(entry(n));
          await journal.flush();
          flushed += 100;
        }
      };
      await expect(fill()).rejects.toMatchObject(failed('ENOSPC'));
      expect(flushed).toBeGreaterThan(100);
      expect(() => journal.append(entry(1))).toThrow(expect.objectContaining(failed('ENOSPC')));
      await journal.close();
      const found = await seqsIn(file);
      expect(found.length).toBeGreaterThanOrEqual(flushed);
      expect(found).toEqual(Array.from({ length: found.length }, (_, i) => i + 1));
      expect(spawnSync('mount', ['-o', 'remount,size=1m', small]).status).toBe(0);
      const again = await fileJournal(file);
      expect(again.append(entry(1))).toBe(found.length + 1);
      await again.flush();
      await again.close();
    } finally {
      spawnSync('umount', [small]);
    }
  },
);
