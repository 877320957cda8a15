export type { RecordSessionOptions } from './options.js';
export { recordSession, type SessionRecording } from './record-session.js';
export type { RecordingEnd } from './recorder.js';
export type { OnInterrupted } from './scribe.js';
export type { ResponseSink } from './sink-outlet.js';
