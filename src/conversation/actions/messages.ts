/** How messages come into a task. */
import { type Message, MessageSchema } from '../../../proto/index.js';
import { quoted } from '../diagnostics.js';
import { identical } from '../message/identical.js';
import { type Fields, planOf } from '../message/plan.js';
import { withValue } from '../message/replace.js';
import type { Tree } from '../tree.js';
import { Failed, type Outcome, type Teller } from './outcome.js';

/** AddMessagesToTask: appended; a known one is replaced where it stands. */
export function addMessages(tree: Tree, taskId: string, messages: readonly Message[], teller: Teller): Outcome {
  const place = tree.taskPlaceOf(taskId);
  if (place === undefined) return new Failed('unknown_task', `add to task ${quoted(taskId)}`);
  const nameless = withoutId(messages);
  return nameless ?? placeMessages(tree, place, messages, teller);
}

/** The failure of a message without an id among these. */
export function withoutId(messages: readonly Message[]): Failed | undefined {
  return messages.some(({ id }) => id === '') ? new Failed('unknown_message', 'a message with an empty id') : undefined;
}

/** Puts messages, all with an id, into the task at a place. */
export function placeMessages(tree: Tree, place: number, messages: readonly Message[], teller: Teller): Tree {
  const taskId = tree.taskAt(place).task.id;
  let next = tree;
  for (const message of messages) next = placeMessage(next, place, taskId, message, teller);
  return next;
}

function placeMessage(tree: Tree, place: number, taskId: string, message: Message, teller: Teller): Tree {
  const { id } = message;
  if (message.taskId !== '' && message.taskId !== taskId) {
    teller.tell(
      'task_id_mismatch',
      `message ${quoted(id)} names task ${quoted(message.taskId)}, added to ${quoted(taskId)}`,
    );
  }
  const known = tree.placeOf(id);
  if (known === undefined) return tree.withNewMessage(place, inTask(message, taskId));
  const standsIn = tree.taskAt(known.task).task.id;
  const own = inTask(message, standsIn);
  const isSame = identical(tree.messageAt(known), own);
  if (known.task !== place)
    teller.tell('duplicate_message', `message ${quoted(id)} stands in task ${quoted(standsIn)}`);
  else if (!isSame) teller.tell('duplicate_message', `message ${quoted(id)} is replaced by another one`);
  return isSame ? tree : tree.withMessage(known, own);
}

/** The message, naming the task that it stands in if it names one at all. */
export function inTask(message: Message, taskId: string): Message {
  if (message.taskId === '' || message.taskId === taskId) return message;
  return withValue(planOf(MessageSchema), message as unknown as Fields, 'taskId', taskId) as unknown as Message;
}
