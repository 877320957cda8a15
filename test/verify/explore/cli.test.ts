/** `commitpoint explore`: what it prints, and how it ends. (The command line as a process: test/cli.) */
import { describe, expect, test, vi } from 'vitest';
import { type ExploreOptions, exploreAll } from '../../../src/cli/commands/explore.js';
import { parseScenario } from '../../../src/scenario/parse.js';
import { simulate } from '../../../src/testing/index.js';
import { withMistake } from './faults/faulty.js';
import { sessionFaults } from './faults/session-faults.js';

const usual: ExploreOptions = { tools: '1', states: '100000', mode: 'tolerant', set: [] };

/** What the command printed, and its status. */
function ran(options: Partial<ExploreOptions>): { readonly status: number; readonly lines: readonly string[] } {
  const written: string[] = [];
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    const status = exploreAll({ ...usual, ...options });
    return { status, lines: written.join('').trimEnd().split('\n') };
  } finally {
    out.mockRestore();
  }
}

describe('explore', () => {
  test('says how much there was, and that nothing is wrong', () => {
    const { status, lines } = ran({});
    expect(status).toBe(0);
    expect(lines[0]).toMatch(/^[\d,]+ states, [\d,]+ transitions, depth \d+: all there is$/);
    expect(lines[1]).toBe('no invariant is broken');
    expect(ran({ depth: '2' }).lines[0]).toMatch(/depth 2: cut off by the bounds$/);
  });

  test('--durable, --far and --stream explore other things', () => {
    const counts = [{}, { durable: true }, { far: 'text,tool_call' }, { stream: true }].map((options) => {
      const { status, lines } = ran({ ...options, json: true });
      expect(status).toBe(0);
      return (JSON.parse(lines.at(-1) as string) as { explored: { states: number } }).explored.states;
    });
    expect(new Set(counts).size).toBe(counts.length);
  });

  test('ends with 1 where something is wrong, and prints a scenario that shows it', async () => {
    const fault = sessionFaults.find(({ invariant }) => invariant === 'D4');
    if (fault === undefined) throw new TypeError('there is no fault of D4');
    await withMistake(fault.mistake, async () => {
      const { status, lines } = ran({ json: true });
      expect(status).toBe(1);
      const told = lines.map((line) => JSON.parse(line) as { violation?: { invariant: string; file: string } });
      const violation = told.find(({ violation }) => violation?.invariant === 'D4')?.violation;
      const { violations } = await simulate(parseScenario(violation?.file ?? '', 'found'));
      expect(violations.join()).toContain('D4: ');
      expect(ran({}).lines.at(-1)).toMatch(/^broken invariants: \d$/);
    });
  });
});
