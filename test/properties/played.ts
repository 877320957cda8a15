/** A random scenario on the real runtime in virtual time, brought to its end. */
import { sessionStateOf } from '../../machines/index.js';
import { printScenario } from '../../src/scenario/print.js';
import type { Scenario, ScenarioHeader, Step, TimelineEntry, TraceLine } from '../../src/scenario/scenario.js';
import { Simulator } from '../../src/testing/simulator.js';
import type { Ending } from './ending.js';
import { signalsListenedTo, strayFrom } from './stray.js';

/** What looks on while a scenario is played. */
export interface Onlooker {
  /** The session is made and connects; nothing else has happened. */
  begins?(simulator: Simulator): void;
  /** A step was done and all is quiet. `lines`: what it left in the trace. */
  after?(step: Step, lines: readonly TraceLine[], simulator: Simulator): void;
}

/** A scenario that was played. */
export interface Played {
  readonly simulator: Simulator;
  /** The signal that the session was started with. */
  readonly hostSignal: AbortSignal;
  readonly entries: readonly TimelineEntry[];
  /** How many steps were possible, of how many. */
  readonly done: number;
  readonly tried: number;
  /** What nobody caught meanwhile. */
  readonly stray: readonly string[];
}

/** Longer than any limit of time that a random header sets. */
const forEver = 100_000;

/**
 * Plays a scenario, leaves out what is impossible, and ends the session: by
 * `ending`, unless it has ended; then whatever still waits is answered, so that
 * nothing but a fault can keep it from being over.
 */
export async function play(scenario: Scenario, ending: Ending, onlooker: Onlooker = {}): Promise<Played> {
  const { result: simulator, signals } = signalsListenedTo(() => new Simulator(scenario.header));
  let done = 0;
  let tried = 0;
  const doStep = async (step: Step): Promise<boolean> => {
    tried++;
    const { entries } = simulator;
    const before = entries.length;
    const impossible = await simulator.step(step);
    if (impossible !== undefined) return false;
    done++;
    const lines = entries.slice(before).flatMap((entry) => ('line' in entry ? [entry.line] : []));
    onlooker.after?.(step, lines, simulator);
    return true;
  };
  const stray = await strayFrom(async () => {
    onlooker.begins?.(simulator);
    await simulator.settle();
    for (const { step } of scenario.steps) await doStep(step);
    const counted = { done, tried };
    await finish(simulator, ending, doStep);
    ({ done, tried } = counted);
  });
  simulator.finish();
  return { simulator, hostSignal: signals[0] as AbortSignal, entries: simulator.entries, done, tried, stray };
}

async function finish(simulator: Simulator, ending: Ending, doStep: (step: Step) => Promise<boolean>): Promise<void> {
  const stateOf = () => sessionStateOf(simulator.session.actor.getSnapshot());
  const connect: Step = ending.connects ? { connect: 'resolve' } : { connect: 'reject', message: 'no route' };
  const canEndNow = 'host' in ending.by;
  if (stateOf() === 'connecting' && !canEndNow) await doStep(connect);
  if (stateOf().startsWith('open') || stateOf() === 'connecting') await doStep(ending.by);
  if (ending.driverIsSlow && (simulator.header.options?.closeTimeoutMs ?? 5_000) > 0) await doStep({ clock: 5_000 });
  await doStep(connect);
  await doStep({ close: 'resolve' });
  // after the end: code that still runs settles, the far side answers, the host acts and reads on, time goes by
  for (const { id } of simulator.session.calls()) {
    await doStep({ tool: id, resolve: 'late' });
    await doStep({ publish: id, accept: true });
  }
  await doStep({ flush: 'resolve' });
  await doStep({ host: 'send', input: { type: 'text', text: 'is anybody there' } });
  await doStep({ host: 'close' });
  await doStep({ host: 'resume' });
  await doStep({ clock: forEver });
}

/** The file of what was played: what anybody needs to play it again. */
export function fileOf(header: ScenarioHeader, entries: readonly TimelineEntry[], comment: string): string {
  const steps = entries.flatMap((entry) => ('step' in entry ? [entry.step] : []));
  return printScenario(
    { title: 'found by a property', header, steps: steps.map((step, index) => ({ line: index + 2, step })) },
    comment,
  );
}
