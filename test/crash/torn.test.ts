/** Journals of killed processes whose last bytes are missing, or whose bytes are others. */
import { copyFile, open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JournalDamagedError } from '../../src/contract/errors.js';
import type { Journal, JournalRecord } from '../../src/contract/journal.js';
import { fileJournal, readJournalFile } from '../../src/journals/file/index.js';
import { type Recovery, recover } from '../../src/runtime/index.js';
import { verify } from '../../src/verify/index.js';
import { LeftJournal } from '../runtime/recover/world.js';
import { listeners } from './listeners.js';
import { openWorkshop, type Remains, runAndKill, type Workshop } from './program.js';

/** Of the file: eight bytes, then frames of a length, a checksum and a record. */
const header = 8;
const frameHead = 8;

let workshop: Workshop;
let remains: Remains;
let bytes: Buffer;
let records: JournalRecord[];
/** Where each record's frame begins, and where the last one ends. */
let frames: number[];

beforeAll(async () => {
  workshop = await openWorkshop();
  const stopAt = { intent: 'publish', place: 'when it is durable', nth: 12 } as const;
  remains = await runAndKill(workshop, { name: 'torn', seed: 5, stopAt });
  // whole, as the next writer leaves it
  await (await fileJournal(remains.journal)).close();
  bytes = await readFile(remains.journal);
  records = await all(readJournalFile(remains.journal));
  frames = [header];
  for (let at = header; at < bytes.length; ) {
    at += frameHead + bytes.readUInt32LE(at);
    frames.push(at);
  }
});
afterAll(() => workshop.remove());

async function all(source: AsyncIterable<JournalRecord>): Promise<JournalRecord[]> {
  const found: JournalRecord[] = [];
  for await (const record of source) found.push(record);
  return found;
}

/** What a recovery has said, in short. */
function saidBy({ sessions, calls, conversations }: Recovery): unknown {
  return {
    sessions: sessions.map(({ id, state, reason }) => [id, state, reason]),
    calls: calls.map(({ sessionId, id, state, outcome, code, notice }) => [
      sessionId,
      id,
      state,
      outcome,
      code,
      notice,
    ]),
    conversations: conversations.map(({ id, version, phase }) => [id, version, phase]),
  };
}

test('the frames are where the page of the journal says', () => {
  expect(frames).toHaveLength(records.length + 1);
  expect(frames.at(-1)).toBe(bytes.length);
  expect(records.length).toBeGreaterThan(50);
});

describe('a journal that is cut off', () => {
  const said = new Map<number, unknown>();
  /** What is to be said of the first `count` records. */
  async function expected(count: number): Promise<unknown> {
    const known = said.get(count);
    if (known !== undefined) return known;
    const { tools } = listeners(records);
    const says = saidBy(await recover(new LeftJournal(records.slice(0, count)), { tools, calls: 'all' }));
    said.set(count, says);
    return says;
  }

  async function check(path: string, count: number): Promise<void> {
    const journal = await fileJournal(path);
    try {
      const recovery = await recover(journal, { ...listeners(records), calls: 'all' });
      expect(saidBy(recovery)).toEqual(await expected(count));
      expect((await verify(journal)).findings).toEqual([]);
    } finally {
      await journal.close();
    }
  }

  test('at any byte of its last three records is recovered as if they had not been written', async () => {
    const first = frames.at(-4) as number;
    for (let size = first; size < bytes.length; size++) {
      const path = join(workshop.folder, 'cut.journal');
      await copyFile(remains.journal, path);
      await truncate(path, size);
      await check(
        path,
        frames.findLastIndex((end) => end <= size),
      );
    }
    expect(said.size).toBe(3);
  });

  test('and has nothing but zeros where its last bytes were: the same', async () => {
    const first = frames.at(-2) as number;
    for (let size = first; size < bytes.length; size += 7) {
      const path = join(workshop.folder, 'zeros.journal');
      const cut = Buffer.from(bytes);
      cut.fill(0, size);
      await writeFile(path, cut);
      await check(path, records.length - 1);
    }
  });
});

describe('a journal that is damaged in the middle', () => {
  test('is not recovered: the place is named, nothing is told and nothing is written', async () => {
    for (let number = 0; number < records.length - 1; number += 7) {
      const start = frames[number] as number;
      const end = frames[number + 1] as number;
      for (const at of [start + 4, start + frameHead, end - 1]) {
        const path = join(workshop.folder, 'damaged.journal');
        await copyFile(remains.journal, path);
        const file = await open(path, 'r+');
        await file.write(Buffer.from([(bytes[at] as number) ^ 0x40]), 0, 1, at);
        await file.close();
        const before = await readFile(path);
        // whoever wants to write it is refused already; whoever only reads it comes as far as the damage
        await expect(fileJournal(path)).rejects.toMatchObject({ code: 'journal_damaged', offset: start });
        const journal: Journal = {
          durable: true,
          append: () => expect.unreachable('nothing is written'),
          flush: () => expect.unreachable('nothing is flushed'),
          read: () => readJournalFile(path),
        };
        const { tools, told } = listeners(records);
        const failure = await recover(journal, { tools }).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(JournalDamagedError);
        expect(failure).toMatchObject({ offset: start });
        expect([...told]).toEqual([]);
        expect(before.equals(await readFile(path))).toBe(true);
      }
    }
  });
});
