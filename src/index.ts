/**
 * Commitpoint: duplex sessions and their tool calls as state machines, with a
 * commit point for every result; and conversations, with transactions that hold
 * what they promise.
 */
export * from './contract/index.js';
export {
  type ChangeKind,
  ConversationChange,
  type ConversationDiagnostic,
  type ConversationDiagnosticCode,
  type ConversationMode,
  type ConversationPolicies,
  type ConversationState,
  type EarlierConversation,
  type FinalPhase,
  type FinishReason,
  type FinishReport,
  type FoldEnd,
  type FoldInput,
  linearMessages,
  type MessageChange,
  MessageList,
  type ModelUsage,
  openToolCalls,
  RequestEnd,
  type TaskChange,
  TaskMap,
  type TaskState,
  type TaskStatusName,
  type TodoList,
  type Touch,
  todoLists,
} from './conversation/index.js';
export {
  type ConsumeOptions,
  Conversation,
  type ConversationActorRef,
  type ConversationEffect,
  type ConversationOptions,
  ConversationStream,
  createConversation,
  defineTool,
  type EventSource,
  Session,
  type SessionActorRef,
  type SessionOptions,
  startSession,
} from './runtime/index.js';
