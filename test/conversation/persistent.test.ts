/** The persistent structures, against arrays and maps, and against what they were before. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OrderedMap } from '../../src/conversation/persistent/ordered-map.js';
import { Vector } from '../../src/conversation/persistent/vector.js';

/** Steps of a list: to append a value, or to set one at a share of the length. */
const step = fc.oneof(
  fc.record({ push: fc.integer({ min: 1, max: 200 }) }),
  fc.record({ at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }) }),
);

describe('a vector', () => {
  test('is a list that is never changed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let vector = Vector.empty<number>();
        let list: number[] = [];
        const earlier: [Vector<number>, number[]][] = [];
        let value = 0;
        for (const each of steps) {
          earlier.push([vector, list]);
          list = list.slice();
          if ('push' in each) {
            for (let count = 0; count < each.push; count++) {
              vector = vector.push(value);
              list.push(value++);
            }
          } else if (list.length > 0) {
            const at = Math.floor(each.at * list.length);
            vector = vector.set(at, value);
            list[at] = value++;
          }
        }
        for (const [before, was] of [...earlier, [vector, list] as const]) {
          expect([...before]).toEqual(was);
          expect([...before.leaves()].flat()).toEqual(was);
          expect(before.size).toBe(was.length);
          for (const at of [-1, 0, 31, 32, was.length - 1, was.length]) expect(before.at(at)).toBe(was[at]);
          // and what differs from the last one is found, in either direction
          expect(differences(before, vector)).toEqual(differ(was, list));
          expect(differences(vector, before)).toEqual(differ(list, was));
        }
      }),
      { numRuns: 200 },
    );
  });

  test.each([31, 32, 33, 1023, 1024, 1025, 1056, 1057, 32_767, 32_768, 32_800, 32_801])('of %i values', (size) => {
    const list = Array.from({ length: size }, (_, index) => index);
    const vector = Vector.from(list);
    expect([...vector]).toEqual(list);
    expect([...vector.push(-1)]).toEqual([...list, -1]);
    expect(differences(vector, vector.set(0, -1).set(size - 1, -1))).toEqual([0, size - 1].map((at) => [at, at, -1]));
  });

  test('set to what it is, or outside, is the very same one', () => {
    const vector = Vector.from([1, 2, 3]);
    for (const [at, value] of [
      [0, 1],
      [-1, 9],
      [3, 9],
    ] as const)
      expect(vector.set(at, value)).toBe(vector);
  });

  test('finds one difference among a million values without looking at them', () => {
    let vector = Vector.empty<number>();
    for (let index = 0; index < 1_000_000; index++) vector = vector.push(index);
    const other = vector.set(123_456, -1);
    // a look at each would be a thousand million of them
    let found = 0;
    for (let count = 0; count < 1000; count++) Vector.differences(vector, other, () => found++);
    expect(found).toBe(1000);
  });
});

function differences(before: Vector<number>, after: Vector<number>): unknown[] {
  const found: unknown[] = [];
  Vector.differences(before, after, (index, one, other) => found.push([index, one, other]));
  return found;
}

function differ(before: readonly number[], after: readonly number[]): unknown[] {
  const found: unknown[] = [];
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    if (before[at] !== after[at]) found.push([at, before[at], after[at]]);
  }
  return found;
}

describe('an ordered map', () => {
  test('is a map that is never changed', () => {
    const key = fc.oneof(fc.integer({ min: 0, max: 400 }).map(String), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(fc.array(key, { maxLength: 60 }), { maxLength: 20 }), (batches) => {
        let map = OrderedMap.empty<number>();
        let model = new Map<string, number>();
        const earlier: [OrderedMap<number>, Map<string, number>][] = [];
        let value = 0;
        for (const batch of batches) {
          earlier.push([map, model]);
          model = new Map(model);
          for (const each of batch) {
            map = map.set(each, value);
            model.set(each, value++);
            expect(map.get(each)).toBe(model.get(each));
          }
        }
        for (const [before, was] of [...earlier, [map, model] as const]) {
          expect(before.size).toBe(was.size);
          for (const each of model.keys()) expect(before.get(each)).toBe(was.get(each));
          expect(before.get('no such key')).toBeUndefined();
        }
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['rising', (index: number) => String(index).padStart(6, '0')],
    ['falling', (index: number) => String(999_999 - index).padStart(6, '0')],
    [
      'with one hash, for a hash that adds',
      (index: number) => `${'ab'.repeat(index % 12)}${'ba'.repeat(11 - (index % 12))}${index}`,
    ],
  ])('takes keys that are %s', (_, keyAt) => {
    let map = OrderedMap.empty<number>();
    for (let index = 0; index < 20_000; index++) map = map.set(keyAt(index), index);
    expect(map.size).toBe(20_000);
    for (let index = 0; index < 20_000; index++) expect(map.get(keyAt(index))).toBe(index);
  });
});
