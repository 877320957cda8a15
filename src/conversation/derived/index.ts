/**
 * What follows from tasks and messages: pure functions of a state, computed
 * when they are asked for and kept for as long as the state's tasks are.
 */
import type { Message } from '../../../proto/index.js';
import { messagesOf, tasksOf } from '../linear.js';
import { type ConversationState, treeOf } from '../state.js';
import type { Tree } from '../tree.js';
import { openToolCallsOf } from './open-tool-calls.js';
import { type TodoList, todoListsOf } from './todo-lists.js';

/**
 * The to-do lists of every task, in the order in which they were made; the last one of a task is the one that its agent works
 * on.
 *
 * @throws {InvalidInputError} for what is no state of a conversation; so do the others
 */
export function todoLists(state: ConversationState): readonly TodoList[] {
  return todoListsOf(treeOf(state));
}

/** The ids of the tool calls that no message answers, in the order of their messages, each once. */
export function openToolCalls(state: ConversationState): readonly string[] {
  return openToolCallsOf(treeOf(state));
}

const linear = new WeakMap<Tree, readonly Message[]>();

/** All messages in one order: task by task as the tasks were made, in each as they stand. */
export function linearMessages(state: ConversationState): readonly Message[] {
  const tree = treeOf(state);
  let messages = linear.get(tree);
  if (messages === undefined) {
    const all: Message[] = [];
    for (const node of tasksOf(tree)) for (const message of messagesOf(node)) all.push(message);
    messages = Object.freeze(all);
    linear.set(tree, messages);
  }
  return messages;
}

/** Where a message stands. */
export interface MessagePlace {
  readonly taskId: string;
  /** Its index among the messages of the task. */
  readonly index: number;
  readonly message: Message;
}

/** Finds messages by their ids; nothing is copied. */
export function messageIndex(state: ConversationState): { get(id: string): MessagePlace | undefined } {
  const tree = treeOf(state);
  return Object.freeze({
    get(id: string): MessagePlace | undefined {
      const place = tree.placeOf(id);
      if (place === undefined) return undefined;
      const { task, start } = tree.taskAt(place.task);
      return Object.freeze({ taskId: task.id, index: place.at - start, message: tree.messageAt(place) });
    },
  });
}
