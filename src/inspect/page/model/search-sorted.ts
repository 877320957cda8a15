/** Where in a list of growing numbers something is. */

/** How many of these, which grow, are at most `limit`. */
export function countUpTo(numbers: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many entries of a list, which begin in order, have begun at `limit`. */
export function begunUpTo<T>(entries: readonly T[], beginning: (entry: T) => number, limit: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (beginning(entries[middle] as T) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
