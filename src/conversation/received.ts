/**
 * A ResponseEvent from outside, read once and made our own: what is stored of
 * it is copied and frozen here, the event itself is neither kept nor touched,
 * and whatever is wrong with it shows before anything of it is applied.
 *
 * E1. Reading changes nothing and depends on nothing: an event that cannot be
 *     read leaves the conversation as it was.
 * E2. Every property of the event is read at most once (C11, C12).
 */
import {
  type ClientAction,
  ClientActionSchema,
  type Message,
  MessageSchema,
  type ResponseEvent,
  ResponseEventSchema,
  type Suggestions,
  SuggestionsSchema,
  type Task,
  TaskSchema,
  type TaskStatus,
  TaskStatusSchema,
} from '../../proto/index.js';
import { type FinishReport, readFinish } from './finish.js';
import { deltasOf } from './mask/deltas.js';
import { maskOf, type ResolvedMask } from './mask/path.js';
import { adoptMessage, adoptUnknown, emptyList, type Fields, noChoice, planOf } from './message/plan.js';
import { refuse } from './message/refuse.js';
import { adoptString } from './message/scalar.js';

/** An event, as the fold takes it. */
export type ReceivedEvent =
  | { readonly type: 'init'; readonly conversationId: string; readonly requestId: string }
  /** `sources`: the actions as they came, not read again; none where they are not wanted. */
  | {
      readonly type: 'actions';
      readonly actions: readonly ReceivedAction[];
      readonly sources: readonly ClientAction[];
    }
  | { readonly type: 'finished'; readonly report: FinishReport }
  | { readonly type: 'untyped'; readonly event: ResponseEvent };

/** An action, as the fold takes it; what is `undefined` was not there. */
export type ReceivedAction =
  | { readonly type: 'createTask'; readonly task: Task | undefined }
  | { readonly type: 'updateTaskStatus'; readonly taskId: string; readonly status: TaskStatus | undefined }
  | { readonly type: 'updateTaskDescription' | 'updateTaskSummary'; readonly taskId: string; readonly text: string }
  | { readonly type: 'addMessagesToTask'; readonly taskId: string; readonly messages: readonly Message[] }
  | ReceivedChange
  | { readonly type: 'showSuggestions'; readonly suggestions: Suggestions }
  | { readonly type: 'beginTransaction' }
  | { readonly type: 'commitTransaction' }
  | { readonly type: 'rollbackTransaction' }
  | { readonly type: 'startNewConversation'; readonly from: string }
  | { readonly type: 'none'; readonly action: ClientAction };

/** A change of a message, as the fold takes it. */
export interface ReceivedChange {
  readonly type: 'updateTaskMessage' | 'appendToMessageContent';
  readonly taskId: string;
  readonly mask: ResolvedMask | undefined;
  /** `undefined` where there was no message. */
  readonly messageId: string | undefined;
  /** The message; `undefined` where there was none, and where `deltas` are all that is taken from it. */
  readonly patch: Message | undefined;
  /** For an append whose paths lead to one text each: those texts. */
  readonly deltas: readonly string[] | undefined;
}

/**
 * Reads an event.
 *
 * @param keepsSources whether to keep the actions as they came
 * @throws {InvalidInputError} when it is no ResponseEvent, and whatever reading it throws
 */
export function readEvent(event: unknown, keepsSources: boolean): ReceivedEvent {
  const { $typeName, type, $unknown } = fieldsOf(event, 'a ResponseEvent');
  if ($typeName !== ResponseEventSchema.typeName) refuse('$typeName', ResponseEventSchema.typeName, $typeName);
  const { case: name, value } = fieldsOf(type, 'its type: a case and its value');
  switch (name) {
    case 'init': {
      const { conversationId, requestId } = fieldsOf(value, 'a StreamInit');
      return { type: 'init', conversationId: text(conversationId), requestId: text(requestId) };
    }
    case 'clientActions':
      return actionsFrom(fieldsOf(value, 'ClientActions')['actions'], keepsSources);
    case 'finished':
      return { type: 'finished', report: readFinish(value) };
    case undefined:
    case null:
      return { type: 'untyped', event: bare(ResponseEventSchema, $unknown, 'type') };
    default:
      return refuse('type', 'init, clientActions or finished', name);
  }
}

const noSources: readonly ClientAction[] = [];

function actionsFrom(value: unknown, keepsSources: boolean): ReceivedEvent {
  if (!Array.isArray(value)) refuse('actions', 'an array', value);
  // most events hold one, and a list that is made with it takes a tenth of one that it is pushed to
  if (value.length === 1 && !keepsSources)
    return { type: 'actions', actions: [actionFrom(value[0])], sources: noSources };
  const actions: ReceivedAction[] = [];
  const sources: ClientAction[] = [];
  for (let index = 0; index < value.length; index++) {
    const source: unknown = value[index];
    actions.push(actionFrom(source));
    if (keepsSources) sources.push(source as ClientAction);
  }
  return { type: 'actions', actions, sources };
}

function actionFrom(action: unknown): ReceivedAction {
  const { action: choice, $unknown } = fieldsOf(action, 'a ClientAction');
  const { case: name, value } = fieldsOf(choice, 'its action: a case and its value');
  if (name === undefined || name === null)
    return { type: 'none', action: bare(ClientActionSchema, $unknown, 'action') };
  const given = fieldsOf(value, 'the value of an action');
  switch (name as Exclude<ClientAction['action']['case'], undefined>) {
    case 'createTask':
      return { type: 'createTask', task: optional<Task>(TaskSchema, given['task']) };
    case 'updateTaskStatus': {
      const { taskId, taskStatus } = given;
      return {
        type: 'updateTaskStatus',
        taskId: text(taskId),
        status: optional<TaskStatus>(TaskStatusSchema, taskStatus),
      };
    }
    case 'updateTaskDescription':
      return { type: 'updateTaskDescription', taskId: text(given['taskId']), text: text(given['description']) };
    case 'updateTaskSummary':
      return { type: 'updateTaskSummary', taskId: text(given['taskId']), text: text(given['summary']) };
    case 'addMessagesToTask': {
      const { taskId, messages } = given;
      return { type: 'addMessagesToTask', taskId: text(taskId), messages: messagesFrom(messages) };
    }
    case 'updateTaskMessage':
      return changeFrom('updateTaskMessage', given);
    case 'appendToMessageContent':
      return changeFrom('appendToMessageContent', given);
    case 'showSuggestions':
      return { type: 'showSuggestions', suggestions: optional<Suggestions>(SuggestionsSchema, given) as Suggestions };
    case 'beginTransaction':
      return { type: 'beginTransaction' };
    case 'commitTransaction':
      return { type: 'commitTransaction' };
    case 'rollbackTransaction':
      return { type: 'rollbackTransaction' };
    case 'startNewConversation':
      return { type: 'startNewConversation', from: text(given['startFromMessageId']) };
    default:
      return refuse('action', 'an action that the schema names', name);
  }
}

function changeFrom(type: ReceivedChange['type'], given: Fields): ReceivedChange {
  const { taskId: id, message, mask: paths } = given;
  const taskId = text(id);
  const mask = paths === undefined || paths === null ? undefined : maskOf(pathsFrom(paths));
  if (message === undefined || message === null) {
    return { type, taskId, mask, messageId: undefined, patch: undefined, deltas: undefined };
  }
  if (type === 'appendToMessageContent' && mask?.isPlain) {
    const fields = fieldsOf(message, 'a Message');
    const messageId = text(fields['id']);
    return { type, taskId, mask, messageId, patch: undefined, deltas: deltasOf(mask, fields) };
  }
  const patch = optional<Message>(MessageSchema, message) as Message;
  return { type, taskId, mask, messageId: patch.id, patch, deltas: undefined };
}

type Schema = Parameters<typeof planOf>[0];

function optional<Type>(schema: Schema, value: unknown): Type | undefined {
  if (value === undefined || value === null) return undefined;
  return adoptMessage(planOf(schema), value, 4) as Type;
}

function messagesFrom(value: unknown): readonly Message[] {
  if (value === undefined) return emptyList;
  if (!Array.isArray(value)) refuse('messages', 'an array', value);
  const messages: Message[] = [];
  const plan = planOf(MessageSchema);
  for (let index = 0; index < value.length; index++) {
    messages.push(adoptMessage(plan, value[index], 4) as unknown as Message);
  }
  return messages;
}

function pathsFrom(mask: unknown): string[] {
  const { paths } = fieldsOf(mask, 'a FieldMask');
  if (!Array.isArray(paths)) refuse('mask.paths', 'an array', paths);
  if (paths.length === 1) return [adoptString('mask.paths', paths[0])];
  const copy: string[] = [];
  for (let index = 0; index < paths.length; index++) copy.push(adoptString('mask.paths', paths[index]));
  return copy;
}

/** A message of which only unknown fields are known. */
function bare<Type extends ClientAction | ResponseEvent>(schema: Schema, unknown: unknown, group: string): Type {
  const plan = planOf(schema);
  const fields: Record<string, unknown> = { $typeName: plan.typeName, [group]: noChoice };
  if (unknown !== undefined) fields['$unknown'] = adoptUnknown(plan, unknown);
  return Object.freeze(fields) as unknown as Type;
}

/** A text; the empty one where there is none. */
function text(value: unknown): string {
  return value === undefined || value === null ? '' : adoptString('an id or a text', value);
}

function fieldsOf(value: unknown, expected: string): Fields {
  if (typeof value !== 'object' || value === null) refuse('structure', expected, value);
  return value as Fields;
}
