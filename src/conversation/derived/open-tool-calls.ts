import { Selection, tasksOf } from '../linear.js';
import type { Tree } from '../tree.js';

const calls = new Selection(({ message }) => message.case === 'toolCall' || message.case === 'toolCallResult');
const known = new WeakMap<Tree, readonly string[]>();

/** The ids of the tool calls that no message answers, in the order of their messages, each once. */
export function openToolCallsOf(tree: Tree): readonly string[] {
  let open = known.get(tree);
  if (open === undefined) {
    open = Object.freeze(openIn(tree));
    known.set(tree, open);
  }
  return open;
}

function openIn(tree: Tree): string[] {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const node of tasksOf(tree)) {
    for (const { message } of calls.of(node)) {
      if (message.case === 'toolCall') called.add(message.value.toolCallId);
      else if (message.case === 'toolCallResult') answered.add(message.value.toolCallId);
    }
  }
  return [...called].filter((id) => !answered.has(id));
}
