/** Texts that are found by their bytes: T1, T2 (texts.ts). */
import fc from 'fast-check';
import { expect } from 'vitest';
import { TextTable } from '../../src/journal/codec/texts.js';
import { property } from '../properties/property.js';

const texts = fc.array(
  fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 }), fc.string({ unit: 'grapheme' })),
);
const tables = fc.constantFrom(1, 2, 8);
property('are what the bytes say, however few places a table has (T1)', fc.tuple(tables, texts), ([places, all]) => {
  const table = new TextTable(places);
  for (const text of all) {
    const bytes = new TextEncoder().encode(`x${text}y`);
    expect(table.read(bytes, 1, bytes.length - 1)).toBe(text);
  }
});
