/** A conversation without end: transactions that are kept and taken back, with effects that leave traces in the world. */
import type { ClientAction } from '../../../proto/index.js';
import { createConversation } from '../../../src/runtime/index.js';
import {
  actions,
  add,
  append,
  begin,
  commit,
  done,
  failed,
  init,
  rollback,
  said,
  task,
} from '../../conversation/events.js';
import { endingOf, isKept, taskId } from '../transactions.js';
import { type Around, pause } from './sessions.js';

export async function liveConversation(seed: number, { journal, effects, points, random }: Around): Promise<never> {
  /** Which transaction an event of the stream ends. */
  const ends = new Map<number, number>();
  const conversation = createConversation({
    id: `con_${seed}`,
    journal,
    effects: (action) => {
      const place = placeOf(action);
      if (place === undefined) return [];
      return [
        async () => {
          points.at('commit', 'before the act');
          effects.note({ what: 'ran', ...place });
          points.at('commit', 'after the act');
          await pause(random.below(3));
        },
      ];
    },
  });
  conversation.changes$.subscribe(({ event, kind }) => {
    const transaction = ends.get(event);
    if (transaction === undefined || (kind !== 'committed' && kind !== 'ended')) return;
    ends.delete(event);
    if (isKept(endingOf(seed, transaction))) effects.note({ what: 'told', transaction });
  });
  const apply = async (input: Parameters<typeof conversation.apply>[0]) => {
    conversation.apply(input);
    await pause(random.below(3));
  };
  await apply(init('con', 'request-0'));
  await apply(actions(task(taskId)));
  for (let number = 0; ; number++) {
    await apply(actions(begin, add(taskId, said(`${number}.0`, 'one'))));
    await apply(actions(append(taskId, said(`${number}.0`, ' two'))));
    await apply(actions(append(taskId, said(`${number}.0`, ' three')), add(taskId, said(`${number}.1`, 'four'))));
    await apply(actions(append(taskId, said(`${number}.1`, ' five')), add(taskId, said(`${number}.2`, 'six'))));
    const ending = endingOf(seed, number);
    ends.set(conversation.state.position, number);
    if (ending === 'commit') await apply(actions(commit));
    else if (ending === 'rollback') await apply(actions(rollback));
    else {
      await apply(ending === 'done' ? done : ending === 'failed' ? failed : { end: 'eof' });
      await apply(init('con', `request-${number + 1}`));
    }
  }
}

/** The message that an action of a transaction is about. */
function placeOf({ action }: ClientAction): { transaction: number; message: number } | undefined {
  const id =
    action.case === 'addMessagesToTask'
      ? action.value.messages[0]?.id
      : action.case === 'appendToMessageContent'
        ? action.value.message?.id
        : undefined;
  if (id === undefined) return undefined;
  const [transaction = 0, message = 0] = id.split('.').map(Number);
  return { transaction, message };
}
