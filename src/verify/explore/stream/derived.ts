/** C10: what is derived from a conversation, held against a recomputation that keeps nothing. */

import type { FoldState } from '../../../conversation/index.js';
import { linearMessages, messageIndex, openToolCalls } from '../../../conversation/index.js';
import type { Finding } from '../walk.js';

/** What is derived wrongly. */
export function staleIn(state: FoldState): readonly Finding[] {
  const { conversation, parts } = state;
  const stale = (what: string): Finding[] => [{ invariant: 'C10', what }];
  const ids: string[] = [];
  const called: string[] = [];
  const answered = new Set<string>();
  for (const { isHidden, start, messages } of parts.tree.tasks) {
    if (isHidden) continue;
    for (let at = start; at < messages.size; at++) {
      const held = messages.at(at);
      if (held === undefined) continue;
      ids.push(held.id);
      if (held.message.case === 'toolCall') called.push(held.message.value.toolCallId);
      else if (held.message.case === 'toolCallResult') answered.add(held.message.value.toolCallId);
    }
  }
  const linear = linearMessages(conversation).map(({ id }) => id);
  if (linear.join() !== ids.join()) return stale(`the messages are said to be ${linear.join()}, and are ${ids.join()}`);
  const open = [...new Set(called)].filter((id) => !answered.has(id));
  const said = openToolCalls(conversation);
  if (said.join() !== open.join())
    return stale(`the open tool calls are said to be ${said.join()}, and are ${open.join()}`);
  const index = messageIndex(conversation);
  const lost = ids.find((id) => index.get(id)?.message.id !== id);
  if (lost !== undefined) return stale(`message ${lost} is not found where it stands`);
  return fine;
}

const fine: readonly Finding[] = Object.freeze([]);
