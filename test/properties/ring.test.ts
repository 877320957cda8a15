/** The ring that holds unread events is a list, whatever is put in and taken out, however it grows. */
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { Ring } from '../../src/runtime/ring.js';
import { property } from './property.js';

type Deed = { readonly do: 'push' | 'shift'; readonly times: number } | { readonly do: 'remove' | 'clear' };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('push' as const), times: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('shift' as const), times: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'remove' as const }, { do: 'clear' as const }) },
);

describe('the ring', () => {
  property('is a list', fc.array(deed, { maxLength: 30, size: 'max' }), (deeds) => {
    const ring = new Ring<number>();
    let list: number[] = [];
    let last = 0;
    for (const one of deeds) {
      switch (one.do) {
        case 'push':
          for (let i = 0; i < one.times; i++) {
            ring.push(++last);
            list.push(last);
          }
          break;
        case 'shift':
          for (let i = 0; i < one.times; i++) expect(ring.shift()).toBe(list.shift());
          break;
        case 'remove': {
          const kept = list.filter((item) => item % 3 !== 0);
          expect(ring.remove((item) => item % 3 === 0)).toBe(list.length - kept.length);
          list = kept;
          break;
        }
        case 'clear':
          ring.clear();
          list = [];
          break;
      }
      expect(ring.size).toBe(list.length);
    }
    while (list.length > 0) expect(ring.shift()).toBe(list.shift());
    expect(ring.shift()).toBeUndefined();
  });
});
