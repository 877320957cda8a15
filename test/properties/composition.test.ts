/** A living session and the pure composition are one: the same states and the same effects, for any history, fast lane included. */
import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import type { Scenario } from '../../src/scenario/scenario.js';
import { scenario } from '../../src/testing/arbitraries/index.js';
import { Twin, tapSteps } from './coordination-tap.js';
import { type Ending, ending } from './ending.js';
import { fileOf, play } from './played.js';
import { Broken, property } from './property.js';

/** How many steps of each type were compared, over all runs. */
const compared = new Map<string, number>();
let onTheFastLane = 0;

interface History {
  readonly scenario: Scenario;
  readonly ending: Ending;
  /** Where somebody looks on, actors take steps that they would else be spared. */
  readonly lookedAt: 'not' | 'by an inspector' | 'by a subscriber';
}

const history: fc.Arbitrary<History> = fc.record({
  scenario: scenario(),
  ending: ending,
  lookedAt: fc.constantFrom('not', 'by an inspector', 'by a subscriber'),
});

async function check({ scenario, ending, lookedAt }: History): Promise<void> {
  const { maxConcurrentTools = 16, maxOpenCalls = 256, dropUnreadAudio = false } = scenario.header.options ?? {};
  let twin: Twin | undefined;
  const release = tapSteps((taken) => {
    const { type } = taken.occurrence;
    compared.set(type, (compared.get(type) ?? 0) + 1);
    if (taken.onTheFastLane) onTheFastLane++;
    twin?.takes(taken);
  });
  try {
    const { entries, stray } = await play(scenario, ending, {
      begins: ({ session }) => {
        twin = new Twin(session, { maxConcurrentTools, maxOpenCalls, dropUnreadAudio });
        if (lookedAt === 'by an inspector') session.inspect(() => {});
        if (lookedAt === 'by a subscriber') session.actor.subscribe(() => {});
      },
    });
    const findings = [...stray, ...(twin?.differences ?? [])];
    if (findings.length > 0) throw new Broken(findings, fileOf(scenario.header, entries, findings.join('\n')));
  } finally {
    release();
  }
}

describe('a living session', () => {
  property('is moved as the pure composition is', history, check);

  afterAll(() => {
    // what random histories must have led through, or nothing was shown
    for (const type of [
      'connected',
      'text',
      'tool_call',
      'code_resolved',
      'interrupted',
      'publish_accepted',
      'host_act',
    ]) {
      expect(compared.get(type) ?? 0, type).toBeGreaterThan(0);
    }
    expect(onTheFastLane, 'steps on the fast lane').toBeGreaterThan(0);
  });
});
