import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import { printScenario, printTraceLine } from '../../src/scenario/print.js';
import type { Scenario } from '../../src/scenario/scenario.js';
import { property } from '../properties/property.js';
import { scenario } from './arbitraries.js';
import { given } from './given.js';

const withoutLines = ({ title, header, steps }: Scenario) => ({ title, header, steps: steps.map(({ step }) => step) });

describe('a printed scenario', () => {
  property('is read back the same', scenario, (one) => {
    expect(parseScenario(printScenario(one), 'x')).toEqual(one);
  });

  property('keeps the order of calls', scenario, (one) => {
    const orders = ({ steps }: Scenario) =>
      steps.flatMap(({ step }) => ('expect' in step ? step.expect : [])).map((line) => printTraceLine(line));
    expect(orders(parseScenario(printScenario(one), 'x'))).toEqual(orders(one));
  });

  test('has its remarks at the top, every line of them behind //', () => {
    const text = printScenario(
      { title: 'a', header: {}, steps: [{ line: 2, step: { clock: 1 } }] },
      'first\nsecond\r\n{"clock":5}',
    );
    expect(text).toBe('// first\n// second\n// {"clock":5}\n{"scenario":"a"}\n{"clock":1}\n');
    expect(parseScenario(text, 'x').steps).toEqual([{ line: 5, step: { clock: 1 } }]);
  });

  test.skipIf(given.length === 0)('of every given case says what the case says', () => {
    for (const { name, text, scenario } of given) {
      const printed = printScenario(scenario);
      expect(withoutLines(parseScenario(printed, name)), name).toEqual(withoutLines(scenario));
      // The given files are written as we write them, but for their remarks.
      expect(printed, name).toBe(text.replace(/^\/\/.*\n/gm, ''));
    }
  });
});

describe('a printed trace line', () => {
  test('has calls in the order of admission, whatever their ids look like', () => {
    const calls = new Map([
      ['10', 'completed'],
      ['2', 'cancelled'],
      ['__proto__', 'abandoned'],
    ]);
    expect(printTraceLine({ closed: { reason: 'host', calls } })).toBe(
      '{"closed":{"reason":"host","calls":{"10":"completed","2":"cancelled","__proto__":"abandoned"}}}',
    );
  });

  test('leaves out what is not there', () => {
    const reason = undefined as unknown as string;
    expect(printTraceLine({ event: { type: 'closed', reason } })).toBe('{"event":{"type":"closed"}}');
  });
});
