/** What every journal promises, whatever it keeps its records in. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Journal, JournalRecord } from '../../src/contract/journal.js';
import { entries, entry } from '../journal/records.js';
import { runs } from '../properties/property.js';

/** A journal that can be closed. */
export type Closable = Journal & { close(): void | Promise<void> };

/** One kind of journal, for {@link journalContract}. */
export interface Kind {
  /** A journal with nothing in it. */
  make(): Promise<Closable>;
  /** Opens again what the journal that was made last has left; absent where nothing is left. */
  reopen?(): Promise<Closable>;
  /** After each test. */
  clean?(): Promise<void>;
}

/** The records of a journal, from the first on. */
export async function recordsOf(journal: Pick<Journal, 'read'>): Promise<JournalRecord[]> {
  return collect(journal.read());
}

/** All that an iterable gives. */
export async function collect<Value>(source: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const one of source) all.push(one);
  return all;
}

export function journalContract(name: string, { make, reopen, clean }: Kind): void {
  describe(`journal contract: ${name}`, () => {
    afterEach(async () => {
      await clean?.();
    });

    test('gives back what was appended, with its seq from 1', async () => {
      const journal = await make();
      const seqs = [1, 2, 3].map((n) => journal.append(entry(n)));
      expect(seqs).toEqual([1, 2, 3]);
      expect(await recordsOf(journal)).toEqual([1, 2, 3].map((n) => ({ seq: n, ...entry(n) })));
      await journal.close();
    });

    test('gives back every record as it was', async () => {
      const journal = await make();
      const appended = fc.sample(entries, Math.min(runs, 300));
      for (const one of appended) journal.append(one);
      await journal.flush();
      expect(await recordsOf(journal)).toEqual(appended.map((one, index) => ({ seq: index + 1, ...one })));
      await journal.close();
    });

    test('reads what was appended before, without a flush, and may be written meanwhile', async () => {
      const journal = await make();
      for (let n = 1; n <= 1_000; n++) journal.append(entry(n));
      const read: number[] = [];
      for await (const { seq } of journal.read()) {
        read.push(seq);
        if (seq <= 500) journal.append(entry(1_000 + seq));
      }
      expect(read.slice(0, 1_000)).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 1));
      expect((await recordsOf(journal)).length).toBe(1_500);
      await journal.close();
    });

    test('is read by several at once, each from the first record on', async () => {
      const journal = await make();
      for (let n = 1; n <= 300; n++) journal.append(entry(n));
      const [all, few] = await Promise.all([recordsOf(journal), firstOf(journal, 10)]);
      expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
      expect(few.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      await journal.close();
    });

    test('a flush with nothing to do settles, and so do many at once', async () => {
      const journal = await make();
      await journal.flush();
      const flushes = Array.from({ length: 100 }, (_, n) => {
        journal.append(entry(n));
        return journal.flush();
      });
      await Promise.all(flushes);
      expect((await recordsOf(journal)).length).toBe(100);
      await journal.close();
    });

    test('takes nothing after it was closed, can be closed again, and is still read', async () => {
      const journal = await make();
      journal.append(entry(1));
      await journal.close();
      await journal.close();
      expect(() => journal.append(entry(2))).toThrow(expect.objectContaining({ code: 'journal_closed' }));
      await journal.flush();
      expect(await recordsOf(journal)).toEqual([{ seq: 1, ...entry(1) }]);
    });

    if (reopen !== undefined) {
      test('an entry that no field can hold is refused, and leaves nothing behind', async () => {
        const journal = await make();
        journal.append(entry(1));
        const bad = { ...entry(2), cause: -1 };
        expect(() => journal.append(bad)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
        expect(journal.append(entry(2))).toBe(2);
        expect(await recordsOf(journal)).toEqual([1, 2].map((n) => ({ seq: n, ...entry(n) })));
        await journal.close();
      });

      test('goes on with seq and records when it is opened again', async () => {
        const journal = await make();
        for (let n = 1; n <= 3; n++) journal.append(entry(n));
        await journal.close();
        const again = await reopen();
        expect(again.append(entry(4))).toBe(4);
        await again.flush();
        expect(await recordsOf(again)).toEqual([1, 2, 3, 4].map((n) => ({ seq: n, ...entry(n) })));
        await again.close();
      });

      test('has one writer: the second is told who has it, and may have it after the close', async () => {
        const journal = await make();
        await expect(reopen()).rejects.toMatchObject({
          code: 'journal_locked',
          message: expect.stringContaining(`this process (pid ${process.pid})`),
        });
        journal.append(entry(1));
        await journal.close();
        const again = await reopen();
        expect(again.append(entry(2))).toBe(2);
        await again.close();
      });
    }
  });
}

async function firstOf(journal: Journal, count: number): Promise<JournalRecord[]> {
  const found: JournalRecord[] = [];
  for await (const record of journal.read()) {
    found.push(record);
    if (found.length === count) break;
  }
  return found;
}
