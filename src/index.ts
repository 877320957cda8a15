/**
 * Commitpoint: duplex sessions and their tool calls as state machines, with a
 * commit point for every result.
 */
export * from './contract/index.js';
export { defineTool, Session, type SessionActorRef, type SessionOptions, startSession } from './runtime/index.js';
