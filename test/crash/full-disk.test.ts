/** Journals that can be written no more: the session ends and says so, nothing hangs, and what was done is still told of truly. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Disk, type DiskFile, nodeDisk } from '../../src/journals/file/disk.js';
import { fileJournal } from '../../src/journals/file/index.js';
import { openFileJournal } from '../../src/journals/file/open-file.js';
import { recover } from '../../src/runtime/index.js';
import { verify } from '../../src/verify/index.js';
import { bundle } from '../runtime/child.js';
import { expectNoHarm } from '../runtime/no-harm.js';
import { untruthsOf } from '../runtime/recover/truth.js';
import { listeners } from './listeners.js';
import { liveUntilFull } from './until-full.js';

expectNoHarm();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'full-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A disk that takes so many bytes, the last write in part, or that fails to flush after so many flushes. */
function failingDisk({ bytes = Infinity, flushes = Infinity }: { bytes?: number; flushes?: number }): Disk {
  let left = bytes;
  let syncs = 0;
  const failing = (file: DiskFile): DiskFile => ({
    size: () => file.size(),
    read: (...where) => file.read(...where),
    truncate: (size) => file.truncate(size),
    close: () => file.close(),
    async write(from, offset, length, position) {
      if (left === 0) throw Object.assign(new RangeError('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      const taken = await file.write(from, offset, Math.min(length, left), position);
      left -= taken;
      return taken;
    },
    sync() {
      if (++syncs > flushes) throw Object.assign(new RangeError('EIO: i/o error, fsync'), { code: 'EIO' });
      return file.sync();
    },
  });
  return {
    ...nodeDisk,
    async open(path, mode) {
      const file = await nodeDisk.open(path, mode);
      return file && failing(file);
    },
  };
}

async function checkWith(name: string, disk: Disk): Promise<number> {
  const path = join(folder, name);
  const journal = await openFileJournal(path, { payloads: 'keep' }, disk);
  const { report, errors, facts } = await liveUntilFull(journal);
  expect([report.reason, errors.length], errors.join()).toEqual(['journal_failed', 1]);
  expect(report.calls.filter(({ state }) => !finals.has(state))).toEqual([]);
  await journal.close().catch(() => {});
  const mended = await fileJournal(path);
  const records = [];
  for await (const record of mended.read()) records.push(record);
  const recovery = await recover(mended, { ...listeners(records), calls: 'all' });
  expect(untruthsOf(recovery, facts, true)).toEqual([]);
  expect((await verify(mended)).findings).toEqual([]);
  await mended.close();
  return recovery.calls.length;
}

const finals = new Set(['completed', 'rejected', 'unconfirmed', 'abandoned', 'cancelled']);

describe('a disk', () => {
  test('that is full at whatever byte', async () => {
    let calls = 0;
    for (let bytes = 1_500; bytes < 30_000; bytes += 1_237) {
      calls += await checkWith(`full-${bytes}`, failingDisk({ bytes }));
    }
    expect(calls).toBeGreaterThan(100);
  });

  test('that fails to flush', async () => {
    let calls = 0;
    // the first ones make the file and its first session
    for (let flushes = 3; flushes < 40; flushes += 3) {
      calls += await checkWith(`flush-${flushes}`, failingDisk({ flushes }));
    }
    expect(calls).toBeGreaterThan(30);
  });

  test('that is really full', async (context) => {
    const run = promisify(execFile);
    const inside = join(folder, 'small');
    const shell = `mkdir -p "$0" && mount -t tmpfs -o size=128k tmpfs "$0" && exec "$@"`;
    const alone = ['-rm', 'sh', '-c', shell, inside];
    const canMount = await run('unshare', [...alone, 'true']).then(
      () => true,
      () => false,
    );
    if (!canMount) {
      console.log('skipped: a disk that is really full needs the right to mount one');
      context.skip();
    }
    const program = await bundle(fileURLToPath(new URL('child/full-disk.ts', import.meta.url)), folder);
    const { stdout } = await run('unshare', [...alone, process.execPath, program, inside]);
    const found = JSON.parse(stdout) as Record<string, unknown>;
    expect(found).toMatchObject({ reason: 'journal_failed', bavail: 0, toldWhileFull: 0, wrong: [] });
    expect(found['errors']).toHaveLength(1);
    expect(found['failureWhileFull']).toContain('ENOSPC');
    expect(found['calls']).toBeGreaterThan(5);
  });
});
