import { printJson } from './json.js';
import type { ExpectedLine, Scenario, TraceLine } from './scenario.js';

/**
 * A scenario as a file: the header, then one step a line. `parseScenario` reads
 * the same scenario back, with the steps numbered from line 2 (after the comment).
 * @param comment lines to put at the top, each behind `//`
 */
export function printScenario({ title, header, steps }: Scenario, comment = ''): string {
  const { tools, options, provider, journal } = header;
  const first = { scenario: title === '' ? undefined : title, tools, options, provider, journal };
  const remarks = comment === '' ? [] : comment.split(/\r?\n/).map((line) => `// ${line}`);
  return [...remarks, printJson(first), ...steps.map(({ step }) => printJson(step)), ''].join('\n');
}

/** One line of a trace, or of an `expect`, as JSON text: calls in their order. */
export function printTraceLine(line: TraceLine | ExpectedLine): string {
  return printJson(line);
}
