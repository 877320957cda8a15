/** The messages of a conversation in one order: task by task as they were made, in each as they stand. */
import type { Message } from '../../proto/index.js';
import type { Vector } from './persistent/vector.js';
import type { TaskNode, Tree } from './tree.js';

/** Every task of the conversation at hand. */
export function* tasksOf(tree: Tree): IterableIterator<TaskNode> {
  for (const node of tree.tasks) if (!node.isHidden) yield node;
}

/** Every message of a task that belongs to the conversation at hand. */
export function* messagesOf({ messages, start }: TaskNode): IterableIterator<Message> {
  if (start === 0) yield* messages;
  else for (let at = start; at < messages.size; at++) yield messages.at(at) as Message;
}

/**
 * Those messages of a task that something is made of, for a selection that is
 * asked for again and again: what was found in a part of the list that is
 * shared with earlier states is not looked for again.
 */
export class Selection {
  readonly #selects: (message: Message) => boolean;
  readonly #found = new WeakMap<readonly Message[], readonly Message[]>();

  constructor(selects: (message: Message) => boolean) {
    this.#selects = selects;
  }

  *of(node: TaskNode): IterableIterator<Message> {
    if (node.start > 0) {
      for (const message of messagesOf(node)) if (this.#selects(message)) yield message;
      return;
    }
    for (const leaf of (node.messages as Vector<Message>).leaves()) yield* this.#in(leaf);
  }

  #in(leaf: readonly Message[]): readonly Message[] {
    let found = this.#found.get(leaf);
    if (found === undefined) {
      found = leaf.filter(this.#selects);
      this.#found.set(leaf, found);
    }
    return found;
  }
}
