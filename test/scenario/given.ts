/** The given cases, and a run as an `expect`ed trace tells it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseScenario } from '../../src/scenario/parse.js';
import type { Scenario, TimelineEntry, TraceLine } from '../../src/scenario/scenario.js';

// The cases are not ours to copy: they lie beside the repository, in CI and on our machines, and not beside a stranger's clone.
const folder = fileURLToPath(new URL('../../../shared/cases/duplex/', import.meta.url));

/** Whether there are given cases. Says so once where there are none. */
export const haveCases = existsSync(folder);
if (!haveCases) console.warn('No given cases beside the repository (../shared/cases/duplex): their tests are skipped.');

/** A given case. */
export interface Given {
  readonly name: string;
  readonly text: string;
  readonly scenario: Scenario;
}

/** All of them, by name. */
export const given: readonly Given[] = haveCases
  ? readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => {
        const text = readFileSync(`${folder}${name}`, 'utf8');
        return { name: name.replace('.jsonl', ''), text, scenario: parseScenario(text, name) };
      })
  : [];

/**
 * The run that a scenario expects: its steps, and the lines of its `expect`s as
 * if they had been written. Lines of a clock step stand at its end.
 */
export function expectedRun({ steps }: Scenario): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  let at = 0;
  for (const { step } of steps) {
    if ('expect' in step) {
      for (const line of step.expect) entries.push({ at, line: line as unknown as TraceLine });
    } else {
      entries.push({ at, step });
      if ('clock' in step) at += step.clock;
    }
  }
  // The session connects before the first step, the file tells of it after that.
  const connect = entries.findIndex((entry) => 'line' in entry && 'provider' in entry.line);
  const [first] = entries.splice(connect, 1);
  return first === undefined ? entries : [{ ...first, at: 0 }, ...entries];
}
