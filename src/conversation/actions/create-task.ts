/** CreateTask: a new task, the root or a child of a known one. */
import { type Task, type Task_Dependencies, Task_DependenciesSchema, TaskSchema } from '../../../proto/index.js';
import { quoted } from '../diagnostics.js';
import { identical } from '../message/identical.js';
import { emptyList, type Fields, planOf } from '../message/plan.js';
import { withValue } from '../message/replace.js';
import type { Tree } from '../tree.js';
import { placeMessages, withoutId } from './messages.js';
import { Failed, type Outcome, type Teller } from './outcome.js';

export function createTask(tree: Tree, task: Task | undefined, teller: Teller): Outcome {
  if (task === undefined || task.id === '') {
    teller.tell('empty_action', task === undefined ? 'create_task without a task' : 'create_task with an empty id');
    return tree;
  }
  const known = tree.taskOf(task.id);
  if (known !== undefined) {
    return identical(known.created, task)
      ? tree
      : new Failed('duplicate_task', `task ${quoted(task.id)} is there with other content`);
  }
  const parentId = parentOf(task);
  const takesPlace = parentId === '' && tree.hasPlaceholder;
  if (parentId === '' && tree.hasRoot && !takesPlace) {
    return new Failed('duplicate_root', `task ${quoted(task.id)} has no parent, and there is a root`);
  }
  if (parentId !== '' && tree.taskOf(parentId) === undefined) {
    return new Failed('unknown_parent', `task ${quoted(task.id)} below task ${quoted(parentId)}`);
  }
  const failure = withoutId(task.messages) ?? carriesKnown(tree, task, takesPlace);
  if (failure !== undefined) return failure;
  const own = withoutMessages(task);
  const next = takesPlace ? withRoot(tree, own, task) : tree.withTask(own, task);
  return placeMessages(next, takesPlace ? 0 : next.tasks.size - 1, task.messages, teller);
}

/** The id of a task's parent; empty for the root. */
export function parentOf(task: Task): string {
  return task.dependencies?.parentTaskId ?? '';
}

/** A new task cannot carry what stands in another one; what stands in the placeholder that it replaces is its own. */
function carriesKnown(tree: Tree, task: Task, takesPlace: boolean): Failed | undefined {
  for (const { id } of task.messages) {
    const place = tree.placeOf(id);
    if (place === undefined || (takesPlace && place.task === 0)) continue;
    return new Failed('duplicate_task', `task ${quoted(task.id)} carries message ${quoted(id)}, which is there`);
  }
  return undefined;
}

function withoutMessages(task: Task): Task {
  if (task.messages.length === 0) return task;
  return withValue(planOf(TaskSchema), task as unknown as Fields, 'messages', emptyList) as unknown as Task;
}

/** A root in the place of the one that a split has carried over: it keeps its messages and its children. */
function withRoot(tree: Tree, task: Task, created: Task): Tree {
  const formerId = tree.taskAt(0).task.id;
  const children: [number, Task][] = [];
  for (let place = 1; place < tree.tasks.size; place++) {
    const { task: child, isHidden } = tree.taskAt(place);
    if (!isHidden && parentOf(child) === formerId) children.push([place, withParent(child, task.id)]);
  }
  return tree.withRoot(task, created, children);
}

function withParent(task: Task, parentId: string): Task {
  const dependencies = task.dependencies as Task_Dependencies as unknown as Fields;
  const moved = withValue(planOf(Task_DependenciesSchema), dependencies, 'parentTaskId', parentId);
  return withValue(planOf(TaskSchema), task as unknown as Fields, 'dependencies', moved) as unknown as Task;
}
