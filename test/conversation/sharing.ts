/** What an action may lose, move or copy: nothing that it does not name. */
import type { ClientAction, Message } from '../../proto/index.js';
import { isCommitpointError } from '../../src/contract/errors.js';
import {
  type ConversationChange,
  type ConversationState,
  type FoldState,
  failingCodes,
  type TaskState,
} from '../../src/conversation/index.js';

type Action = ClientAction['action'];

/** The ids of tasks and messages that an action speaks of. */
export interface Named {
  readonly tasks: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

export function named(action: Action): Named {
  const tasks = new Set<string>();
  const messages = new Set<string>();
  switch (action.case) {
    case 'createTask':
      tasks.add(action.value.task?.id ?? '');
      for (const { id } of action.value.task?.messages ?? []) messages.add(id);
      break;
    case 'updateTaskStatus':
    case 'updateTaskDescription':
    case 'updateTaskSummary':
      tasks.add(action.value.taskId);
      break;
    case 'addMessagesToTask':
      for (const { id } of action.value.messages) messages.add(id);
      break;
    case 'updateTaskMessage':
    case 'appendToMessageContent':
      messages.add(action.value.message?.id ?? '');
      break;
  }
  return { tasks, messages };
}

const failing: ReadonlySet<string> = new Set(failingCodes);

/** C3: what failed and yet changed something. */
export function lostOrMoved(
  before: FoldState,
  after: FoldState,
  action: Action,
  change: ConversationChange | undefined,
): string[] {
  const codes = change?.diagnostics.map(({ code }) => code) ?? [];
  // under strict the end that follows moves a transaction, and so does the end of a doomed one at a split
  const isEnd = change?.kind === 'ended' || change?.kind === 'rolled_back' || change?.kind === 'committed';
  if (isEnd || before.parts.tree === after.parts.tree || action.case === 'beginTransaction') return [];
  // a mask that meets another member is applied all the same by the client named Warp
  const failed = codes.filter((code) => failing.has(code) && code !== 'oneof_mismatch');
  return failed.map((code) => `C3: an action that failed with ${code} changed something`);
}

/** C3, C9: tasks and messages that are not named and yet are gone, moved, or other objects than before. */
export function sharingFaults(before: FoldState, after: FoldState, { tasks, messages }: Named): string[] {
  const [was, is] = [before.conversation, after.conversation];
  // a placeholder that is taken becomes another task, and its children say so
  const tookPlace = was.rootTaskId !== is.rootTaskId && was.rootTaskId !== undefined && is.rootTaskId !== undefined;
  // what ended a transaction put back what stood before it
  if (was.transaction !== 'none' && is.transaction === 'none') return [];
  const found: string[] = [];
  const standing = messagesIn(is);
  for (const [id, one] of messagesIn(was)) {
    const other = standing.get(id);
    if (other === undefined) found.push(`C3: message ${id} is lost`);
    else if (other.index !== one.index || (other.taskId !== one.taskId && !tookPlace))
      found.push(`C3: message ${id} was moved`);
    else if (other.message !== one.message && !messages.has(id)) found.push(`C9: message ${id} is another object`);
  }
  for (const [id, task] of was.tasks) {
    const other = is.tasks.get(id);
    if (tookPlace) continue;
    if (other === undefined) found.push(`C3: task ${id} is lost`);
    else if (other.task !== task.task && !tasks.has(id)) found.push(`C9: task ${id} is another object`);
    else if (other !== task && other.task === task.task && !holdsAny(other, messages))
      found.push(`C9: the view of task ${id} is another object`);
  }
  return found;
}

function messagesIn({ tasks }: ConversationState) {
  const found = new Map<string, { readonly taskId: string; readonly index: number; readonly message: Message }>();
  for (const [taskId, task] of tasks) {
    for (const [index, message] of task.messages.toArray().entries()) found.set(message.id, { taskId, index, message });
  }
  return found;
}

function holdsAny({ messages }: TaskState, ids: ReadonlySet<string>): boolean {
  return messages.toArray().some(({ id }) => ids.has(id));
}

export function isTypedError(thrown: unknown): boolean {
  return isCommitpointError(thrown);
}
