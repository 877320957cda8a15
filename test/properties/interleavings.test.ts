/** The real asynchronous runtime: answers, settlements, events, acts and time in an order that the scheduler draws. */
import fc from 'fast-check';
import { describe } from 'vitest';
import { printScenario } from '../../src/scenario/print.js';
import { stepsOf } from './interleavings/log.js';
import { findingsOf } from './interleavings/oracle.js';
import { type Plan, plan } from './interleavings/plan.js';
import { type Run, run } from './interleavings/world.js';
import { Broken, property } from './property.js';

describe('a session among real promises', () => {
  property(
    'keeps its invariants, in whatever order things happen',
    fc.record({ plan, scheduler: fc.scheduler() }),
    async ({ plan, scheduler }) => {
      const done = await run(plan, scheduler);
      const findings = findingsOf(plan, done);
      if (findings.length > 0) throw new Broken(findings, told(plan, done, findings));
    },
  );
});

function told({ header, ...rest }: Plan, { facts }: Run, findings: readonly string[]): string {
  const provider = { ...header.provider, holdConnect: true, holdPublish: true, holdClose: true };
  const journal = header.journal === undefined ? {} : { journal: { ...header.journal, holdFlush: true } };
  const steps = stepsOf(facts).map((step, index) => ({ line: index + 2, step }));
  const scenario = { title: 'found by a property', header: { ...header, provider, ...journal }, steps };
  const plan = JSON.stringify({ ...rest, far: undefined });
  const log = facts.map((fact, index) => `${index} ${JSON.stringify(fact)}`).join('\n');
  return `${printScenario(scenario, findings.join('\n'))}\nplan ${plan}\n${log}`;
}
