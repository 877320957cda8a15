/**
 * When the steps of a scenario have to come so that exactly those limits of
 * time run out that ran out on the path, and in its order.
 *
 * Each call can have a tool of its own with a limit of its own, and a session
 * has one limit for its connect and one for its close; only the limit for the
 * far side's answers is shared. Limits that are alike run out in the order in
 * which they were armed (`possible.ts` offers nothing else), so the spans
 * between arming and running out never hold one another, and such spans can
 * always be drawn with one length. The times are the least that keep to what
 * is asked, found like longest paths.
 */

/** How long the far side may take for an answer, where a path lets it take longer. */
export const answerMs = 10_000;
/** Between two limits that run out. */
const gapMs = 100;

/** From the step that armed a limit to the step that ended it: `fires` where it ran out. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly fires: boolean;
}

/**
 * When each of `steps` steps comes, in milliseconds; number 0 is the beginning.
 * @param fired steps at which a limit runs out
 * @param answers spans of the limit that is shared
 */
export function timesOf(steps: number, fired: ReadonlySet<number>, answers: readonly Span[]): readonly number[] {
  /** `to` comes at least `by` after `from`. */
  const apart: { readonly from: number; readonly to: number; readonly by: number }[] = [];
  for (let step = 1; step <= steps; step++) apart.push({ from: step - 1, to: step, by: fired.has(step) ? gapMs : 0 });
  if (answers.some(({ fires }) => fires)) {
    for (const { from, to, fires } of answers) {
      if (fires) apart.push({ from, to, by: answerMs });
      apart.push({ from: to, to: from, by: fires ? -answerMs : 1 - answerMs });
      for (const other of answers) {
        // one that was armed later and waits still when this one runs out is not due with it
        if (fires && other.from > from && other.from < to && other.to > to) apart.push({ from, to: other.from, by: 1 });
      }
    }
  }
  const times = new Array<number>(steps + 1).fill(0);
  for (let round = 0; round <= steps + answers.length; round++) {
    for (const { from, to, by } of apart) {
      const least = (times[from] as number) + by;
      if ((times[to] as number) < least) times[to] = least;
    }
  }
  return times;
}
