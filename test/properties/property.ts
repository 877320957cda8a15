/**
 * Properties as vitest tests. How often each is tried: `COMMITPOINT_RUNS`, by
 * default few enough for every run of the tests. A failure prints what makes it
 * happen again: `COMMITPOINT_SEED` and `COMMITPOINT_PATH`, which this file reads
 * back, and whatever the predicate's error says (a scenario file, mostly).
 */
import fc from 'fast-check';
import { test } from 'vitest';
import { messageOf } from '../../src/contract/errors.js';

/** How many histories each property is tried on. */
export const runs = integerOf('COMMITPOINT_RUNS') ?? 300;

const seed = integerOf('COMMITPOINT_SEED');
const path = process.env.COMMITPOINT_PATH;

function integerOf(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value)) throw new RangeError(`${name}: expected an integer, found ${text}`);
  return value;
}

/** Searching for a smaller example is given up after this; a search that finds nothing has far more time. */
const patienceMs = Math.max(50_000, runs * 200);

/**
 * A test that `predicate` holds (does not throw) for every value.
 * @param share of the runs that this property is worth, 1 by default
 */
export function property<Value>(
  title: string,
  arbitrary: fc.Arbitrary<Value>,
  predicate: (value: Value) => Promise<void> | void,
  share = 1,
): void {
  const numRuns = Math.max(1, Math.round(runs * share));
  test(title, { timeout: patienceMs * 2 }, async () => {
    const details = await fc.check(
      fc.asyncProperty(arbitrary, async (value) => {
        await predicate(value);
      }),
      {
        numRuns,
        interruptAfterTimeLimit: patienceMs,
        markInterruptAsFailure: true,
        ...(seed === undefined ? {} : { seed }),
        ...(path === undefined ? {} : { path }),
      },
    );
    if (!details.failed) return;
    const again = `COMMITPOINT_SEED=${details.seed} COMMITPOINT_PATH=${details.counterexamplePath ?? ''}`;
    const where = `${title}: failed in run ${details.numRuns} of ${numRuns}, made smaller ${details.numShrinks} times`;
    throw new PropertyFailed(`${where}\nagain: ${again}\n${messageOf(details.errorInstance ?? 'interrupted')}`);
  });
}

class PropertyFailed extends Error {
  override readonly name = 'PropertyFailed';
}

/** What a predicate found wrong, with the scenario that shows it. */
export class Broken extends Error {
  override readonly name = 'Broken';

  constructor(findings: readonly string[], scenario: string) {
    super(`${findings.join('\n')}\n\n${scenario}`);
  }
}
