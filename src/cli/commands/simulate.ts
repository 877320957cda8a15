import { parseScenario } from '../../scenario/parse.js';
import { printTraceLine } from '../../scenario/print.js';
import { harmless } from '../../scenario/timeline/text.js';
import { drawTimeline } from '../../scenario/timeline.js';
import { type Simulation, simulate } from '../../testing/simulate.js';
import type { ExitStatus } from '../exit.js';
import { complain, print, wantsColor, width } from '../output.js';
import { readText } from '../read-file.js';

export interface SimulateOptions {
  readonly json?: boolean;
  readonly check?: boolean;
}

/** `commitpoint simulate FILE`: a duplex session against a scripted far side, in virtual time. */
export async function simulateFile(
  file: string,
  { json = false, check = false }: SimulateOptions,
): Promise<ExitStatus> {
  const scenario = parseScenario(await readText(file), file);
  const simulation = await simulate(scenario, file);
  if (json) for (const line of simulation.trace) print(printTraceLine(line));
  else draw(scenario.title, simulation);
  if (!check) return 0;
  return checked(file, simulation, json);
}

export function draw(title: string, simulation: Simulation): void {
  if (title !== '') print(`${harmless(title)}\n`);
  print(drawTimeline(simulation.entries, { color: wantsColor(), width: width() }));
}

function checked(file: string, { unmet, violations }: Simulation, json: boolean): ExitStatus {
  for (const { line, diff } of unmet) complain(`${file}:${line}: the trace is not what was expected\n${diff}`);
  for (const violation of violations) complain(`${file}: invariant broken: ${violation}`);
  if (unmet.length > 0 || violations.length > 0) return 1;
  if (!json) print('\ncheck: the trace is as expected, no invariant is broken');
  return 0;
}
