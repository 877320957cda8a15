import { createFold } from 'commitpoint/conversation';
import { collect, Meter } from '../meter.mjs';
import { append, begin, commit, history, rollback } from './response-events.mjs';

const warmUp = 50_000;
const measureMs = 700;

/**
 * Begins, commits and rollbacks, in turn, after a history; or one rollback again
 * and again, of a transaction in which so much was appended (a state is a value,
 * so the same one can be stepped from as often as one likes).
 * @param {{ messages: number, undoes?: number, elsewhere?: number }} options `elsewhere`: messages of another conversation in the same
 *   heap, since what the collector costs depends on all that there is.
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function foldBoundaries({ messages, undoes = 0, elsewhere = 0 }) {
  const fold = createFold();
  const other = elsewhere > 0 ? foldedHistory(fold, elsewhere) : fold.initial;
  let state = foldedHistory(fold, messages);
  // what making it has left behind is not to be swept up while it is measured
  collect();
  const { tasks } = state.conversation;
  let inside = fold.take(state, begin).state;
  for (let at = 0; at < undoes; at += 1) inside = fold.take(inside, append('m500')).state;
  const boundaries = () => {
    const first = fold.take(fold.take(state, begin).state, commit).state;
    state = fold.take(fold.take(first, begin).state, rollback).state;
    return 4;
  };
  const undo = () => {
    state = fold.take(inside, rollback).state;
    return 1;
  };
  const act = undoes > 0 ? undo : boundaries;
  for (let at = 0; at < warmUp; at += 1) act();
  const meter = new Meter();
  do {
    let count = 0;
    meter.start();
    for (let at = 0; at < 4_096; at += 1) count += act();
    meter.stop(count);
  } while (meter.cpuMs < measureMs);
  if (state.conversation.tasks !== tasks) throw new Error('other tasks than before');
  if ((other.conversation.tasks.get('t')?.messages.length ?? 0) !== elsewhere) throw new Error('the other is gone');
  return meter.sample;
}

/**
 * Apart, so that the events are gone when it has returned: a frame that is still there holds what its loop went over, which for a
 * million messages is as much again as the conversation.
 * @param {import('commitpoint/conversation').Fold} fold
 * @param {number} messages
 */
function foldedHistory(fold, messages) {
  let state = fold.initial;
  for (const event of history(messages)) state = fold.take(state, event).state;
  return state;
}
