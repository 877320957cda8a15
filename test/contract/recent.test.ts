import { expect, it } from 'vitest';
import { Recent } from '../../src/contract/recent.js';

it('Recent remembers the last keys that were set and forgets the oldest', () => {
  const recent = new Recent<number>(2);
  recent.set('a', 1);
  recent.set('b', 2);
  recent.set('a', 3);
  recent.set('c', 4);
  expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([3, undefined, 4]);
  expect([recent.has('a'), recent.has('b')]).toEqual([true, false]);
});
