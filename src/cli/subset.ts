/** A place at which something is not as expected. */
export interface Difference {
  /** Where, as one writes it: `tasks[0].messages[1].id`; empty for the whole. */
  readonly path: string;
  readonly expected: unknown;
  /** `undefined` where there is nothing. */
  readonly found: unknown;
}

/**
 * Where a value is not as expected. Objects are compared by the keys that are
 * expected; arrays have the same length and are compared element by element;
 * all else is equal or not.
 */
export function differencesFrom(expected: unknown, found: unknown, path = ''): Difference[] {
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return [{ path, expected, found }];
    return expected.flatMap((item, at) => differencesFrom(item, found[at], `${path}[${at}]`));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof found !== 'object' || found === null || Array.isArray(found)) return [{ path, expected, found }];
    return Object.entries(expected).flatMap(([key, value]) =>
      differencesFrom(
        value,
        Object.hasOwn(found, key) ? (found as Record<string, unknown>)[key] : undefined,
        path === '' ? key : `${path}.${key}`,
      ),
    );
  }
  return Object.is(expected, found) ? [] : [{ path, expected, found }];
}
