/** Which line of one list answers to which line of another. A side that has no partner is absent. */
export type Alignment = readonly (readonly [first: number | undefined, second: number | undefined])[];

// Beyond so many comparisons the lines between the equal head and tail are paired as they stand.
const mostComparisons = 250_000;

/**
 * Lays two lists side by side: as many equal lines as possible face each other,
 * in order; what stands between them is paired as it comes.
 */
export function alignLines<One, Other>(
  first: readonly One[],
  second: readonly Other[],
  equal: (one: One, other: Other) => boolean,
): Alignment {
  const same = (one: number, other: number) => equal(first[one] as One, second[other] as Other);
  let head = 0;
  while (head < first.length && head < second.length && same(head, head)) head++;
  let tail = 0;
  while (
    tail < first.length - head &&
    tail < second.length - head &&
    same(first.length - 1 - tail, second.length - 1 - tail)
  ) {
    tail++;
  }
  const firstEnd = first.length - tail;
  const secondEnd = second.length - tail;

  const pairs: [number | undefined, number | undefined][] = [];
  for (let index = 0; index < head; index++) pairs.push([index, index]);
  let [one, other] = [head, head];
  const face = (oneEnd: number, otherEnd: number) => {
    while (one < oneEnd || other < otherEnd) {
      pairs.push([one < oneEnd ? one++ : undefined, other < otherEnd ? other++ : undefined]);
    }
  };
  for (const [matchedOne, matchedOther] of commonLines(head, firstEnd, head, secondEnd, same)) {
    face(matchedOne, matchedOther);
    pairs.push([one++, other++]);
  }
  face(firstEnd, secondEnd);
  for (let index = 0; index < tail; index++) pairs.push([firstEnd + index, secondEnd + index]);
  return pairs;
}

/** The longest common run of lines, gaps allowed, as pairs of indexes in order. */
function commonLines(
  firstStart: number,
  firstEnd: number,
  secondStart: number,
  secondEnd: number,
  same: (one: number, other: number) => boolean,
): [number, number][] {
  const height = firstEnd - firstStart;
  const width = secondEnd - secondStart;
  if (height * width > mostComparisons) return [];
  // longest[i][j]: how many lines the rest from i and the rest from j have in common.
  const longest = Array.from({ length: height + 1 }, () => new Uint32Array(width + 1));
  const matched = Array.from({ length: height }, () => new Uint8Array(width));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      const equal = same(firstStart + i, secondStart + j);
      (matched[i] as Uint8Array)[j] = equal ? 1 : 0;
      (longest[i] as Uint32Array)[j] = equal ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < height && j < width; ) {
    if (matched[i]?.[j] === 1 && at(i, j) === at(i + 1, j + 1) + 1) pairs.push([firstStart + i++, secondStart + j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}
