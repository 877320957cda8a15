import { InvalidInputError } from '../contract/errors.js';
import { adopted, isThenable } from './attempt.js';

/**
 * What host code or a driver is to give at once is no promise: nobody would wait for it, and one that rejects would reach the
 * process. Its rejection is heard here, and goes no further.
 *
 * @throws {InvalidInputError}
 */
export function assertAtOnce(what: string, expected: string, found: unknown): void {
  if (!isThenable(found)) return;
  adopted(found).then(unheard, unheard);
  throw new InvalidInputError(what, `${expected}, at once`, found);
}

const unheard = () => {};
