export { defineTool } from './define-tool.js';
export type { SessionOptions } from './options.js';
export { Session, type SessionActorRef } from './session.js';
export { startSession } from './start-session.js';
