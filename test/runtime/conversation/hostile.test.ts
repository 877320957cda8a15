/** A subscriber that changes whatever it is given changes nothing (C11). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resultOf } from '../../../src/conversation/index.js';
import { type Conversation, createConversation, linearMessages, openToolCalls, todoLists } from '../../../src/index.js';
import {
  actions,
  add,
  append,
  begin,
  commit,
  done,
  event,
  failing,
  init,
  rollback,
  said,
  split,
  task,
} from '../../conversation/events.js';
import { spoil } from '../../conversation/hostile.js';
import { quiet, watchProcess } from '../stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const bytes = { toolCall: { toolCallId: 'k', server: { payload: 'p' } } };
const todos = { updateTodos: { createTodoList: { initialTodos: [{ id: 'd', title: 'do' }] } } };

const history = () => [
  init(),
  actions(
    task('t', undefined, { description: 'root' }),
    task('u', 't'),
    add('t', said('a', 'Hello'), { id: 'call', ...bytes }),
  ),
  actions(add('u', { id: 'todos', ...todos })),
  actions(begin, append('t', said('a', ' world')), add('t', said('b', 'provisional'))),
  actions(rollback, failing),
  actions({ showSuggestions: { rules: [{ name: 'n', content: 'r' }] } }),
  actions(begin, append('t', said('a', '!')), commit),
  event({ clientActions: { actions: [{}] } }),
  actions(split('a')),
  event({ finished: { done: {}, tokenUsage: [{ modelId: 'm', totalInput: 1 }] } }),
];

/** Everything that a conversation says. */
function everything(conversation: Conversation): unknown {
  const { state } = conversation;
  return JSON.parse(
    JSON.stringify({
      result: resultOf(state),
      derived: [todoLists(state), linearMessages(state).map(({ id }) => id), openToolCalls(state)],
      earlier: state.earlier.map(({ id, tasks }) => [id, [...tasks.keys()]]),
      position: state.position,
    }),
  );
}

describe('C11', () => {
  it('a subscriber that changes all that it can reach changes nothing', async () => {
    const [spoilt, untouched] = [createConversation(), createConversation()];
    let told = 0;
    spoilt.changes$.subscribe((change) => {
      spoil(change, spoilt.state, todoLists(spoilt.state), linearMessages(spoilt.state), openToolCalls(spoilt.state));
      for (const each of spoilt.toEvents()) spoil(each);
      told++;
    });
    for (const [index, each] of history().entries()) {
      spoilt.apply(each);
      untouched.apply(history()[index] as never);
      expect(everything(spoilt)).toEqual(everything(untouched));
    }
    spoil(await spoilt.ended);
    expect(await spoilt.ended).toEqual(await untouched.ended);
    expect(everything(spoilt)).toEqual(everything(untouched));
    expect(told).toBe(history().length);
    // and those that come after work as ever
    const fresh = createConversation();
    for (const each of history()) fresh.apply(each);
    expect(everything(fresh)).toEqual(everything(untouched));
  });

  it('events that are changed after they were applied change nothing', () => {
    const [spoilt, untouched] = [createConversation(), createConversation()];
    for (const each of history()) {
      spoilt.apply(each);
      spoil(each);
    }
    for (const each of history()) untouched.apply(each);
    expect(everything(spoilt)).toEqual(everything(untouched));
  });

  it('nor does a host’s `effects`, whatever it does to what it is given', () => {
    const spoilt = createConversation({
      effects: (action, state) => {
        spoil(action);
        spoil(state);
        return [];
      },
    });
    const untouched = createConversation();
    for (const each of history()) spoilt.apply(each);
    for (const each of history()) untouched.apply(each);
    expect(everything(spoilt)).toEqual(everything(untouched));
  });

  it('nor an observer of an actor or an inspector that changes snapshots', () => {
    const spoilt = createConversation({
      inspect: (inspected) => {
        if (inspected.type === '@xstate.snapshot') spoilSnapshot(inspected.snapshot);
      },
    });
    spoilt.actor.subscribe((snapshot) => spoilSnapshot(snapshot));
    const [untouched] = [createConversation()];
    for (const each of history()) spoilt.apply(each);
    for (const each of history()) untouched.apply(each);
    expect(everything(spoilt)).toEqual(everything(untouched));
    expect(spoilt.actor.getSnapshot().value).toBe('finished');
  });

  /** What a machine's snapshot says of where it stands. */
  function spoilSnapshot(snapshot: unknown): void {
    const held = snapshot as { value: unknown; context: object; status: unknown };
    for (const part of [held, held.value, held.context]) {
      if (typeof part !== 'object' || part === null) continue;
      for (const key of ['value', 'status', 'context', 'open', 'dooms', 'onFailure']) {
        expect(Reflect.set(part, key, 'spoilt')).toBe(false);
      }
    }
  }

  it('under strict no attempt is a diagnostic of the stream', async () => {
    const conversation = createConversation({ mode: 'strict' });
    conversation.changes$.subscribe((change) => {
      spoil(change);
      spoil(conversation.state);
      // a plain assignment throws, as modules are strict: that is the host's own
      (conversation.state as { phase: string }).phase = 'finished';
    });
    conversation.apply(init());
    conversation.apply(actions(task('t'), begin, add('t', said('m', 'a')), commit));
    conversation.apply(done);
    await quiet();
    expect(await conversation.ended).toMatchObject({ phase: 'finished' });
    expect(new Set(conversation.state.diagnostics.map(({ code }) => code))).toEqual(new Set(['host_callback_threw']));
  });
});
