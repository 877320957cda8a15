export {
  type ConsumeOptions,
  Conversation,
  type ConversationActorRef,
  type ConversationEffect,
  type ConversationOptions,
  ConversationStream,
  createConversation,
  type EventSource,
} from './conversation/index.js';
export { defineTool } from './define-tool.js';
export type { SessionOptions } from './options.js';
export {
  type OnInterrupted,
  type RecordingEnd,
  type RecordSessionOptions,
  type ResponseSink,
  recordSession,
  type SessionRecording,
} from './record-session/index.js';
export {
  type Notice,
  type NoticeFailure,
  type OutcomeCounts,
  type RecoveredCall,
  type RecoveredCode,
  type RecoveredOutcome,
  type RecoveredSession,
  type RecoverOptions,
  type Recovery,
  recover,
} from './recover/index.js';
export { Session, type SessionActorRef } from './session.js';
export { type StartOptions, startSession } from './start-session.js';
export {
  type Backoff,
  type ChildReport,
  createSupervisor,
  type Incarnation,
  type IncarnationEnd,
  type RestartAttempt,
  type RestartOptions,
  type ShutdownReport,
  type SupervisedCloseReport,
  SupervisedSession,
  type SupervisedSessionOptions,
  Supervisor,
  type SupervisorActorRef,
  type SupervisorOptions,
  type SupervisorStats,
} from './supervisor/index.js';
