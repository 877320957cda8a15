/** The transactional part of the model: plain lists, copied whole whenever it is kept, and what actions do to it. */
import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import {
  type ClientAction,
  type Message,
  MessageSchema,
  type Suggestions,
  SuggestionsSchema,
  type Task,
  TaskSchema,
} from '../../../proto/index.js';
import type { ConversationDiagnosticCode, FailingCode } from '../../../src/conversation/index.js';
import { applyPath, type Kind, MaskFault, resolve, typeFault } from './mask.js';

/** A message, and how often it was another one than before: what an interruption names as touched. */
export interface ModelMessage {
  message: Message;
  version: number;
}

export interface ModelTask {
  /** All but the messages. */
  task: Task;
  /** The CreateTask that made it, as bytes. */
  created: string;
  messages: ModelMessage[];
}

export interface Content {
  tasks: ModelTask[];
  suggestions: Suggestions | undefined;
  /** Whether the root only stands for one that is still to come. */
  placeholder: boolean;
}

/** The action has failed, and nothing of it may stay. */
export class Failure {
  constructor(readonly code: FailingCode) {}
}

export type Tell = (code: ConversationDiagnosticCode) => void;

/** A copy that shares nothing. */
export function copyOf<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  return fromBinary(schema, toBinary(schema, message));
}

export function hexOf<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return Buffer.from(toBinary(schema, message)).toString('hex');
}

export function copyOfContent({ tasks, suggestions, placeholder }: Content): Content {
  return {
    tasks: tasks.map(({ task, created, messages }) => ({
      task: copyOf(TaskSchema, task),
      created,
      messages: messages.map(({ message, version }) => ({ message: copyOf(MessageSchema, message), version })),
    })),
    suggestions: suggestions && copyOf(SuggestionsSchema, suggestions),
    placeholder,
  };
}

export function parentOf(task: Task): string {
  return task.dependencies?.parentTaskId ?? '';
}

/** Where a message stands. */
export function find(content: Content, id: string): { task: ModelTask; at: number } | undefined {
  for (const task of content.tasks) {
    const at = task.messages.findIndex(({ message }) => message.id === id);
    if (at >= 0) return { task, at };
  }
  return undefined;
}

let versions = 0;

/** Applies what is neither of transactions nor a split. @throws {Failure} with the content half done */
export function act(content: Content, { action }: ClientAction, warp: boolean, tell: Tell): void {
  const taskNamed = (id: string): ModelTask => {
    const task = content.tasks.find((each) => each.task.id === id);
    if (task === undefined) throw new Failure('unknown_task');
    return task;
  };
  switch (action.case) {
    case 'createTask':
      createTask(content, action.value.task, tell);
      return;
    case 'updateTaskStatus': {
      const { task } = taskNamed(action.value.taskId);
      if (action.value.taskStatus === undefined) delete task.status;
      else task.status = action.value.taskStatus;
      return;
    }
    case 'updateTaskDescription':
      taskNamed(action.value.taskId).task.description = action.value.description;
      return;
    case 'updateTaskSummary':
      taskNamed(action.value.taskId).task.summary = action.value.summary;
      return;
    case 'addMessagesToTask': {
      const task = taskNamed(action.value.taskId);
      allHaveIds(action.value.messages);
      for (const message of action.value.messages) add(content, task, message, tell);
      return;
    }
    case 'updateTaskMessage':
    case 'appendToMessageContent': {
      const { taskId, message, mask } = action.value;
      const kind = action.case === 'updateTaskMessage' ? 'update' : 'append';
      change(content, kind, taskNamed(taskId), message, mask?.paths, warp, tell);
      return;
    }
    case 'showSuggestions':
      content.suggestions = action.value;
      return;
  }
}

function createTask(content: Content, given: Task | undefined, tell: Tell): void {
  if (given === undefined || given.id === '') {
    tell('empty_action');
    return;
  }
  const created = hexOf(TaskSchema, given);
  const known = content.tasks.find(({ task }) => task.id === given.id);
  if (known !== undefined) {
    if (known.created === created) return;
    throw new Failure('duplicate_task');
  }
  const parent = parentOf(given);
  const takesPlace = parent === '' && content.placeholder;
  if (parent === '') {
    if (content.tasks.length > 0 && !takesPlace) throw new Failure('duplicate_root');
  } else if (!content.tasks.some(({ task }) => task.id === parent)) throw new Failure('unknown_parent');
  allHaveIds(given.messages);
  for (const { id } of given.messages) {
    const place = find(content, id);
    // what the placeholder holds is the root's own
    if (place !== undefined && !(takesPlace && place.task === content.tasks[0])) throw new Failure('duplicate_task');
  }
  const task = copyOf(TaskSchema, given);
  task.messages = [];
  let made: ModelTask = { task, created, messages: [] };
  const [root] = content.tasks;
  if (takesPlace && root !== undefined) {
    for (const { task: child } of content.tasks) {
      if (child.dependencies !== undefined && parentOf(child) === root.task.id)
        child.dependencies.parentTaskId = task.id;
    }
    made = Object.assign(root, { task, created });
    content.placeholder = false;
  } else content.tasks.push(made);
  for (const message of given.messages) add(content, made, message, tell);
}

function allHaveIds(messages: readonly Message[]): void {
  if (messages.some(({ id }) => id === '')) throw new Failure('unknown_message');
}

/** Adds a message to a task, or puts it in the place of the one that has its id. */
function add(content: Content, task: ModelTask, given: Message, tell: Tell): void {
  const message = copyOf(MessageSchema, given);
  if (message.taskId !== '' && message.taskId !== task.task.id) tell('task_id_mismatch');
  const place = find(content, message.id);
  // it names the task that it stands in, or none
  if (message.taskId !== '') message.taskId = (place?.task ?? task).task.id;
  if (place === undefined) {
    task.messages.push({ message, version: ++versions });
    return;
  }
  const known = place.task.messages[place.at] as ModelMessage;
  const isSame = hexOf(MessageSchema, known.message) === hexOf(MessageSchema, message);
  if (place.task !== task || !isSame) tell('duplicate_message');
  if (!isSame) place.task.messages[place.at] = { message, version: ++versions };
}

function change(
  content: Content,
  kind: Kind,
  task: ModelTask,
  patch: Message | undefined,
  paths: readonly string[] | undefined,
  warp: boolean,
  tell: Tell,
): void {
  if (paths === undefined) {
    if (!warp) throw new Failure('missing_mask');
    tell('missing_mask');
    return;
  }
  if (paths.length === 0) return;
  if (!warp && paths.some((path) => resolve(path).problem === 'unknown')) {
    tell('unknown_path');
    return;
  }
  if (patch === undefined) {
    tell('empty_action');
    return;
  }
  const place = patch.id === '' ? undefined : find(content, patch.id);
  if (patch.id === '' || (place === undefined && kind === 'append')) throw new Failure('unknown_message');
  if (place !== undefined && place.task !== task) tell('task_id_mismatch');
  const once = [...new Set(paths)];
  if (kind === 'append') for (const path of once) if (timesIn(paths, path) > 1) tell('duplicate_path');
  // the client named Warp asks for no mask when it inserts
  if (!warp || place !== undefined) {
    for (const path of once) {
      const fault = typeFault(kind, path, warp);
      if (fault !== undefined) throw new Failure(fault.code);
    }
  }
  if (place === undefined) {
    const message = copyOf(MessageSchema, patch);
    if (message.taskId !== '') message.taskId = task.task.id;
    task.messages.push({ message, version: ++versions });
    return;
  }
  const known = place.task.messages[place.at] as ModelMessage;
  const message = copyOf(MessageSchema, known.message);
  try {
    for (const path of warp ? paths : once) {
      applyPath(kind, message, copyOf(MessageSchema, patch), path, warp, tell);
    }
  } catch (thrown) {
    if (thrown instanceof MaskFault) throw new Failure(thrown.code);
    throw thrown;
  }
  if (hexOf(MessageSchema, message) === hexOf(MessageSchema, known.message)) return;
  place.task.messages[place.at] = { message: copyOf(MessageSchema, message), version: ++versions };
}

function timesIn(paths: readonly string[], path: string): number {
  return paths.filter((each) => each === path).length;
}
