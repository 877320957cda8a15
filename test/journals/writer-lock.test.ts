/** One writer at a time: W1–W3 (writer-lock.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeDisk } from '../../src/journals/file/disk.js';
import { type FileJournal, fileJournal, readJournalFile } from '../../src/journals/file/index.js';
import { openFileJournal } from '../../src/journals/file/open-file.js';
import { entry } from '../journal/records.js';
import { bundle } from '../runtime/child.js';
import { collect } from './contract.js';
import { makeFolder, removeFolder } from './folder.js';

let programs: string;
let holder: string;
let rounds: string;
let leaver: string;
beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), 'commitpoint-programs-'));
  const children = fileURLToPath(new URL('children/', import.meta.url));
  holder = await bundle(join(children, 'holder.ts'), programs);
  leaver = await bundle(join(children, 'leaver.ts'), programs);
  rounds = await bundle(join(children, 'rounds.ts'), programs);
});
afterAll(() => rm(programs, { recursive: true, force: true }));

let folder: string;
let path: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'run.journal');
});
afterEach(async () => {
  await Promise.all(children.splice(0).map(killed));
  await removeFolder(folder);
});

function started(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

/** The first thing that a program prints. */
function said(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    child.once('error', reject);
  });
}

function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => {
    child.once('exit', resolve);
  });
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended(child);
}

/** What stands in the lock of a journal that is held, with changes; held by nobody then. */
async function lockWith(changes: object): Promise<string> {
  const journal = await fileJournal(path);
  const lock = JSON.parse(await readFile(`${path}.lock`, 'utf8'));
  await journal.close();
  return JSON.stringify({ ...lock, ...changes });
}

const dead = { token: 'of-the-dead', began: '1' };

describe('another process', () => {
  test('that writes is named; that was killed does not lock, and what it flushed is there', async () => {
    const child = started(holder, path);
    const pid = await said(child);
    await expect(fileJournal(path)).rejects.toMatchObject({
      code: 'journal_locked',
      message: expect.stringContaining(`process ${pid} on `),
    });
    // reading needs no lock
    expect((await collect(readJournalFile(path))).length).toBe(1);
    await killed(child);
    const journal = await fileJournal(path);
    expect(journal.append(entry(2))).toBe(2);
    await journal.close();
    expect(await readdir(folder)).toEqual(['run.journal']);
  });

  test('that ends without a close is not held up, does not lock, and has written what it appended', async () => {
    expect(await ended(started(leaver, path))).toBe(0);
    expect(await readdir(folder)).toEqual(['run.journal', 'run.journal.lock']);
    const journal = await fileJournal(path);
    expect(journal.append(entry(2))).toBe(2);
    await journal.close();
  });

  // needs a process whose parent does not bury it, and a system that says so
  test.skipIf(process.platform !== 'linux')('that is dead and not yet buried does not lock', async () => {
    const script = `"${process.execPath}" "${holder}" "${path}" & exec sleep 1000`;
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(parent);
    const pid = Number(await said(parent));
    await expect(fileJournal(path)).rejects.toMatchObject({ code: 'journal_locked' });
    process.kill(pid, 'SIGKILL');
    const isZombie = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') Z ');
    while (!(await isZombie()));
    await (await fileJournal(path)).close();
  });

  test('that has the number of a dead one does not lock (W2)', async () => {
    await writeFile(`${path}.lock`, await lockWith({ ...dead, pid: process.ppid }));
    await (await fileJournal(path)).close();
    // this very process, as it has the number of one before it
    await writeFile(`${path}.lock`, await lockWith(dead));
    await (await fileJournal(path)).close();
    expect(await readdir(folder)).toEqual(['run.journal']);
  });

  test.each([
    ['on another machine', { host: 'elsewhere' }, 'on elsewhere'],
    ['in another container', { realm: 'another' }, 'process'],
  ])('%s counts as gone when it gives no sign of life (W2)', async (_, changes, named) => {
    const lock = `${path}.lock`;
    await writeFile(lock, await lockWith({ token: 'of-another', pid: 2 ** 22 + 1, ...changes }));
    await expect(fileJournal(path)).rejects.toMatchObject({
      code: 'journal_locked',
      message: expect.stringContaining(named),
    });
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(lock, longAgo, longAgo);
    await (await fileJournal(path)).close();
  });

  test('whose lock cannot be read counts as gone after a while', async () => {
    const lock = `${path}.lock`;
    for (const text of ['', 'something', '{"token":"../../x","pid":1}', 'null']) {
      await writeFile(lock, text);
      await expect(fileJournal(path)).rejects.toMatchObject({ code: 'journal_locked' });
      const longAgo = new Date(Date.now() - 60_000);
      await utimes(lock, longAgo, longAgo);
      await (await fileJournal(path)).close();
    }
  });
});

describe('many at once (W1)', () => {
  const openings = (count: number) => Promise.allSettled(Array.from({ length: count }, () => fileJournal(path)));
  const had = (results: PromiseSettledResult<FileJournal>[]) =>
    results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

  test.each([
    ['nobody', []],
    ['one that died', ['run.journal.lock']],
    ['one that died, and one that died in its succession', ['run.journal.lock', 'run.journal.lock.after-of-the-dead']],
  ])('one has it, after %s', async (_, locks) => {
    for (let round = 0; round < 10; round++) {
      const left: [string, string][] = [];
      for (const [depth, name] of locks.entries()) {
        const token = depth === 0 ? dead.token : `${dead.token}-${depth}`;
        left.push([join(folder, name), await lockWith({ ...dead, token })]);
      }
      for (const [lock, text] of left) await writeFile(lock, text);
      const results = await openings(12);
      const [journal, another] = had(results);
      expect(another).toBeUndefined();
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'journal_locked' });
      }
      expect(journal).toBeDefined();
      await journal?.close();
      expect(await readdir(folder)).toEqual(['run.journal']);
    }
  });

  test('processes that open and close it all the time never have it together, and lose nothing', async () => {
    await writeFile(`${path}.lock`, await lockWith(dead));
    const running = Array.from({ length: 3 }, () => started(rounds, path, '40'));
    const counts = running.map(said);
    expect(await Promise.all(running.map(ended))).toEqual([0, 0, 0]);
    expect(await Promise.all(counts)).toEqual(['40', '40', '40']);
    const seqs = (await collect(readJournalFile(path))).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
    expect(await readdir(folder)).toEqual(['run.journal']);
  });
});

describe('a holder that was stopped for long (W3)', () => {
  test('writes on where the lock is still its own, and not where another has it', async () => {
    let now = 0;
    const journal = await openFileJournal(path, {}, nodeDisk, () => now);
    journal.append(entry(1));
    await journal.flush();
    now += 60_000;
    journal.append(entry(2));
    await journal.flush();
    const before = await readFile(path);
    const own = await readFile(`${path}.lock`, 'utf8');
    const taken = JSON.stringify({ ...JSON.parse(own), token: 'of-another', pid: process.ppid });
    await rm(`${path}.lock`);
    await writeFile(`${path}.lock`, taken);
    now += 60_000;
    journal.append(entry(3));
    await expect(journal.flush()).rejects.toMatchObject({
      code: 'journal_failed',
      cause: expect.objectContaining({ code: 'journal_locked' }),
    });
    expect((await readFile(path)).equals(before)).toBe(true);
    await journal.close();
    // the other's lock is the other's
    expect(await readFile(`${path}.lock`, 'utf8')).toBe(taken);
  });
});
