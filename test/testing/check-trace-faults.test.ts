/** The trace checker tells a fault by its right number. Numbers as in `docs/design/duplex.md` §4. */
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../../src/testing/check-trace.js';
import { callFaults } from './call-faults.js';
import { tools } from './legal-runs.js';
import * as t from './runs.js';
import { sessionFaults } from './session-faults.js';

const faults = [...callFaults, ...sessionFaults];

describe('tells a fault by its number', () => {
  test.each(faults)('%s (%s)', (expected, _what, { header, entries }, change) => {
    const found = violationsOf(change(entries), header);
    expect(
      found.filter((finding) => finding.startsWith(expected)),
      found.join('\n'),
    ).not.toHaveLength(0);
  });

  test('of every invariant that leaves a mark', () => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 15, 16].map((number) => `D${number}`);
    expect(new Set(faults.map(([expected]) => expected.split(':')[0]))).toEqual(new Set(numbers));
  });

  test('in a summary as in `closed`', () => {
    const run = t.tell({ tools }, [t.connect], [t.call('t1', 'look'), t.started('t1', 'look'), t.executes('t1')]);
    const with_ = (state: string, of: string) =>
      violationsOf([...run.entries, { at: 0, line: t.summary(state, { t1: of }) }], run.header);
    expect(with_('open.responding', 'executing')).toEqual([]);
    expect(with_('open.responding', 'queued')).toEqual([
      'D1: the summary says that call t1 is queued, the trace that it is running',
    ]);
    expect(with_('open.responding', 'completed')).toHaveLength(1);
    expect(with_('closed', 'executing')).toEqual([
      'D11: the summary says that the session is closed, the trace that it is open',
    ]);
  });
});
