/** What tests of hosts and drivers need: a scripted far side, the runtime in virtual time, order checkers. */
export {
  type DriverAnswer,
  type DriverCall,
  ScriptedProvider,
  type ScriptedProviderOptions,
  scriptedProvider,
} from '../providers/scripted/index.js';
export { parseScenario } from '../scenario/parse.js';
export { printScenario, printTraceLine } from '../scenario/print.js';
export type {
  CallStates,
  ExpectedLine,
  RefusedAct,
  Scenario,
  ScenarioHeader,
  ScenarioJournal,
  ScenarioOptions,
  ScenarioProvider,
  ScenarioStep,
  ScenarioTool,
  Step,
  TimelineEntry,
  TraceEvent,
  TraceLine,
} from '../scenario/scenario.js';
export { drawTimeline, type TimelineOptions } from '../scenario/timeline.js';
export { violationsOf } from './check-trace.js';
export {
  type ConformanceCall,
  type ConformanceCase,
  type ConformanceFarSide,
  type ConformanceOptions,
  type ConformanceOutcome,
  type ConformanceRunner,
  type ConformanceSuite,
  type ConformanceTurn,
  type FarSidePlan,
  type FarSideSituation,
  providerConformance,
  type ReceivedResult,
} from './conformance/index.js';
export { expectLegal, type LegalOptions } from './expect-legal.js';
export { type SimulateOptions, type Simulation, simulate, type Unmet } from './simulate.js';
export { ImpossibleStep, Simulator } from './simulator.js';
export { VirtualClock } from './virtual-clock.js';
