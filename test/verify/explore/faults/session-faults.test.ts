/** The explorer finds what is wrong, under its number, and its scenario shows it: on the faulty build, and not on the sound one. */
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../../../src/scenario/parse.js';
import { printScenario } from '../../../../src/scenario/print.js';
import { simulate } from '../../../../src/testing/index.js';
import { explore } from '../../../../src/verify/explore/index.js';
import { withMistake } from './faulty.js';
import { sessionFaults } from './session-faults.js';

/** The explorer's column of the table of invariants, sessions and calls. */
const column = ['D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7', 'D9', 'D10', 'D11', 'D12', 'D13', 'D15', 'D16'];

test('every invariant has a fault', () => {
  const found = new Set(sessionFaults.map(({ invariant }) => invariant));
  expect(column.filter((invariant) => !found.has(invariant))).toEqual([]);
});

describe('a fault is found, and its scenario shows it', () => {
  test.each(sessionFaults.map((fault) => [fault.invariant, fault.title, fault] as const))(
    '%s: %s',
    async (invariant, _title, fault) => {
      const { mistake, within, onlyPure = false } = fault;
      const numbers = (scenario: Parameters<typeof simulate>[0]) =>
        explore({ scenario }).violations.map((violation) => violation.invariant);
      const sound = explore({ ...within, depth: 8 });
      expect(sound.violations).toEqual([]);

      const violation = await withMistake(mistake, async () => {
        const found = explore({ ...within, depth: 8 }).violations;
        const own = found.find((violation) => violation.invariant === invariant);
        if (own === undefined) return expect.fail(`found ${JSON.stringify(found.map(({ what }) => what))} instead`);
        const length = Number(/, (\d+) events from/.exec(own.file)?.[1]);
        const nearer = length > 1 ? explore({ ...within, depth: length - 1 }).violations : [];
        expect(
          nearer.map((violation) => violation.invariant),
          'a shorter way to it',
        ).not.toContain(invariant);
        // no step of a scenario says what a pool lends
        if (within.poolPlaces === undefined) expect(numbers(own.scenario), own.file).toContain(invariant);
        if (!onlyPure) {
          const { violations } = await simulate(own.scenario);
          expect(
            violations.map((said) => said.split(':')[0]),
            own.file,
          ).toContain(invariant);
        }
        return own;
      });

      const { scenario, file } = violation;
      const read = parseScenario(file, 'found');
      expect(printScenario(read)).toBe(printScenario(scenario));
      expect((await simulate(scenario)).violations, file).toEqual([]);
      expect(numbers(scenario), file).toEqual([]);
    },
  );
});
