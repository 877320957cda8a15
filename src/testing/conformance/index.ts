/** A suite that anybody can run against a driver of their own. */
export type {
  ConformanceCall,
  ConformanceFarSide,
  ConformanceTurn,
  FarSidePlan,
  FarSideSituation,
  ReceivedResult,
} from './far-side.js';
export {
  type ConformanceCase,
  type ConformanceOptions,
  type ConformanceOutcome,
  type ConformanceRunner,
  type ConformanceSuite,
  providerConformance,
} from './provider-conformance.js';
