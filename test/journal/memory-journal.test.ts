/** The journal in memory: N1, N2 (memory-journal.ts). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryJournal } from '../../src/journal/index.js';
import { property } from '../properties/property.js';
import { entry } from './records.js';

describe('bounded', () => {
  const bounds = fc.record({ maxRecords: fc.integer({ min: 1, max: 20 }), appended: fc.nat({ max: 100 }) });
  property('holds the last ones, with their seq (N1)', bounds, async ({ maxRecords, appended }) => {
    const journal = memoryJournal({ maxRecords });
    const seqs: number[] = [];
    for (let n = 1; n <= appended; n++) {
      seqs.push(n);
      expect(journal.append(entry(n))).toBe(n);
      if (n % 7 === 0) expect(journal.records.length).toBe(Math.min(n, maxRecords));
    }
    const left = seqs.slice(-maxRecords).map((seq) => ({ seq, ...entry(seq) }));
    const read = [];
    for await (const record of journal.read()) read.push(record);
    expect(read).toEqual(left);
    expect(journal.records).toEqual(left);
  });

  test('what goes while it is read is not read; what comes is not read either (N2)', async () => {
    const journal = memoryJournal({ maxRecords: 10 });
    for (let n = 1; n <= 10; n++) journal.append(entry(n));
    const read: number[] = [];
    for await (const { seq } of journal.read()) {
      read.push(seq);
      // the oldest six go while the second is read
      if (seq === 2) for (let n = 11; n <= 16; n++) journal.append(entry(n));
    }
    expect(read).toEqual([1, 2, 7, 8, 9, 10]);
  });

  test('holds a million, where nothing else is said', () => {
    expect(memoryJournal().maxRecords).toBe(1_000_000);
    expect(memoryJournal({ maxRecords: Number.POSITIVE_INFINITY }).maxRecords).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([0, -1, 1.5, Number.NaN])('a bound that is none: %s', (maxRecords) => {
    expect(() => memoryJournal({ maxRecords })).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});
