import { InvalidInputError } from '../../contract/errors.js';

/** Says what is wrong with a value from outside. `where`: a field of the schema, or a name. */
export function refuse(where: { toString(): string }, expected: string, found: unknown): never {
  throw new InvalidInputError(`response event (${where})`, expected, found);
}
