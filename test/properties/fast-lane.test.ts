/**
 * The fast lane of the runtime (an event that asks for nothing but its delivery
 * goes past the coordination) leaves the same trace as the long way.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, vi } from 'vitest';
import type { LifecycleEvent } from '../../src/contract/lifecycle.js';
import type * as FarEvents from '../../src/runtime/far-event.js';
import type { Scenario, TimelineEntry } from '../../src/scenario/scenario.js';
import { scenario } from '../../src/testing/arbitraries/index.js';
import { tapSteps } from './coordination-tap.js';
import { type Ending, ending } from './ending.js';
import { fileOf, play } from './played.js';
import { Broken, property } from './property.js';

const lane = vi.hoisted(() => ({ isOpen: true }));

// the real module, but that the looks which open the lane can be made to see nothing
vi.mock('../../src/runtime/far-event.js', async (importOriginal) => {
  const original = await importOriginal<typeof FarEvents>();
  const plainReportOf: typeof original.plainReportOf = (value, ids) =>
    lane.isOpen ? original.plainReportOf(value, ids) : undefined;
  const outputOf: typeof original.outputOf = (value, ids) => (lane.isOpen ? original.outputOf(value, ids) : undefined);
  return { ...original, plainReportOf, outputOf };
});

/** How many steps went past the coordination, over all runs. */
const past = { open: 0, closed: 0 };

interface Way {
  readonly entries: readonly TimelineEntry[];
  readonly lifecycle: readonly LifecycleEvent[];
  readonly stray: readonly string[];
}

async function go(scenario: Scenario, ending: Ending, isOpen: boolean): Promise<Way> {
  const lifecycle: LifecycleEvent[] = [];
  const release = tapSteps(({ onTheFastLane }) => {
    if (onTheFastLane) past[isOpen ? 'open' : 'closed']++;
  });
  lane.isOpen = isOpen;
  try {
    const { entries, stray } = await play(scenario, ending, {
      begins: ({ session }) => {
        session.lifecycle$.subscribe((event) => lifecycle.push(event));
      },
    });
    return { entries, lifecycle, stray };
  } finally {
    lane.isOpen = true;
    release();
  }
}

describe('the fast lane', () => {
  property(
    'leaves the trace of the long way',
    fc.record({ scenario: scenario(), ending: ending }),
    async ({ scenario, ending }) => {
      const fast = await go(scenario, ending, true);
      const long = await go(scenario, ending, false);
      const findings = [...fast.stray, ...long.stray];
      const compare = (what: string, one: readonly unknown[], other: readonly unknown[]) => {
        if (isDeepStrictEqual(one, other)) return;
        const at = one.findIndex((item, index) => !isDeepStrictEqual(item, other[index]));
        const found = [one[at], other[at]].map((item) => JSON.stringify(item)).join(' and ');
        findings.push(`${what} differ at ${at}: ${found} (${one.length} and ${other.length} of them)`);
      };
      compare('traces', fast.entries, long.entries);
      compare('lifecycles', fast.lifecycle, long.lifecycle);
      if (findings.length > 0) throw new Broken(findings, fileOf(scenario.header, fast.entries, findings.join('\n')));
    },
  );

  afterAll(() => {
    // the lane was there, and could be closed, or nothing was shown
    expect(past.open).toBeGreaterThan(0);
    expect(past.closed).toBe(0);
  });
});
