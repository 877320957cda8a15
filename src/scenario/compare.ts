import { alignLines } from './align.js';
import { describe } from './json.js';
import { printTraceLine } from './print.js';
import type { ExpectedLine, TraceLine } from './scenario.js';
import { matchesText } from './text-pattern.js';

/** One place where a trace is not what was expected. Indexes count the lines of the two lists from 0. */
export type TraceDifference =
  | { readonly kind: 'missing'; readonly expectedIndex: number; readonly expected: ExpectedLine }
  | { readonly kind: 'unexpected'; readonly foundIndex: number; readonly found: TraceLine }
  | {
      readonly kind: 'different';
      readonly expectedIndex: number;
      readonly expected: ExpectedLine;
      readonly foundIndex: number;
      readonly found: TraceLine;
      /** The first thing that differs, such as `event.text: expected "a", found "b"`. */
      readonly problem: string;
    };

/** What became of a comparison. `diff`: lines for people, empty when the lists are equal. */
export interface TraceComparison {
  readonly equal: boolean;
  readonly differences: readonly TraceDifference[];
  readonly diff: string;
}

/**
 * Holds the trace since the last `expect` against the lines of an `expect`: all
 * keys of each line, the order of keys free except in `calls`, `…` in an expected
 * string for any run of characters.
 */
export function compareTrace(expected: readonly ExpectedLine[], found: readonly TraceLine[]): TraceComparison {
  const differences: TraceDifference[] = [];
  const rows: DiffRow[] = [];
  const digits = String(Math.max(expected.length, found.length)).length;
  const row = (mark: string, index: number, text: string) =>
    rows.push({ isChange: mark !== ' ', text: `${mark} ${String(index + 1).padStart(digits)}  ${text}` });

  for (const [expectedIndex, foundIndex] of alignLines(expected, found, sameValue)) {
    const wanted = expectedIndex === undefined ? undefined : expected[expectedIndex];
    const got = foundIndex === undefined ? undefined : found[foundIndex];
    if (wanted !== undefined && expectedIndex !== undefined && got !== undefined && foundIndex !== undefined) {
      const problem = problemOf(wanted, got);
      if (problem === undefined) {
        row(' ', foundIndex, printTraceLine(got));
        continue;
      }
      differences.push({ kind: 'different', expectedIndex, expected: wanted, foundIndex, found: got, problem });
      row('-', expectedIndex, printTraceLine(wanted));
      row('+', foundIndex, printTraceLine(got));
      rows.push({ isChange: true, text: `  ${' '.repeat(digits)}  ^ ${problem}` });
    } else if (wanted !== undefined && expectedIndex !== undefined) {
      differences.push({ kind: 'missing', expectedIndex, expected: wanted });
      row('-', expectedIndex, printTraceLine(wanted));
    } else if (got !== undefined && foundIndex !== undefined) {
      differences.push({ kind: 'unexpected', foundIndex, found: got });
      row('+', foundIndex, printTraceLine(got));
    }
  }
  const equal = differences.length === 0;
  return { equal, differences, diff: equal ? '' : ['- expected', '+ found', ...nearChanges(rows)].join('\n') };
}

interface DiffRow {
  readonly isChange: boolean;
  readonly text: string;
}

const context = 3;

/** Of the rows that are alike only those near a change; the others are counted. */
function nearChanges(rows: readonly DiffRow[]): string[] {
  const near = new Set<number>();
  for (const [index, { isChange }] of rows.entries()) {
    if (isChange) for (let other = index - context; other <= index + context; other++) near.add(other);
  }
  const shown: string[] = [];
  let skipped = 0;
  const tell = () => {
    if (skipped > 0) shown.push(`  (${skipped} equal ${skipped === 1 ? 'line' : 'lines'})`);
    skipped = 0;
  };
  for (const [index, { text }] of rows.entries()) {
    if (near.has(index)) {
      tell();
      shown.push(text);
    } else {
      skipped++;
    }
  }
  tell();
  return shown;
}

/** An expected value and a found one; `within` and `key` say where they stand. */
interface Pair {
  readonly expected: unknown;
  readonly found: unknown;
  readonly key?: string | number;
  readonly within?: Pair;
}

/** Whether a found value is what an expected one says, by the rules of {@link compareTrace}. */
export function sameValue(expected: unknown, found: unknown): boolean {
  return problemOf(expected, found) === undefined;
}

/** The first thing that differs between an expected value and a found one. Works on a list of its own, so that deep values cannot exhaust the stack. */
function problemOf(expected: unknown, found: unknown): string | undefined {
  const pending: Pair[] = [{ expected, found }];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const inner = stepInto(pair);
    if (typeof inner === 'string') return inner;
    // Taken from the end: turned round, what stands first is looked at first.
    for (let index = inner.length - 1; index >= 0; index--) pending.push(inner[index] as Pair);
  }
  return undefined;
}

function stepInto(pair: Pair): string | readonly Pair[] {
  const { expected, found } = pair;
  if (typeof expected === 'string' && typeof found === 'string') {
    return matchesText(expected, found) ? [] : differ(pair, describe(expected), describe(found));
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    if (expected.length !== found.length) return differ(pair, `${expected.length} elements`, String(found.length));
    return expected.map((element: unknown, key) => ({ expected: element, found: found[key], key, within: pair }));
  }
  const [wanted, got] = [entriesOf(expected), entriesOf(found)];
  if (wanted === undefined || got === undefined) {
    return expected === found ? [] : differ(pair, describe(expected), describe(found));
  }
  const values = new Map(got);
  const names = new Set(wanted.map(([key]) => key));
  const missing = wanted.find(([key]) => !values.has(key));
  if (missing !== undefined) return differ(pair, `a key ${JSON.stringify(missing[0])}`, 'none');
  const stray = got.find(([key]) => !names.has(key));
  if (stray !== undefined) return differ(pair, 'no further key', JSON.stringify(stray[0]));
  if (pair.key === 'calls' && wanted.some(([key], index) => got[index]?.[0] !== key)) {
    const order = (entries: typeof wanted) => entries.map(([key]) => key).join(', ');
    return differ(pair, `the order ${order(wanted)}`, order(got));
  }
  return wanted.map(([key, value]) => ({ expected: value, found: values.get(key), key, within: pair }));
}

function differ(pair: Pair, expected: string, found: string): string {
  const where = pathOf(pair);
  return `${where === '' ? '' : `${where}: `}expected ${expected}, found ${found}`;
}

const longestPath = 20;

/** The way to a value, such as `event.list[2].text`; of a long one the end. */
function pathOf(pair: Pair): string {
  let path = '';
  let steps = 0;
  for (let at: Pair | undefined = pair; at?.key !== undefined; at = at.within) {
    if (++steps > longestPath) return `…${path}`;
    path = `${typeof at.key === 'number' ? `[${at.key}]` : `.${at.key}`}${path}`;
  }
  return path.replace(/^\./, '');
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (value instanceof Map) return [...(value as ReadonlyMap<string, unknown>)];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // A key that holds nothing is one that JSON does not write.
  return Object.entries(value).filter(([, field]) => field !== undefined);
}
