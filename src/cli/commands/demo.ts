import { parseScenario } from '../../scenario/parse.js';
import { printTraceLine } from '../../scenario/print.js';
import { type Simulation, simulate } from '../../testing/simulate.js';
import { demoScenario } from '../demo-scenario.js';
import type { ExitStatus } from '../exit.js';
import { complain, print } from '../output.js';
import { draw } from './simulate.js';

export interface DemoOptions {
  readonly json?: boolean;
}

/** `commitpoint demo`: the main job on an embedded default. */
export async function demo({ json = false }: DemoOptions): Promise<ExitStatus> {
  const scenario = parseScenario(demoScenario.trim(), 'demo');
  const simulation = await simulate(scenario, 'demo');
  if (json) for (const line of simulation.trace) print(printTraceLine(line));
  else tell(scenario.title, simulation);
  for (const violation of simulation.violations) complain(`invariant broken: ${violation}`);
  return simulation.violations.length === 0 ? 0 : 1;
}

function tell(title: string, simulation: Simulation): void {
  draw(title, simulation);
  print(`
What to see here:
- book_room (c1) had entered sendToolResult, its commit point, when the user spoke:
  the interruption could not recall it, and it completed.
- find_rooms (c2) was still running: it was abandoned at that very moment. Its code
  ran on with a live signal, and its late answer was sent to nobody.
- The session ended once, and every call has exactly one outcome.`);
  if (simulation.violations.length === 0) print('\nchecked: no invariant of the run is broken');
}
