/** Whether the transactions of a conversation that was recovered are whole. */
import type { RecoveredConversation } from '../../src/conversation/index.js';
import type { World } from './side-effects.js';
import { endingOf, isKept, messagesOf, taskId } from './transactions.js';

/** What is wrong, one line each. */
export function brokenTransactions(seed: number, found: readonly RecoveredConversation[], world: World): string[] {
  const conversation = found.find(({ id }) => id === `con_${seed}`);
  if (conversation === undefined)
    return world.told.size > 0 ? ['a commit was told of, and the conversation is gone'] : [];
  const { state } = conversation;
  if (state === undefined) return ['the inputs were kept, and the state was not restored'];
  const texts = new Map<string, string>();
  for (const { id, message } of state.conversation.tasks.get(taskId)?.messages ?? []) {
    texts.set(id, message.case === 'agentOutput' ? message.value.text : '');
  }
  const present = new Set([...texts.keys()].map((id) => Number.parseInt(id, 10)));
  const wrong: string[] = [];
  for (const number of present) {
    if (!isKept(endingOf(seed, number))) wrong.push(`transaction ${number} was to be taken back, and is there`);
    for (const [id, text] of messagesOf(number)) {
      if (texts.get(id) !== text) wrong.push(`message ${id} is ${texts.get(id)}, expected ${text}`);
    }
    for (let before = 0; before < number; before++) {
      if (isKept(endingOf(seed, before)) && !present.has(before))
        wrong.push(`${number} is there, and ${before} is not`);
    }
  }
  for (const number of world.told) if (!present.has(number)) wrong.push(`${number} was told of, and is not there`);
  const times = new Map<string, number>();
  for (const { transaction, message } of world.ran) {
    if (!present.has(transaction)) wrong.push(`an effect of ${transaction} ran, and its commit is not durable`);
    const of = `${transaction}.${message}`;
    times.set(of, (times.get(of) ?? 0) + 1);
  }
  for (const [of, ran] of times) {
    const asked = { 0: 3, 1: 2, 2: 1 }[Number(of.split('.')[1])] ?? 0;
    if (ran > asked) wrong.push(`effects of ${of} ran ${ran} times, asked for ${asked}`);
  }
  return wrong;
}
