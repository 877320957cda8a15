/**
 * Runs the scenario files as `commitpoint simulate FILE --check` does: every
 * `expect` is met and the trace breaks no invariant. A reproduced bug becomes a
 * file in `test/scenarios`; its first line names the rule of the design that it
 * tells.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseScenario, printTraceLine, simulate } from '../src/testing/index.js';

interface ScenarioFile {
  readonly name: string;
  readonly text: string;
}

const own = filesIn('./scenarios/');
// The given cases are not ours to copy: they lie beside the repository, in CI and on our machines, and not beside a stranger's clone.
const given = filesIn('../../shared/cases/duplex/');
if (given.length === 0)
  console.warn('No given cases beside the repository (../shared/cases/duplex): they are skipped.');

describe('scenarios of our own', () => {
  test('there are many', () => {
    expect(own.length).toBeGreaterThanOrEqual(40);
  });

  for (const { name, text } of own) {
    test(name, async () => {
      // the first line says which rule the file tells; the last `expect` sees the summary
      expect(text.split('\n')[0]).toMatch(/^\/\/ rule: .*duplex\.md/);
      const { title, steps } = parseScenario(text, name);
      expect(title).not.toBe('');
      const last = steps.at(-1)?.step;
      expect(last !== undefined && 'expect' in last && last.expect.some((line) => 'summary' in line)).toBe(true);
      await check(name, text);
    });
  }
});

describe('given cases', () => {
  test.skipIf(given.length === 0)('they are all there', () => {
    expect(given.length).toBeGreaterThanOrEqual(43);
  });

  for (const { name, text } of given) test(name, () => check(name, text));
});

test('a file that expects something else is told of it', async () => {
  const [file] = own;
  const text = file?.text.replace('"summary":{"state":"', '"summary":{"state":"not ') ?? '';
  expect(text).not.toBe(file?.text);
  const { unmet } = await simulate(parseScenario(text, 'changed'));
  expect(unmet.length).toBeGreaterThan(0);
});

async function check(name: string, text: string): Promise<void> {
  const scenario = parseScenario(text, name);
  expect(scenario.steps.some(({ step }) => 'expect' in step)).toBe(true);
  const run = await simulate(scenario, name);
  expect(run.unmet.map(({ line, diff }) => `${name}:${line}\n${diff}`).join('\n')).toBe('');
  expect(run.violations).toEqual([]);
  const again = await simulate(parseScenario(text, name), name);
  expect(again.trace.map(printTraceLine)).toEqual(run.trace.map(printTraceLine));
}

function filesIn(folder: string): ScenarioFile[] {
  const path = fileURLToPath(new URL(folder, import.meta.url));
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => ({ name, text: readFileSync(`${path}${name}`, 'utf8') }));
}
