/** The inspector's local page on a process, for Node: `commitpoint/inspect/server`. */
export type { Frame } from '../view/frames.js';
export type { Presentation, PresentedRun } from '../view/presentation.js';
export { createInspectorServer, InspectorServer, type InspectorServerOptions } from './inspector-server.js';
export type { Watchable } from './watcher.js';
