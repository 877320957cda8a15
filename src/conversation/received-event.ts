/**
 * What was read of an input, as an event again: what a journal keeps of it. It
 * folds to what the input folded to; what the fold does not read is not in it.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type ClientAction,
  ClientActionSchema,
  MessageSchema,
  type ResponseEvent,
  ResponseEventSchema,
} from '../../proto/index.js';
import type { Received } from './input.js';
import type { ResolvedMask } from './mask/path.js';
import type { FieldPlan } from './message/plan.js';
import type { ReceivedAction, ReceivedChange } from './received.js';

type Case = NonNullable<MessageInitShape<typeof ResponseEventSchema>['type']>;
type ActionCase = NonNullable<MessageInitShape<typeof ClientActionSchema>['action']>;

/** The event that was read; `undefined` for an end. It shares messages with the conversation, which are frozen. */
export function eventOf(received: Received): ResponseEvent | undefined {
  switch (received.type) {
    case 'init': {
      const { conversationId, requestId } = received;
      return eventWith({ case: 'init', value: { conversationId, requestId } });
    }
    case 'actions':
      return eventWith({ case: 'clientActions', value: { actions: received.actions.map(actionOf) } });
    case 'finished':
      return eventWith({ case: 'finished', value: received.report.received });
    case 'untyped':
      return received.event;
    case 'end':
      return undefined;
  }
}

function eventWith(type: Case): ResponseEvent {
  return create(ResponseEventSchema, { type });
}

function actionOf(received: ReceivedAction): ClientAction {
  return received.type === 'none' ? received.action : create(ClientActionSchema, { action: caseOf(received) });
}

function caseOf(received: Exclude<ReceivedAction, { readonly type: 'none' }>): ActionCase {
  switch (received.type) {
    case 'createTask':
      return { case: 'createTask', value: received.task === undefined ? {} : { task: received.task } };
    case 'updateTaskStatus': {
      const { taskId, status } = received;
      return { case: 'updateTaskStatus', value: status === undefined ? { taskId } : { taskId, taskStatus: status } };
    }
    case 'updateTaskDescription':
      return { case: 'updateTaskDescription', value: { taskId: received.taskId, description: received.text } };
    case 'updateTaskSummary':
      return { case: 'updateTaskSummary', value: { taskId: received.taskId, summary: received.text } };
    case 'addMessagesToTask': {
      const { taskId, messages } = received;
      return { case: 'addMessagesToTask', value: { taskId, messages: messages.slice() } };
    }
    case 'updateTaskMessage':
      return { case: 'updateTaskMessage', value: changeOf(received) };
    case 'appendToMessageContent':
      return { case: 'appendToMessageContent', value: changeOf(received) };
    case 'showSuggestions':
      return { case: 'showSuggestions', value: received.suggestions };
    case 'beginTransaction':
    case 'commitTransaction':
    case 'rollbackTransaction':
      return { case: received.type, value: {} };
    case 'startNewConversation':
      return { case: 'startNewConversation', value: { startFromMessageId: received.from } };
  }
}

function changeOf({ taskId, mask, messageId, patch, deltas }: ReceivedChange) {
  return {
    taskId,
    ...(mask === undefined ? {} : { mask: { paths: mask.texts.slice() } }),
    ...(messageId === undefined
      ? {}
      : { message: patch ?? create(MessageSchema, patchOf(messageId, mask?.paths ?? [], deltas ?? [])) }),
  };
}

/** A patch with these texts, and nothing else, where the paths of a plain mask lead. An empty text is as good as none. */
function patchOf(id: string, paths: ResolvedMask['paths'], deltas: readonly string[]): Record<string, unknown> {
  const patch: Record<string, unknown> = { id };
  for (const [index, { steps }] of paths.entries()) {
    const delta = deltas[index];
    if (delta === undefined || delta === '') continue;
    let at = patch;
    for (const [depth, step] of steps.entries()) {
      if (depth === steps.length - 1) set(at, step, delta);
      else at = get(at, step) ?? set(at, step, {});
    }
  }
  return patch;
}

function get(message: Record<string, unknown>, { name, oneof }: FieldPlan): Record<string, unknown> | undefined {
  if (oneof === undefined) return message[name] as Record<string, unknown> | undefined;
  const choice = message[oneof] as { readonly case: string; readonly value: Record<string, unknown> } | undefined;
  return choice?.case === name ? choice.value : undefined;
}

function set<Value>(message: Record<string, unknown>, { name, oneof }: FieldPlan, value: Value): Value {
  if (oneof === undefined) message[name] = value;
  else message[oneof] = { case: name, value };
  return value;
}
