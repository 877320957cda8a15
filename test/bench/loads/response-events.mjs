/** Events that fold, as a server sends them. */
import { create } from '@bufbuild/protobuf';
import { ResponseEventSchema } from 'commitpoint/proto';

/** @typedef {import('commitpoint/proto').ResponseEvent} ResponseEvent */
/** @typedef {NonNullable<import('@bufbuild/protobuf').MessageInitShape<typeof import('commitpoint/proto').ClientActionSchema>['action']>} Action */

/** The text of a delta: twenty bytes. */
export const delta = 'twenty bytes of text';

/** @param {readonly Action[]} actions */
export const acted = (...actions) =>
  create(ResponseEventSchema, {
    type: { case: 'clientActions', value: { actions: actions.map((action) => ({ action })) } },
  });

export const init = create(ResponseEventSchema, {
  type: { case: 'init', value: { conversationId: 'c', requestId: 'r' } },
});
export const begin = acted({ case: 'beginTransaction', value: {} });
export const commit = acted({ case: 'commitTransaction', value: {} });
export const rollback = acted({ case: 'rollbackTransaction', value: {} });

/** @param {string} id */
export const append = (id) =>
  acted({
    case: 'appendToMessageContent',
    value: {
      taskId: 't',
      message: { id, message: { case: 'agentOutput', value: { text: delta } } },
      mask: { paths: ['agent_output.text'] },
    },
  });

/**
 * A root and so many messages, `m0` to the last, a thousand an event.
 * @param {number} count
 * @returns {ResponseEvent[]}
 */
export function history(count) {
  const events = [init, acted({ case: 'createTask', value: { task: { id: 't' } } })];
  for (let from = 0; from < count; from += 1000) {
    const messages = [];
    for (let at = from; at < Math.min(count, from + 1000); at += 1) {
      messages.push({ id: `m${at}`, message: { case: /** @type {const} */ ('agentOutput'), value: { text: delta } } });
    }
    events.push(acted({ case: 'addMessagesToTask', value: { taskId: 't', messages } }));
  }
  return events;
}
