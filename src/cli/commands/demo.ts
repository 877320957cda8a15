import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseScenario } from '../../scenario/parse.js';
import { printTraceLine } from '../../scenario/print.js';
import { type Simulation, simulate } from '../../testing/simulate.js';
import { drawConversation } from '../demo-conversation.js';
import { beginJournal, type CheckedJournal, checkJournal, wordsOf } from '../demo-journal.js';
import { demoScenario } from '../demo-scenario.js';
import type { ExitStatus } from '../exit.js';
import { complain, print } from '../output.js';
import { ownCommand } from '../own-command.js';
import { draw } from './simulate.js';

export interface DemoOptions {
  readonly json?: boolean;
}

/**
 * `commitpoint demo`: the main jobs on embedded defaults, a session and a conversation, and the journal of both; with `json` the
 * session's trace.
 */
export async function demo({ json = false }: DemoOptions): Promise<ExitStatus> {
  const scenario = parseScenario(demoScenario.trim(), 'demo');
  const simulation = await simulate(scenario, 'demo', { payloads: 'keep' });
  for (const violation of simulation.violations) complain(`invariant broken: ${violation}`);
  let isSound = simulation.violations.length === 0;
  if (json) for (const line of simulation.trace) print(printTraceLine(line));
  else {
    tell(scenario.title, simulation);
    isSound = (await record(simulation)) && isSound;
  }
  return isSound ? 0 : 1;
}

/** Draws the conversation while it is recorded behind the session, and checks the journal of both. Gives whether it is sound. */
async function record({ journal: records }: Simulation): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'commitpoint-'));
  const path = join(folder, 'demo.journal');
  // a journal keeps no words of a session; the scenario has them, and it is the same run wherever it is run
  const script = join(folder, 'demo.jsonl');
  await writeFile(script, demoScenario.trimStart());
  const journal = await beginJournal(path, records);
  tellConversation((await drawConversation(journal)).text);
  await journal.close();
  const checked = await checkJournal(path);
  tellJournal({ path, script }, checked);
  return checked.verdict.findings.length === 0;
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

function tellConversation(drawn: string): void {
  print(`
What a client holds of it: a response stream with transactions

${drawn}

What to see here:
- Between BEGIN and COMMIT the client shows what comes, and can take it back: the first
  attempt went with its ROLLBACK, and the very same conversation stood as before it.
- An effect that belongs to an answer waits for the COMMIT. That of the first attempt
  never ran, that of the second ran once.`);
}

function tellJournal(
  { path, script }: { readonly path: string; readonly script: string },
  checked: CheckedJournal,
): void {
  const command = ownCommand();
  print(`
What is left of both: a journal, which anybody can check

${wordsOf(checked).join('\n')}

Look for yourself:
  ${command} verify ${path}
  ${command} replay ${path} --at ${checked.atTheCommitPoint.at}
  ${command} inspect ${path}    (a page; the journal of a session keeps no words)

And the session on a page of this machine, with all that was said: who lived, in which
state at any instant, and why each call came to what it came to:
  ${command} inspect ${script}`);
}
