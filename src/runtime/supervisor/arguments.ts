import { InvalidInputError } from '../../contract/errors.js';

/** @throws {InvalidInputError} */
export function assertObserver(what: string, observer: unknown): void {
  if (typeof observer === 'function' || (typeof observer === 'object' && observer !== null)) return;
  throw new InvalidInputError(what, 'an observer or a function', observer);
}

/** @throws {InvalidInputError} */
export function assertObject(what: string, found: unknown): void {
  if (typeof found !== 'object' || found === null) throw new InvalidInputError(what, 'an object', found);
}
