/** What follows from tasks and messages, computed from all of them each time. */
import type { Message, TodoItem } from '../../../proto/index.js';
import type { Content } from './content.js';

export function linear(content: Content): Message[] {
  return content.tasks.flatMap(({ messages }) => messages.map(({ message }) => message));
}

export function openToolCalls(content: Content): string[] {
  const messages = linear(content).map(({ message }) => message);
  const answered = messages.flatMap(({ case: name, value }) => (name === 'toolCallResult' ? [value.toolCallId] : []));
  const called = messages.flatMap(({ case: name, value }) => (name === 'toolCall' ? [value.toolCallId] : []));
  return called.filter((id, at) => !answered.includes(id) && called.indexOf(id) === at);
}

interface Todos {
  readonly taskId: string;
  readonly messageId: string;
  pending: string[];
  completed: string[];
}

/** Every list with the ids of its items. */
export function todoLists(content: Content): Todos[] {
  const idsOf = (items: readonly TodoItem[]) => items.map(({ id }) => id);
  return content.tasks.flatMap(({ task, messages }) => {
    const lists: Todos[] = [];
    for (const { message } of messages) {
      if (message.message.case !== 'updateTodos') continue;
      const { operation } = message.message.value;
      const list = lists.at(-1);
      const begin = (items: readonly TodoItem[]) =>
        lists.push({ taskId: task.id, messageId: message.id, pending: idsOf(items), completed: [] });
      if (operation.case === 'createTodoList') begin(operation.value.initialTodos);
      if (operation.case === 'updatePendingTodos') {
        if (list === undefined) begin(operation.value.updatedPendingTodos);
        else list.pending = idsOf(operation.value.updatedPendingTodos);
      }
      if (operation.case === 'markTodosCompleted' && list !== undefined) {
        for (const id of new Set(operation.value.todoIds)) {
          if (list.pending.includes(id)) list.completed.push(id);
          list.pending = list.pending.filter((other) => other !== id);
        }
      }
    }
    return lists;
  });
}
