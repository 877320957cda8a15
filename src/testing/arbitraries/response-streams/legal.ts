/** Response streams that a legal writer writes: everything else is left out of random ones. */
import fc from 'fast-check';
import type { ClientAction, ResponseEvent } from '../../../../proto/index.js';
import { createFold, type FoldState } from '../../../conversation/index.js';
import { actionLists } from './actions.js';
import { acted, finished, received } from './events.js';
import { opening } from './streams.js';

const strictly = createFold({ mode: 'strict' });

/**
 * The events of one request that no client tells of, from its init to its finish: tasks with messages, changes of
 * them, transactions that are committed and rolled back, a split now and then. @param plain only what JSON can say
 */
export function legalResponseStreams(plain = false): fc.Arbitrary<readonly ResponseEvent[]> {
  return fc
    .tuple(fc.boolean(), actionLists(plain), fc.infiniteStream(fc.nat({ max: 3 })), fc.boolean(), finished)
    .map(([isFurnished, actions, sizes, commits, last]) => {
      const events: ResponseEvent[] = [];
      let state = strictly.initial;
      const keep = (event: ResponseEvent): boolean => {
        const next = strictly.take(state, event);
        if (next.error !== undefined) return false;
        state = next.state;
        events.push(event);
        return true;
      };
      for (const event of isFurnished ? opening : opening.slice(0, 2)) keep(event);
      for (const event of inEvents(legalOf(actions, state), sizes)) keep(event);
      if (state.conversation.transaction !== 'none') {
        keep(acted({ case: commits ? 'commitTransaction' : 'rollbackTransaction', value: {} }));
      }
      keep(received(last));
      return events;
    });
}

/** Those of the actions that can follow one another. */
function legalOf(actions: readonly ClientAction[], before: FoldState): ClientAction[] {
  let state = before;
  return actions.filter((action) => {
    const next = strictly.take(state, eventOf([action]));
    if (next.error !== undefined) return false;
    state = next.state;
    return true;
  });
}

/** Several actions to an event, as it may happen. */
function inEvents(actions: readonly ClientAction[], sizes: Iterator<number>): ResponseEvent[] {
  const events: ResponseEvent[] = [];
  for (let at = 0; at < actions.length; ) {
    const size = 1 + (sizes.next().value as number);
    events.push(eventOf(actions.slice(at, at + size)));
    at += size;
  }
  return events;
}

function eventOf(actions: readonly ClientAction[]): ResponseEvent {
  return received({ type: { case: 'clientActions', value: { actions: [...actions] } } });
}
