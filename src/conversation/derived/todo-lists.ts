import type { TodoItem } from '../../../proto/index.js';
import { Selection, tasksOf } from '../linear.js';
import type { TaskNode, Tree } from '../tree.js';

/** A list of what is to be done, as the agent's messages have left it. */
export interface TodoList {
  /** The task whose agent made it. */
  readonly taskId: string;
  /** The message that began it. */
  readonly messageId: string;
  /** In the order in which they are to be done. */
  readonly pending: readonly TodoItem[];
  /** In the order in which they were marked. */
  readonly completed: readonly TodoItem[];
}

const operations = new Selection(({ message }) => message.case === 'updateTodos');
const known = new WeakMap<Tree, readonly TodoList[]>();

/** The lists of every task, in the order in which they were made; the last one of a task is the one that its agent works on. */
export function todoListsOf(tree: Tree): readonly TodoList[] {
  let lists = known.get(tree);
  if (lists === undefined) {
    lists = Object.freeze([...tasksOf(tree)].flatMap(listsOf));
    known.set(tree, lists);
  }
  return lists;
}

function listsOf(node: TaskNode): readonly TodoList[] {
  const lists: { -readonly [Key in keyof TodoList]: TodoList[Key] }[] = [];
  const begin = (messageId: string, pending: readonly TodoItem[]) => {
    lists.push({
      taskId: node.task.id,
      messageId,
      pending: Object.freeze(pending.slice()),
      completed: Object.freeze([]),
    });
  };
  for (const { id, message } of operations.of(node)) {
    if (message.case !== 'updateTodos') continue;
    const { operation } = message.value;
    const list = lists.at(-1);
    switch (operation.case) {
      case 'createTodoList':
        begin(id, operation.value.initialTodos);
        break;
      case 'updatePendingTodos':
        // a change of a list that was never begun begins one: nothing is lost
        if (list === undefined) begin(id, operation.value.updatedPendingTodos);
        else list.pending = Object.freeze(operation.value.updatedPendingTodos.slice());
        break;
      case 'markTodosCompleted': {
        if (list === undefined) break;
        const marked = new Set(operation.value.todoIds);
        const pending = new Map(list.pending.map((todo) => [todo.id, todo]));
        const done = [...marked].flatMap((todoId) => pending.get(todoId) ?? []);
        list.pending = Object.freeze(list.pending.filter((todo) => !marked.has(todo.id)));
        list.completed = Object.freeze([...list.completed, ...done]);
        break;
      }
    }
  }
  return lists.map((list) => Object.freeze(list));
}
