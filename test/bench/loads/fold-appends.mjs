import { createConversation } from 'commitpoint';
import { createFold } from 'commitpoint/conversation';
import { Meter } from '../meter.mjs';
import { TranscodingFold } from '../transcode.mjs';
import { append, begin, commit, delta, history } from './response-events.mjs';

const messages = 1_000;
const measureMs = 700;

/**
 * So many appends of twenty bytes to one message, one an event, in a
 * transaction that is committed, after a thousand messages of history.
 * @param {{ appends: number, by: 'fold' | 'conversation' | 'transcode' }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function foldAppends({ appends, by }) {
  const before = history(messages);
  const one = append('m500');
  const once = () => {
    const folding = foldings[by]();
    for (const event of before) folding.take(event);
    meter.start();
    folding.take(begin);
    for (let at = 0; at < appends; at += 1) folding.take(one);
    folding.take(commit);
    meter.stop(appends);
    const { length } = folding.textOf('m500');
    if (length !== (appends + 1) * delta.length) throw new Error(`a text of ${length} characters`);
  };
  let meter = new Meter();
  // transcoding takes seconds a time, and is compiled long before it has ended
  if (by !== 'transcode') for (const until = performance.now() + 300; performance.now() < until; ) once();
  meter = new Meter();
  do once();
  while (meter.cpuMs < measureMs);
  return meter.sample;
}

const foldings = {
  transcode: () => new TranscodingFold(),
  fold() {
    const fold = createFold();
    let state = fold.initial;
    return {
      /** @param {import('commitpoint/proto').ResponseEvent} event */
      take(event) {
        state = fold.take(state, event).state;
      },
      /** @param {string} id */
      textOf: (id) => textIn(state.conversation, id),
    };
  },
  conversation() {
    const conversation = createConversation();
    return {
      /** @param {import('commitpoint/proto').ResponseEvent} event */
      take(event) {
        conversation.apply(event);
      },
      /** @param {string} id */
      textOf: (id) => textIn(conversation.state, id),
    };
  },
};

/**
 * @param {import('commitpoint/conversation').ConversationState} state
 * @param {string} id
 */
function textIn(state, id) {
  for (const { message, id: own } of state.tasks.get('t')?.messages ?? []) {
    if (own === id && message.case === 'agentOutput') return message.value.text;
  }
  return '';
}
