/** What is opened as a journal, and how it is read: F3 (frame-reader.ts). */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RecordedEffect } from '../../src/contract/journal.js';
import { digestOf } from '../../src/journal/index.js';
import { fileJournal, readJournalFile } from '../../src/journals/file/index.js';
import { entry } from '../journal/records.js';
import { collect, recordsOf } from './contract.js';
import { makeFolder, removeFolder } from './folder.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'run.journal');
});
afterEach(() => removeFolder(folder));

/** With a digest for a payload, which takes long to compare by its bytes. */
const shown = (did: readonly RecordedEffect[] = []) =>
  did.map(({ payload, ...rest }) => (payload === undefined ? rest : { ...rest, of: digestOf(payload) }));

describe('what is no journal', () => {
  test.each([
    ['an empty file', '', 'an empty file'],
    ['a short one', 'CPJ', 'something else'],
    ['another kind of file', '{"seq":1}\n{"seq":2}\n', 'something else'],
    ['a newer format', 'CPJOURN\u0002and more', 'the format 2'],
  ])('%s: says what was found', async (_, text, found) => {
    await writeFile(path, text);
    const expected = { code: 'journal_format', message: expect.stringContaining(`found ${found}`) };
    await expect(collect(readJournalFile(path))).rejects.toMatchObject(expected);
    await expect(fileJournal(path)).rejects.toMatchObject(expected);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  test('a file that is not there, or is a folder', async () => {
    const unreadable = { code: 'unreadable_file' };
    await expect(collect(readJournalFile(join(folder, 'none')))).rejects.toMatchObject(unreadable);
    await expect(collect(readJournalFile(folder))).rejects.toMatchObject(unreadable);
    const failed = { code: 'journal_failed' };
    await expect(fileJournal(join(folder, 'none', 'run.journal'))).rejects.toMatchObject(failed);
    await mkdir(join(folder, 'a-folder'));
    await expect(fileJournal(join(folder, 'a-folder'))).rejects.toMatchObject(failed);
  });

  test.each([
    { maxBufferedBytes: 0 },
    { maxBufferedBytes: 1.5 },
    { maxBufferedBytes: 2 ** 40 },
    { payloads: 'all' },
    { durable: 'yes' },
  ])('an option that is none: %j', async (options) => {
    await expect(fileJournal(path, options as object)).rejects.toMatchObject({ code: 'invalid_input' });
    // nothing was made, and nothing is locked
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
    await (await fileJournal(path)).close();
  });
});

describe('reading', () => {
  test('goes on over the pieces in which it is read, and over records that are longer than one', async () => {
    const journal = await fileJournal(path, { payloads: 'keep' });
    const sizes = [10, 300_000, 5, 1_000_000, 262_144 - 60, 3];
    const large = sizes.map((size, n) => {
      return { ...entry(n), did: [{ effect: 'publish', payload: new Uint8Array(size).fill(size) }] };
    });
    const small = Array.from({ length: 5_000 }, (_, n) => entry(n));
    const entries = [...large, ...small, ...large, ...small];
    for (const one of entries) journal.append(one);
    await journal.close();
    let seq = 0;
    for await (const record of readJournalFile(path)) {
      const { did, ...rest } = record;
      const expected = entries[seq++];
      if (seq % 100 !== 0 && seq % 5_006 > 7) continue;
      expect({ ...rest, did: shown(did) }).toEqual({ seq, ...expected, did: shown(expected?.did) });
    }
    expect(seq).toBe(entries.length);
    const again = await fileJournal(path);
    expect(again.append(entry(1))).toBe(entries.length + 1);
    expect((await recordsOf(again)).length).toBe(entries.length + 1);
    await again.close();
  });

  test('needs no lock, while another writes', async () => {
    const journal = await fileJournal(path);
    for (const count of [10, 20]) {
      for (let n = count - 9; n <= count; n++) journal.append(entry(n));
      await journal.flush();
      const seqs = (await collect(readJournalFile(path))).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: count }, (_, i) => i + 1));
    }
    await journal.close();
  });

  test('records that are asked for all at once come in order, each once', async () => {
    const journal = await fileJournal(path);
    for (let n = 1; n <= 5_000; n++) journal.append(entry(n));
    await journal.close();
    const stream = readJournalFile(path);
    const asked = await Promise.all(Array.from({ length: 5_010 }, () => stream.next()));
    expect(asked.filter(({ done }) => !done).map(({ value }) => value?.seq)).toEqual(
      Array.from({ length: 5_000 }, (_, i) => i + 1),
    );
    expect(asked.slice(5_000).every(({ done }) => done)).toBe(true);
    expect(await stream.return?.()).toEqual({ done: true, value: undefined });
  });

  test('what was appended and not flushed is in the file soon, without anybody asking', async () => {
    const journal = await fileJournal(path);
    for (let n = 1; n <= 3; n++) journal.append(entry(n));
    const seen = async () => (await collect(readJournalFile(path))).length;
    while ((await seen()) < 3);
    expect(await seen()).toBe(3);
    await journal.close();
  });

  test('a journal that is called by another name is the same one, and has one writer', async () => {
    const journal = await fileJournal(path);
    const other = join(folder, 'other.journal');
    await symlink(path, other);
    await expect(fileJournal(other)).rejects.toMatchObject({ code: 'journal_locked' });
    await journal.close();
    const again = await fileJournal(other);
    expect(again.append(entry(1))).toBe(1);
    await again.close();
    expect((await collect(readJournalFile(path))).length).toBe(1);
  });

  test('is closed when its scope ends', async () => {
    {
      await using journal = await fileJournal(path);
      journal.append(entry(1));
    }
    await using journal = await fileJournal(path);
    expect(journal.append(entry(2))).toBe(2);
  });
});
