/** StartNewConversation: messages from the given one on, in linear order, move to a new conversation. */
import type { Place, TaskNode, Tree } from '../tree.js';
import { parentOf } from './create-task.js';

/**
 * The new conversation: tasks that hold messages that move, with those
 * messages, and their ancestors, under the ids that they have.
 *
 * @param at where the first message that moves stands
 */
export function splitOff(tree: Tree, from: string, at: Place): Tree {
  const carried = carriedPlaces(tree, at);
  let { tasks } = tree;
  for (let place = 0; place < tree.tasks.size; place++) {
    const { task, created, messages, start: before, isHidden: wasHidden } = tree.taskAt(place);
    const start = place < at.task ? messages.size : place === at.task ? at.at : before;
    const isHidden = !carried.has(place);
    if (start !== before || isHidden !== wasHidden) {
      tasks = tasks.set(place, { task, created, messages, start, isHidden });
    }
  }
  return tree.cutOff(from, tasks);
}

function carriedPlaces(tree: Tree, at: Place): Set<number> {
  const carried = new Set<number>();
  for (let place = at.task; place < tree.tasks.size; place++) {
    if (!holdsMessages(tree.taskAt(place))) continue;
    for (let next: number | undefined = place; next !== undefined && !carried.has(next); ) {
      carried.add(next);
      next = tree.taskPlaceOf(parentOf(tree.taskAt(next).task));
    }
  }
  return carried;
}

function holdsMessages({ messages, start, isHidden }: TaskNode): boolean {
  return !isHidden && start < messages.size;
}
