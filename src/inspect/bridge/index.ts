export * from './bridge.js';
export type {
  ActorMessage,
  EventData,
  EventMessage,
  InspectionMessage,
  Redact,
  RedactedPart,
  SnapshotData,
  SnapshotMessage,
} from './messages.js';
export type { InspectionBridgeOptions } from './options.js';
export type { InspectionSocket, SendMessage } from './outlet.js';
