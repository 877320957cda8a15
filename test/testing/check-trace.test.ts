/** The trace checker is silent about legal runs, and misses no line of the given cases. Numbers as in `docs/design/duplex.md` §4. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import { printTraceLine } from '../../src/scenario/print.js';
import type { TimelineEntry } from '../../src/scenario/scenario.js';
import { violationsOf } from '../../src/testing/check-trace.js';
import { simulate } from '../../src/testing/simulate.js';
import { expectedRun, given } from '../scenario/given.js';
import { legal } from './legal-runs.js';
import type * as t from './runs.js';

const ownFolder = fileURLToPath(new URL('../scenarios/', import.meta.url));
const own = (existsSync(ownFolder) ? readdirSync(ownFolder) : [])
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => ({ name, scenario: parseScenario(readFileSync(`${ownFolder}${name}`, 'utf8'), name) }));

/** The run up to a step, for every step. */
function* beginnings({ header, entries }: t.Run): Iterable<t.Run> {
  for (const [index, entry] of entries.entries())
    if ('step' in entry) yield { header, entries: entries.slice(0, index) };
}

function expectSilence(run: t.Run, name: string): void {
  expect(violationsOf(run.entries, run.header), name).toEqual([]);
  for (const { header, entries } of beginnings(run)) expect(violationsOf(entries, header), name).toEqual([]);
}

describe('says nothing about legal runs', () => {
  for (const [name, run] of Object.entries(legal)) test(`${name}, wherever it stops`, () => expectSilence(run, name));

  test.skipIf(given.length === 0)('the given cases as they are written, wherever they stop', () => {
    for (const { name, scenario } of given) {
      expectSilence({ header: scenario.header, entries: expectedRun(scenario) }, name);
    }
  });

  test('our own scenarios as they run, wherever they stop', async () => {
    expect(own.length).toBeGreaterThan(0);
    for (const { name, scenario } of own) {
      const { entries } = await simulate(scenario, name);
      expectSilence({ header: scenario.header, entries }, name);
    }
  });

  test('a run of nothing', () => {
    expect(violationsOf([], {})).toEqual([]);
  });
});

/** Lines that no invariant of §4 asks for: nobody but an `expect` misses them. */
const unasked = /^\{"provider":"(connect|send|interrupt)"|^\{"host":|"settled_late":|^\{"summary":/;

const linesOf = (entries: readonly TimelineEntry[]) =>
  entries.flatMap((entry, index) => ('line' in entry ? [[index, printTraceLine(entry.line)] as const] : []));

describe.skipIf(given.length === 0)('in the given cases', () => {
  test('no line can be left out that an invariant asks for', () => {
    const unnoticed: string[] = [];
    for (const { name, scenario } of given) {
      const entries = expectedRun(scenario);
      for (const [index, text] of linesOf(entries)) {
        const found = violationsOf(entries.toSpliced(index, 1), scenario.header);
        if (found.length === 0 && !unasked.test(text)) unnoticed.push(`${name}: ${text}`);
      }
    }
    // Code that never settles leaves nothing that shows whether it ran.
    expect(unnoticed).toEqual(['hanging-tool-delays-no-event: {"tool":"t1","execute":{}}']);
  });

  test('no line can come twice', () => {
    const mayComeTwice = /^\{"provider":"(connect|send|interrupt)"|^\{"host":|^\{"summary":/;
    const unnoticed: string[] = [];
    for (const { name, scenario } of given) {
      const entries = expectedRun(scenario);
      for (const [index, text] of linesOf(entries)) {
        const doubled = entries.toSpliced(index, 0, entries[index] as TimelineEntry);
        if (violationsOf(doubled, scenario.header).length === 0 && !mayComeTwice.test(text))
          unnoticed.push(`${name}: ${text}`);
      }
    }
    expect(unnoticed).toEqual([]);
  });
});
