/**
 * Arbitraries of fast-check, for property tests of hosts and drivers: what a far side says, how tools behave, what a host does,
 * whole scenarios, response streams. They are the ones that the library is tested with. `fast-check` is an optional peer
 * dependency: install it where this is used.
 */
export { messageOf, type Wishes } from './message-of.js';
export { responseEvents } from './response-streams/events.js';
export { legalResponseStreams } from './response-streams/legal.js';
export { foldInputs, responseStreams } from './response-streams/streams.js';
export { type Way, ways } from './response-streams/ways.js';
export { type FarCall, type FarSchedule, farSchedule } from './scenarios/far-side.js';
export { scenarioHeader, sessionOptions, toolBehaviour, toolNames } from './scenarios/headers.js';
export { type HostActs, hostActs } from './scenarios/host-acts.js';
export { scenario } from './scenarios/scenario.js';
