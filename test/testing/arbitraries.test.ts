/** What the arbitraries promise to hosts. That they reach what they must reach is counted where they are used. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import { printScenario } from '../../src/scenario/print.js';
import type { Step } from '../../src/scenario/scenario.js';
import {
  farSchedule,
  hostActs,
  legalResponseStreams,
  scenario,
  scenarioHeader,
  toolBehaviour,
  toolNames,
} from '../../src/testing/arbitraries/index.js';
import { violationsOf } from '../../src/testing/check-trace.js';
import { Simulator } from '../../src/testing/simulator.js';
import { Broken, property } from '../properties/property.js';
import { shapeOf } from '../wire/writer-acts.js';

/** Runs these steps in a session with these tools. Gives what broke, and why the session ended, if it did. */
async function run(steps: readonly Step[], header = {}): Promise<string | undefined> {
  const simulator = new Simulator(header);
  await simulator.settle();
  for (const step of steps) await simulator.step(step);
  simulator.finish();
  const violations = violationsOf(simulator.entries, simulator.header);
  if (violations.length > 0) throw new Broken(violations, JSON.stringify(steps));
  for (const line of simulator.trace) if ('closed' in line) return line.closed.reason;
  return undefined;
}

const isEnd = (step: Step) =>
  'far_stream' in step || ('far' in step && (step.far as { readonly type?: string })?.type === 'closed');

describe('a schedule of the far side', () => {
  property(
    'that is legal never ends a session for a breach, and says nothing after its end',
    farSchedule({ legal: true }),
    async (steps) => {
      // more calls than a session takes are refused, not a breach
      expect([undefined, 'far_side', 'stream_ended', 'stream_failed', 'bye']).toContain(await run(steps));
      expect(steps.findIndex(isEnd)).toBe(steps.some(isEnd) ? steps.length - 1 : -1);
    },
  );

  test('that is not does, now and then', async () => {
    const ends = new Set<string | undefined>();
    for (const steps of fc.sample(farSchedule(), { numRuns: 300, seed: 1 })) ends.add(await run(steps));
    expect([...ends]).toEqual(expect.arrayContaining([undefined, 'protocol_failure']));
  });

  property(
    'calls what it is told to, by ids that it has not used',
    farSchedule({
      legal: true,
      calls: fc.record({ name: fc.constantFrom('pay', 'look'), arguments: fc.constant('{"n":1}') }),
      maxEvents: 9,
    }),
    (steps) => {
      const calls = steps.flatMap((step) => {
        const event =
          'far' in step
            ? (step.far as {
                readonly type?: string;
                readonly id?: string;
                readonly name?: string;
                readonly arguments?: string;
              })
            : {};
        return event.type === 'tool_call' ? [event] : [];
      });
      for (const { name, arguments: text } of calls)
        expect([['pay', 'look'].includes(name ?? ''), text]).toEqual([true, '{"n":1}']);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
      expect(steps.length).toBeLessThanOrEqual(9);
    },
  );
});

describe('acts of a host', () => {
  property('speak of the calls that there are, and of nobody', hostActs({ calls: ['c1', 'c2'] }), async (steps) => {
    for (const step of steps) if ('host' in step && 'id' in step) expect(['c1', 'c2', 'nobody']).toContain(step.id);
    await run(steps, {});
  });

  property('end nothing where they are not to', hostActs({ ends: false }), async (steps) => {
    expect(await run(steps)).toBe(undefined);
  });
});

describe('scenarios', () => {
  property('are files that can be read back', scenario(), (given) => {
    const { header, steps } = parseScenario(printScenario(given), 'a.jsonl');
    expect(JSON.stringify({ header, steps: steps.map(({ step }) => step) })).toBe(
      JSON.stringify({ header: given.header, steps: given.steps.map(({ step }) => step) }),
    );
  });

  property('have tools of the names that are told', scenarioHeader, ({ tools }) => {
    for (const name of Object.keys(tools ?? {})) expect(toolNames).toContain(name);
  });

  test('have tools of every policy, effect and way to settle', () => {
    const seen = new Set(
      fc
        .sample(toolBehaviour, { numRuns: 300, seed: 1 })
        .flatMap(({ onInterruption, effect, result, throws }) => [
          onInterruption,
          effect,
          result === undefined ? (throws === undefined ? 'waits' : 'throws') : 'returns',
        ]),
    );
    for (const what of [
      'abandon',
      'cancel',
      'deliver',
      'read',
      'idempotent',
      'irreversible',
      'waits',
      'throws',
      'returns',
    ])
      expect(seen).toContain(what);
  });
});

describe('legal response streams', () => {
  property('have the shape of one request', legalResponseStreams(), (events) => {
    expect(shapeOf(events)).toMatch(/^i((bw*[cr])|w)*f$/);
  });

  test('commit, roll back, change and split', () => {
    const letters = new Set<string>();
    const cases = new Set<string | undefined>();
    for (const events of fc.sample(legalResponseStreams(), { numRuns: 300, seed: 1 })) {
      for (const letter of shapeOf(events)) letters.add(letter);
      for (const { type } of events) {
        if (type.case === 'clientActions') for (const { action } of type.value.actions) cases.add(action.case);
      }
    }
    expect([...letters].sort().join('')).toBe('bcfirw');
    expect(cases.size).toBe(12);
  });
});
