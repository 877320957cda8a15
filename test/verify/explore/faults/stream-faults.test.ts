/** The explorer finds what is wrong about response streams, under its number, and `explore({ scenario })` shows it again: on the faulty build alone. */
import { describe, expect, test } from 'vitest';
import { explore } from '../../../../src/verify/explore/index.js';
import { withMistake } from './faulty.js';
import { streamFaults } from './stream-faults.js';

/** The explorer's column of the table of invariants, conversations. */
const column = ['C1', 'C2', 'C3', 'C4', 'C7', 'C8', 'C10'];

test('every invariant has a fault', () => {
  const found = new Set(streamFaults.map(({ invariant }) => invariant));
  expect(column.filter((invariant) => !found.has(invariant))).toEqual([]);
});

describe('a fault is found, and its scenario shows it', () => {
  test.each(streamFaults.map((fault) => [fault.invariant, fault.title, fault] as const))(
    '%s: %s',
    async (invariant, _title, { mistake, within }) => {
      const bounds = { stream: within, depth: 6 };
      expect(explore(bounds).violations).toEqual([]);

      const { scenario, file } = await withMistake(mistake, () => {
        const found = explore(bounds).violations;
        const own = found.find((violation) => violation.invariant === invariant);
        if (own === undefined) return expect.fail(`found ${JSON.stringify(found.map(({ what }) => what))} instead`);
        const again = explore({ scenario: own.scenario }).violations;
        expect(
          again.map((violation) => violation.invariant),
          own.file,
        ).toContain(invariant);
        return own;
      });

      expect(explore({ scenario }).violations, file).toEqual([]);
      expect(file.split('\n').filter((line) => line.startsWith('{'))).toEqual(scenario.lines);
    },
  );
});
