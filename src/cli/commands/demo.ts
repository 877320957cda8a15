import { parseScenario } from '../../scenario/parse.js';
import { printTraceLine } from '../../scenario/print.js';
import { type Simulation, simulate } from '../../testing/simulate.js';
import { drawConversation } from '../demo-conversation.js';
import { demoScenario } from '../demo-scenario.js';
import type { ExitStatus } from '../exit.js';
import { complain, print } from '../output.js';
import { draw } from './simulate.js';

export interface DemoOptions {
  readonly json?: boolean;
}

/** `commitpoint demo`: both main jobs on embedded defaults, a session and a conversation; with `json` the session's trace. */
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
  print(`
What a client holds of it: a response stream with transactions

${drawConversation().text}

What to see here:
- Between BEGIN and COMMIT the client shows what comes, and can take it back: the first
  attempt went with its ROLLBACK, and the very same conversation stood as before it.
- An effect that belongs to an answer waits for the COMMIT. That of the first attempt
  never ran, that of the second ran once.`);
}
