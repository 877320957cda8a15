/** A path of the explorer on the real runtime: what differs between the two, step by step. */
import { isDeepStrictEqual } from 'node:util';
import { callStateOf, sessionStateOf } from '../../../machines/index.js';
import type { TraceLine } from '../../../src/scenario/scenario.js';
import { Simulator } from '../../../src/testing/simulator.js';
import type { Path, PathMove, PathStep } from '../../../src/verify/explore/session/path.js';
import { scenarioOf } from '../../../src/verify/explore/session/scenario-of.js';
import { idOf } from '../../../src/verify/explore/session/stage.js';

/** Plays the path as a scenario. Gives the first difference, or nothing. */
export async function differenceOf(path: Path): Promise<string | undefined> {
  const { scenario, done } = scenarioOf(path, 'a path of the explorer');
  const simulator = new Simulator(scenario.header);
  await simulator.settle();
  let next = 0;
  let records = 1;
  let lines = 1;
  for (const [index, step] of path.steps.entries()) {
    for (; next < (done[index] as number); next++) {
      const { step: told } = scenario.steps[next] as (typeof scenario.steps)[number];
      const impossible = await simulator.step(told);
      if (impossible !== undefined) return `step ${index}: ${JSON.stringify(told)}: ${impossible.problem}`;
    }
    const where = `step ${index} (${JSON.stringify(step.happening)})`;
    const states = statesIn(simulator);
    const expected = statesOf(step);
    if (!isDeepStrictEqual(states, expected)) return different(`${where}: states`, expected, states);

    const journal = simulator.journal.slice(records).map(({ actor, event, from, to, did }) => {
      const call = actor.includes('/') ? actor.slice(actor.indexOf('/') + 1) : '';
      return [call, event, from, to, did.map(({ effect }) => effect)];
    });
    records = simulator.journal.length;
    const moves = step.moves.filter(isRecorded).map(({ call, event, from, to, did }) => {
      return [call === undefined ? '' : idOf(call), event, from, to, did.filter((effect) => effect !== 'callChanged')];
    });
    if (!isDeepStrictEqual(journal, moves)) return different(`${where}: records`, moves, journal);

    const { trace } = simulator;
    const found = byLane(trace.slice(lines).map(laneOf));
    lines = trace.length;
    if (path.bounds.maxBufferedEvents !== undefined) continue;
    const lanes = byLane(expectedLines(step, index === 0 ? path.before : (path.steps[index - 1] as PathStep).after));
    if (!isDeepStrictEqual(found, lanes)) return different(`${where}: lines`, lanes, found);
  }
  simulator.finish();
  const summary = simulator.trace.at(-1);
  const violations = summary !== undefined && 'summary' in summary ? summary.summary.violations : [];
  return violations.length === 0 ? undefined : `the trace breaks ${violations.join('; ')}`;
}

function different(what: string, pure: unknown, living: unknown): string {
  return `${what}\n  explorer ${JSON.stringify(pure)}\n  runtime  ${JSON.stringify(living)}`;
}

function statesIn({ session }: Simulator): unknown {
  return [sessionStateOf(session.actor.getSnapshot()), session.calls().map(({ id, state }) => [id, state])];
}

function statesOf({ after }: PathStep): unknown {
  const { session, calls } = after;
  return [sessionStateOf(session.snapshot), calls.map((call, place) => [idOf(place), callStateOf(call.snapshot)])];
}

/** Pieces of text and audio are counted, where they fit. */
function isRecorded({ call, event, did }: PathMove): boolean {
  return call !== undefined || (event !== 'text' && event !== 'audio') || did.length !== 1;
}

type Line = readonly [lane: string, what: string];

function byLane(lines: readonly (Line | undefined)[]): Record<string, string[]> {
  const lanes: Record<string, string[]> = {};
  for (const line of lines) {
    if (line === undefined) continue;
    lanes[line[0]] ??= [];
    lanes[line[0]]?.push(line[1]);
  }
  return lanes;
}

function laneOf(line: TraceLine): Line | undefined {
  if ('event' in line) {
    const { event } = line;
    if ('toolUseId' in event) return [event.toolUseId, event.type];
    const call = event.type === 'error' ? /result of call (t\d+)/.exec(event.message)?.[1] : undefined;
    return call === undefined ? ['', event.type] : [call, 'error'];
  }
  if ('provider' in line) return 'id' in line ? [line.id, line.provider] : ['', line.provider];
  if ('tool' in line) {
    if ('execute' in line) return [line.tool, 'execute'];
    return 'signal' in line ? [line.tool, 'aborted'] : [line.tool, 'settled_late'];
  }
  // how a close() ends is the driver's business
  if ('host' in line) return line.host === 'close' ? undefined : ['', `refused ${line.host}`];
  return 'closed' in line ? ['', 'closed resolved'] : undefined;
}

function expectedLines({ happening, moves, after }: PathStep, before: PathStep['after']): (Line | undefined)[] {
  const act = happening.of === 'host' ? happening.act : happening.of;
  const aborted = new Set<number>();
  return moves.flatMap(({ call, event, did }): (Line | undefined)[] => {
    if (call === undefined) return did.map((effect) => sessionLine(effect, event, act));
    const lane = idOf(call);
    const codeRan = before.calls[call]?.code === 'runs';
    return did.map((effect) => {
      if (effect === 'abortSignal') {
        const isFirst = before.calls[call]?.aborted === false && codeRan && !aborted.has(call);
        aborted.add(call);
        return isFirst ? [lane, 'aborted'] : undefined;
      }
      if (effect === 'noteSettledLate') {
        return sessionStateOf(after.session.snapshot) === 'closed' ? undefined : [lane, 'settled_late'];
      }
      const what = callLines[effect];
      return what === undefined ? undefined : [lane, what];
    });
  });
}

const callLines: Readonly<Record<string, string>> = {
  reportStarted: 'tool_started',
  reportCompleted: 'tool_completed',
  reportAbandoned: 'tool_abandoned',
  reportRejected: 'error',
  reportUnconfirmed: 'error',
  execute: 'execute',
  publish: 'sendToolResult',
  stub: 'abandonToolCall',
};

function sessionLine(effect: string, event: string, act: string): Line | undefined {
  switch (effect) {
    case 'deliver':
      return ['', event];
    case 'reportEnd':
      return ['', event === 'closed' ? 'closed' : 'error'];
    case 'closeDriver':
      return ['', 'close'];
    case 'performAct':
      return act === 'send' ? ['', 'send'] : undefined;
    case 'refuseAct':
      return ['', `refused ${act}`];
    case 'refuseStart':
      return ['', 'refused start'];
    case 'resolveClosed':
      return ['', 'closed resolved'];
    default:
      return undefined;
  }
}
