/** The place that a journal gives to a record. */
import { InvalidInputError, JournalFailedError } from '../contract/errors.js';

/**
 * What `append` gave, for a record behind `last`: groups hang together by it. A journal that appends later, and gives a promise of it,
 * is none: what it has not taken would be taken for durable.
 *
 * @throws {JournalFailedError} for what is no place behind `last`
 */
export function placeBehind(last: number, given: unknown, whose: string): number {
  if (typeof given === 'number' && given > last) return given;
  // that it fails is told here
  if (given instanceof Promise) given.catch(() => {});
  const found = given instanceof Promise ? 'a promise' : given;
  throw new JournalFailedError(`of ${whose}`, new InvalidInputError('seq', `a number above ${last}`, found));
}
