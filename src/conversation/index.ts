/**
 * Conversations: what a client holds after folding a response stream. The fold is pure; `createConversation` of the
 * package's entry point is the same with living actors.
 */
export type { ChangeKind, MessageChange, TaskChange, Touch } from './change.js';
export { ConversationChange } from './change.js';
export type { MessagePlace } from './derived/index.js';
export { linearMessages, messageIndex, openToolCalls, todoLists } from './derived/index.js';
export type { TodoList } from './derived/todo-lists.js';
export type { ConversationDiagnostic, ConversationDiagnosticCode, FailingCode } from './diagnostics.js';
export { failingCodes, informingCodes } from './diagnostics.js';
export type { FinishReason, FinishReport, ModelUsage } from './finish.js';
export type { Fold, FoldOptions } from './fold.js';
export { createFold } from './fold.js';
export type { HistoryOptions } from './history.js';
export { historyOf } from './history.js';
export type { FoldEnd, FoldInput } from './input.js';
export { foldJournal, JournalFold } from './journal-fold.js';
export type { ConversationMode, ConversationPolicies } from './policies.js';
export { conversationModes, policyValues } from './policies.js';
export type { FinalPhase } from './request-end.js';
export { RequestEnd } from './request-end.js';
export type { RecordedHostEffect, RecoveredConversation } from './restore.js';
export { restoreCommitted } from './restore.js';
export type { ConversationResult } from './result.js';
export { resultOf } from './result.js';
export type { ConversationState } from './state.js';
export { FoldState } from './state.js';
export type { FoldStep } from './step.js';
export { toEvents } from './to-events.js';
export { Folded } from './turn.js';
export type { EarlierConversation, TaskState, TaskStatusName } from './views.js';
export { MessageList, TaskMap } from './views.js';
export type { ConversationWriter, TaskWriter } from './writer/action-writer.js';
export type { FieldPath, TextPath } from './writer/message-path.js';
export type { ResponseFinish, ResponseStream, ResponseStreamOptions } from './writer/response-stream.js';
export { createResponseStream } from './writer/response-stream.js';
