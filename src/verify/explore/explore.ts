/**
 * Everything that can happen, up to a bound: the shipped machines and the
 * shipped coordination, stepped through every interleaving, and the judge of
 * `verify` over every step. Pure: no promise, no clock, no driver.
 */
import { InvalidInputError } from '../../contract/errors.js';
import { printScenario } from '../../scenario/print.js';
import type { Scenario } from '../../scenario/scenario.js';
import { type SessionExploration, sessionBounds } from './session/bounds.js';
import { retrace } from './session/path.js';
import { playScenario } from './session/player.js';
import { scenarioOf } from './session/scenario-of.js';
import { SessionSystem } from './session/system.js';
import { judgeStream, printStreamScenario, type StreamScenario, streamScenarioOf } from './stream/scenario.js';
import { type StreamExploration, StreamSystem } from './stream/system.js';
import { type Bounds, type Finding, type Progress, walk } from './walk.js';

/** How far to go. */
export interface ExplorationBounds {
  /** How many things may happen one after another. Default: any number. */
  readonly depth?: number;
  /** How many different states are met. Default 2,000,000, about 40 bytes each and what is kept of their parts. */
  readonly states?: number;
  /** After how many different broken invariants to stop. Default: none stops it. */
  readonly violations?: number;
  /** Is told now and then how far it is. */
  readonly onProgress?: (progress: Progress) => void;
}

/** What is explored: a session and its calls, by default two of one tool of each policy. */
export type Exploration = SessionExploration & ExplorationBounds;

/** An invariant that can be broken, and the shortest way to it. */
export interface Violation<Told = Scenario> {
  /** `D3`: by its number. */
  readonly invariant: string;
  readonly what: string;
  /** What shows it. */
  readonly scenario: Told;
  /** The same as a file. */
  readonly file: string;
}

/** What was explored. */
export interface Explored<Told = Scenario> {
  /** Different states that were met. */
  readonly states: number;
  /** Things that happened in them. */
  readonly transitions: number;
  /** The most that happened one after another. */
  readonly depth: number;
  /** Nothing was left out: neither the bound of depth nor that of states cut anything off. */
  readonly complete: boolean;
  /** One for each invariant that is broken, the shortest first. */
  readonly violations: readonly Violation<Told>[];
}

/**
 * Walks through everything that can happen to a session and its calls, or with `stream` to a response stream and its
 * transactions; or takes the steps of one scenario and judges them.
 *
 * @throws {InvalidInputError} for options that there are not
 * @throws {ScenarioError} at a step of the scenario that is impossible where it stands
 */
export function explore(
  options: ({ readonly stream: StreamExploration } & ExplorationBounds) | { readonly scenario: StreamScenario },
): Explored<StreamScenario>;
/** Of a session and its calls. */
export function explore(options?: Exploration | { readonly scenario: Scenario }): Explored;
export function explore(
  options:
    | Exploration
    | ({ readonly stream: StreamExploration } & ExplorationBounds)
    | { readonly scenario: Scenario | StreamScenario } = {},
): Explored | Explored<StreamScenario> {
  if ('scenario' in options) {
    const { scenario } = options;
    return 'lines' in scenario ? judgedStream(scenario) : judged(scenario);
  }
  return 'stream' in options ? exploredStream(options.stream, options) : explored(options);
}

/** The bounds of a walk. @throws {InvalidInputError} */
export function boundsOf({ depth, states = 2_000_000, violations }: ExplorationBounds): Bounds {
  const limit = (field: string, value: number | undefined): number => {
    if (value === undefined) return Number.POSITIVE_INFINITY;
    if (!Number.isInteger(value) || value < 1) throw new InvalidInputError(field, 'an integer from 1', value);
    return value;
  };
  return {
    maxDepth: limit('depth', depth),
    maxStates: limit('states', states),
    maxViolations: limit('violations', violations),
  };
}

function explored(options: Exploration): Explored {
  const system = new SessionSystem(sessionBounds(options));
  const { states, transitions, depth, complete, found } = walk(system, boundsOf(options), options.onProgress);
  const violations = found.map(({ invariant, what, path: codes }): Violation => {
    const path = retrace(system, codes);
    const findings = path.steps.at(-1)?.findings ?? [];
    const said = findings.find((finding) => finding.invariant === invariant)?.what ?? what;
    const { scenario } = scenarioOf(path, `${invariant}: ${said}`, true);
    return { invariant, what: said, scenario, file: printScenario(scenario, commentOn(options, codes.length)) };
  });
  return { states, transitions, depth, complete, violations };
}

function commentOn({ slowValidation = false, journalFails = false, poolPlaces }: Exploration, length: number): string {
  const found = `found by the explorer, ${length} events from the beginning`;
  if (!slowValidation && !journalFails && poolPlaces === undefined) return found;
  return `${found}; no step of a scenario says when a validation ends, that a journal takes no more, nor what a pool lends`;
}

function judged(scenario: Scenario): Explored {
  const { steps, findings } = playScenario(scenario, scenario.title);
  return inARow(steps, findings, scenario, printScenario(scenario));
}

function exploredStream(stream: StreamExploration, bounds: ExplorationBounds): Explored<StreamScenario> {
  const system = new StreamSystem(stream);
  const { states, transitions, depth, complete, found } = walk(system, boundsOf(bounds), bounds.onProgress);
  const violations = found.map(({ invariant, what, path }): Violation<StreamScenario> => {
    const scenario = streamScenarioOf(system, path, `${invariant}: ${what}`);
    return { invariant, what, scenario, file: printStreamScenario(scenario) };
  });
  return { states, transitions, depth, complete, violations };
}

function judgedStream(scenario: StreamScenario): Explored<StreamScenario> {
  return inARow(scenario.lines.length, judgeStream(scenario), scenario, printStreamScenario(scenario));
}

/** One path, and nothing beside it. */
function inARow<Told>(steps: number, findings: readonly Finding[], scenario: Told, file: string): Explored<Told> {
  const violations = new Map<string, Violation<Told>>();
  for (const { invariant, what } of findings) {
    if (!violations.has(invariant)) violations.set(invariant, { invariant, what, scenario, file });
  }
  return { states: steps + 1, transitions: steps, depth: steps, complete: true, violations: [...violations.values()] };
}
