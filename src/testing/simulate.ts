import { ScenarioError } from '../contract/errors.js';
import type { JournalRecord, PayloadPolicy } from '../contract/journal.js';
import { compareTrace } from '../scenario/compare.js';
import type { Scenario, Step, TimelineEntry, TraceLine } from '../scenario/scenario.js';
import { Simulator } from './simulator.js';

/** An `expect` that the trace did not meet. */
export interface Unmet {
  /** Where it stands in the file, from 1. */
  readonly line: number;
  /** For people: `-` expected, `+` found. */
  readonly diff: string;
}

/** What a scenario did. */
export interface Simulation {
  /** The trace; its last line is the summary. */
  readonly trace: readonly TraceLine[];
  /** Steps and trace lines in the order in which they happened, with the virtual time: what a timeline draws. */
  readonly entries: readonly TimelineEntry[];
  /** Every `expect` that was not met. */
  readonly unmet: readonly Unmet[];
  /** What the session and its calls have recorded; payloads are hashed unless something else was asked for. */
  readonly journal: readonly JournalRecord[];
  /** Invariants that the trace breaks; none on a sound run. */
  readonly violations: readonly string[];
}

/** What `simulate` can be told. */
export interface SimulateOptions {
  /** What the journal keeps of texts, arguments and outputs. Default `hash`. */
  readonly payloads?: PayloadPolicy;
}

/**
 * Runs a scenario on the real runtime in virtual time. The same scenario always
 * gives the same trace.
 *
 * @throws {ScenarioError} at a step that is impossible where the run stands;
 *   `file` names the scenario in its message.
 */
export async function simulate(
  scenario: Scenario,
  file = scenario.title,
  { payloads = 'hash' }: SimulateOptions = {},
): Promise<Simulation> {
  const simulator = new Simulator(scenario.header, payloads);
  const unmet: Unmet[] = [];
  let compared = 0;
  const compare = (line: number, expected: Extract<Step, { expect: unknown }>['expect']) => {
    const { trace } = simulator;
    const { equal, diff } = compareTrace(expected, trace.slice(compared));
    compared = trace.length;
    if (!equal) unmet.push({ line, diff });
  };
  await simulator.settle();
  const last = scenario.steps.at(-1);
  for (const scenarioStep of scenario.steps) {
    const { line, step } = scenarioStep;
    if ('expect' in step) {
      // an `expect` that ends the file sees the summary too
      if (scenarioStep === last) simulator.finish();
      compare(line, step.expect);
      continue;
    }
    const impossible = await simulator.step(step);
    if (impossible !== undefined) throw new ScenarioError(file, line, `impossible step: ${impossible.problem}`);
  }
  if (last === undefined || !('expect' in last.step)) simulator.finish();
  const summary = simulator.trace.at(-1);
  const violations = summary !== undefined && 'summary' in summary ? summary.summary.violations : [];
  const { trace, entries, journal } = simulator;
  return { trace, entries, unmet, journal, violations };
}
