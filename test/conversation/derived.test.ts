/** Derived values equal a recomputation from scratch, at every step (C10), and are kept for as long as what they come from. */
import { describe, expect, test } from 'vitest';
import type { Message } from '../../proto/index.js';
import {
  type ConversationState,
  linearMessages,
  messageIndex,
  openToolCalls,
  todoLists,
} from '../../src/conversation/index.js';
import { actions, add, append, begin, begun, rollback, said, split, task } from './events.js';

const todo = (id: string) => ({ id, title: id });
const list = (id: string, ...ids: string[]) => ({
  id,
  updateTodos: { createTodoList: { initialTodos: ids.map(todo) } },
});
const pending = (id: string, ...ids: string[]) => ({
  id,
  updateTodos: { updatePendingTodos: { updatedPendingTodos: ids.map(todo) } },
});
const completed = (id: string, ...todoIds: string[]) => ({ id, updateTodos: { markTodosCompleted: { todoIds } } });
const call = (id: string) => ({ id: `call ${id}`, toolCall: { toolCallId: id } });
const answer = (id: string) => ({ id: `answer ${id}`, toolCallResult: { toolCallId: id } });

/** The messages, task by task, read through the views alone. */
const messagesOf = (state: ConversationState): Message[] =>
  [...state.tasks.values()].flatMap(({ messages }) => [...messages]);

function recomputed(state: ConversationState) {
  const messages = messagesOf(state);
  const answers = new Set(
    messages.flatMap(({ message }) => (message.case === 'toolCallResult' ? [message.value.toolCallId] : [])),
  );
  const calls = messages.flatMap(({ message }) => (message.case === 'toolCall' ? [message.value.toolCallId] : []));
  const places = [...state.tasks.values()].flatMap(({ id: taskId, messages: own }) =>
    own.toArray().map((message, index) => [message.id, { taskId, index, message }] as const),
  );
  return { messages, open: [...new Set(calls)].filter((id) => !answers.has(id)), places: new Map(places) };
}

describe('at every step', () => {
  const steps = [
    add('t', call('1'), call('2')),
    task('s', 't'),
    add('s', call('3'), answer('1'), said('x', 'x')),
    begin,
    add('t', answer('3'), call('2')),
    append('s', said('x', '!')),
    rollback,
    add('s', ...Array.from({ length: 100 }, (_, index) => call(`many ${index}`))),
    add('s', answer('many 50'), answer('2')),
    split('call many 60'),
    add('t', call('4'), answer('many 70')),
  ];

  test('messages, index and open tool calls', () => {
    const folding = begun();
    for (const step of steps) {
      folding.take(actions(step));
      const state = folding.now;
      const { messages, open, places } = recomputed(state);
      expect(linearMessages(state)).toEqual(messages);
      expect(openToolCalls(state)).toEqual(open);
      const index = messageIndex(state);
      for (const id of ['call 1', 'answer 1', 'x', 'call many 50', 'call many 60', 'no such']) {
        expect(index.get(id)).toEqual(places.get(id));
      }
    }
    expect(folding.codes).toEqual([]);
  });

  test('are the same objects as long as the tasks are', () => {
    const folding = begun();
    folding.take(actions(add('t', call('1'), list('l', 'a'))));
    const before = folding.now;
    const all = [linearMessages(before), openToolCalls(before), todoLists(before)];
    folding.take(actions(begin, add('t', answer('1')), rollback));
    const after = folding.now;
    expect(after).not.toBe(before);
    const again = [linearMessages(after), openToolCalls(after), todoLists(after)];
    for (const [at, value] of again.entries()) expect(value).toBe(all[at]);
  });
});

describe('to-do lists', () => {
  const lists = (...messages: Parameters<typeof add>[1][]) => {
    const folding = begun();
    folding.take(actions(add('t', ...messages)));
    return todoLists(folding.now).map((each) => ({
      from: each.messageId,
      pending: each.pending.map(({ id }) => id),
      completed: each.completed.map(({ id }) => id),
    }));
  };

  test('a list is what its operations make of it', () => {
    const all = [
      list('l', 'a', 'b', 'c'),
      completed('1', 'b'),
      pending('2', 'c', 'd'),
      completed('3', 'd', 'ghost', 'b'),
    ];
    expect(lists(...all)).toEqual([{ from: 'l', pending: ['c'], completed: ['b', 'd'] }]);
  });

  test('a new one ends the earlier one, which is kept', () => {
    expect(lists(list('l', 'a', 'b'), completed('1', 'a'), list('k', 'c'), completed('2', 'c'))).toEqual([
      { from: 'l', pending: ['b'], completed: ['a'] },
      { from: 'k', pending: [], completed: ['c'] },
    ]);
  });

  test('a change without a list begins one; a mark without a list is nothing', () => {
    expect(lists(completed('1', 'a'), pending('2', 'a', 'b'))).toEqual([
      { from: '2', pending: ['a', 'b'], completed: [] },
    ]);
  });

  test('each task has its own, and a rollback takes back what a mark did', () => {
    const folding = begun();
    folding.take(actions(add('t', list('l', 'a')), task('s', 't'), add('s', list('k', 'a'))));
    const before = todoLists(folding.now);
    expect(before.map(({ taskId }) => taskId)).toEqual(['t', 's']);
    folding.take(actions(begin, add('s', completed('1', 'a'))));
    expect(todoLists(folding.now).map(({ completed: done }) => done.length)).toEqual([0, 1]);
    folding.take(actions(rollback));
    expect(todoLists(folding.now)).toBe(before);
  });
});
