/** What a crash, a power cut or a bad disk makes of a file: F1, F2 (frame-reader.ts), G5 (file-journal.ts). */
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JournalDamagedError } from '../../src/contract/errors.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { crc32c, extendCrc32c } from '../../src/journals/file/crc32c.js';
import { fileJournal, readJournalFile } from '../../src/journals/file/index.js';
import { entry } from '../journal/records.js';
import { property } from '../properties/property.js';
import { makeFolder, removeFolder } from './folder.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await makeFolder();
  path = join(folder, 'run.journal');
});
afterEach(() => removeFolder(folder));

const first = (count: number): JournalRecord[] =>
  Array.from({ length: count }, (_, i) => ({ seq: i + 1, ...entry(i + 1) }));

/** A journal of `count` records; gives where each frame begins, and where the last ends. */
async function write(count: number): Promise<number[]> {
  const journal = await fileJournal(path);
  for (let n = 1; n <= count; n++) journal.append(entry(n));
  await journal.close();
  return framesOf(await readFile(path));
}

function framesOf(bytes: Buffer): number[] {
  const starts: number[] = [];
  let at = 8;
  for (; at + 8 <= bytes.length; at += 8 + bytes.readUInt32LE(at)) starts.push(at);
  return [...starts, at];
}

/** What a reader gets, and what it comes upon. */
async function readAll(from = path): Promise<{ records: JournalRecord[]; thrown?: unknown }> {
  const records: JournalRecord[] = [];
  try {
    for await (const record of readJournalFile(from)) records.push(record);
    return { records };
  } catch (thrown) {
    return { records, thrown };
  }
}

/** The file that the journal is, changed. */
async function change(edit: (bytes: Buffer) => Uint8Array | undefined): Promise<void> {
  const bytes = await readFile(path);
  await writeFile(path, edit(bytes) ?? bytes);
}

/** It is read without what is torn; the next writer cuts that off and goes on. */
async function expectTorn(sound: number): Promise<void> {
  expect(await readAll()).toEqual({ records: first(sound) });
  const journal = await fileJournal(path);
  expect(journal.append(entry(sound + 1))).toBe(sound + 1);
  await journal.close();
  expect(await readAll()).toEqual({ records: first(sound + 1) });
  // nothing of what was torn is left
  const bytes = await readFile(path);
  expect(framesOf(bytes).at(-1)).toBe(bytes.length);
}

/** What is sound is read, then the error comes; no writer opens it, and nobody touches it. */
async function expectDamaged(sound: number, offset: number): Promise<void> {
  const before = await readFile(path);
  const { records, thrown } = await readAll();
  expect(records).toEqual(first(sound));
  expect(thrown).toBeInstanceOf(JournalDamagedError);
  expect(thrown).toMatchObject({ code: 'journal_damaged', offset });
  await expect(fileJournal(path)).rejects.toMatchObject({ code: 'journal_damaged', offset });
  expect((await readFile(path)).equals(before)).toBe(true);
}

describe('a torn tail', () => {
  test('wherever the last frame is cut off, it is dropped, and cut off by the next writer', async () => {
    const [, , last = 0, end = 0] = await write(3);
    const whole = await readFile(path);
    for (let length = last + 1; length < end; length++) {
      await writeFile(path, whole.subarray(0, length));
      expect(await readAll(), `cut to ${length}`).toEqual({ records: first(2) });
      if (length % 16 === 0 || length < last + 10) await expectTorn(2);
    }
  });

  test('zeros behind the last frame, few or many', async () => {
    await write(2);
    for (const zeros of [1, 7, 8, 9, 300_000]) {
      await appendFile(path, Buffer.alloc(zeros));
      expect(await readAll()).toEqual({ records: first(2) });
    }
    await expectTorn(2);
  });

  test('a last frame whose bytes did not arrive, with nothing behind it', async () => {
    const [, , last = 0, end = 0] = await write(3);
    await change((bytes) => bytes.fill(0, last + 12, end));
    await expectTorn(2);
  });

  test('the same, with zeros behind it', async () => {
    const [, , last = 0, end = 0] = await write(3);
    await change((bytes) => Buffer.concat([bytes.fill(0, last + 12, end), Buffer.alloc(5_000)]));
    await expectTorn(2);
  });

  test('less than the head of a frame, right behind the header', async () => {
    await write(0);
    await appendFile(path, Buffer.from([7, 0, 0]));
    await expectTorn(0);
    await truncate(path, 8);
    await expectTorn(0);
  });

  test('that is longer than what is written next', async () => {
    await write(1);
    const journal = await fileJournal(path, { payloads: 'keep' });
    journal.append({ ...entry(2), did: [{ effect: 'publish', payload: new Uint8Array(9_000).fill(7) }] });
    await journal.close();
    await truncate(path, (await readFile(path)).length - 1);
    await expectTorn(1);
  });

  test('a length that is longer than any, with nothing sound behind it', async () => {
    await write(1);
    await appendFile(path, Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0x7f]), Buffer.alloc(300_000, 8)]));
    await expectTorn(1);
  });
});

describe('damage', () => {
  test('a bit of the length, the checksum or the record, in the middle: the offset of the frame', async () => {
    const frames = await write(5);
    const start = frames[2] as number;
    const whole = await readFile(path);
    // a length that leads behind the file looks like a torn tail, but for the sound frames that stand there
    for (const at of [0, 1, 2, 3, 4, 7, 8, 20]) {
      for (const bit of [0, 3, 7]) {
        const damaged = Buffer.from(whole);
        damaged[start + at] = (damaged[start + at] as number) ^ (1 << bit);
        await writeFile(path, damaged);
        await expectDamaged(2, start);
      }
    }
  });

  test('a length that leads behind the file, and the next sound frame far behind it', async () => {
    const journal = await fileJournal(path, { payloads: 'keep' });
    journal.append(entry(1));
    const payload = new Uint8Array(700_000).fill(8);
    journal.append({ ...entry(2), did: [{ effect: 'publish', payload }] });
    journal.append(entry(3));
    await journal.close();
    const whole = await readFile(path);
    const start = 8 + 8 + whole.readUInt32LE(8);
    await change((bytes) => bytes.fill(0x7f, start + 3, start + 4));
    await expectDamaged(1, start);
  });

  test('zeros in the middle', async () => {
    const [, start = 0, next = 0] = await write(3);
    await change((bytes) => bytes.fill(0, start, next));
    await expectDamaged(1, start);
  });

  test('a frame with the right checksum that holds no record, even where it is the last', async () => {
    const [, end = 0] = await write(1);
    const frame = Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x02]);
    frame.writeUInt32LE(crc32c(frame, 8, 10), 4);
    await appendFile(path, frame);
    await expectDamaged(1, end);
  });

  test('a frame that comes twice', async () => {
    const [, start = 0, end = 0] = await write(2);
    await change((bytes) => Buffer.concat([bytes, bytes.subarray(start, end)]));
    await expectDamaged(2, end);
  });
});

test('the checksum is CRC-32C', () => {
  const bytes = new TextEncoder().encode('..123456789');
  expect(crc32c(bytes, 2, bytes.length)).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32).fill(0xff), 0, 32)).toBe(0x62a8ab43);
  expect(crc32c(bytes, 0, 0)).toBe(0);
});

property(
  'the checksum of bytes is that of all their bits, wherever they stand and however they are cut',
  // long enough for what is taken sixteen at a time, and for what is left over
  fc.tuple(fc.uint8Array({ minLength: 32, maxLength: 120 }), fc.nat({ max: 16 }), fc.nat({ max: 16 })),
  ([bytes, start, less]) => {
    const end = bytes.length - less;
    let crc = -1;
    for (const byte of bytes.subarray(start, end)) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    }
    expect(crc32c(bytes, start, end)).toBe(~crc >>> 0);
    const middle = (start + end) >> 1;
    expect(extendCrc32c(crc32c(bytes, start, middle), bytes.subarray(middle), 0, end - middle)).toBe(~crc >>> 0);
  },
);

const damages = fc.record({
  at: fc.nat(),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }),
  cut: fc.option(fc.nat()),
});
property(
  'whatever happens to a file, a reader gets a beginning of what was written, then no more or the typed error; a writer sees the same',
  damages,
  async ({ at, bytes, cut }) => {
    const own = await makeFolder();
    const file = join(own, 'run.journal');
    const journal = await fileJournal(file, { durable: false });
    for (let n = 1; n <= 20; n++) journal.append(entry(n));
    await journal.close();
    const whole = await readFile(file);
    const damaged = Buffer.from(whole);
    damaged.set(bytes.subarray(0, whole.length - (at % whole.length)), at % whole.length);
    await writeFile(file, cut === null ? damaged : damaged.subarray(0, cut % whole.length));
    const { records, thrown } = await readAll(file);
    const code = (thrown as { code?: unknown } | undefined)?.code;
    expect(['journal_damaged', 'journal_format', undefined]).toContain(code);
    expect(records).toEqual(first(records.length));
    const opening = fileJournal(file, { durable: false });
    if (code === undefined) await (await opening).close();
    else await expect(opening).rejects.toMatchObject({ code });
    await removeFolder(own);
  },
  0.2,
);
