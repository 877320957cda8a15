/** What subscribers are told: one change for each event, with the tasks and messages that it touched (conversation.md §2, §6). */
import { describe, expect, test } from 'vitest';
import {
  actions,
  add,
  append,
  begin,
  begun,
  cancel,
  commit,
  done,
  eof,
  event,
  type Folding,
  failed,
  failing,
  init,
  rollback,
  said,
  split,
  task,
  update,
} from './events.js';

const told = (folding: Folding, ...all: Parameters<typeof actions>) => folding.take(actions(...all)).change;
const named = (changes: readonly { readonly id: string; readonly change: string }[] | undefined) =>
  changes?.map(({ id, change }) => `${id} ${change}`);

describe('its kind', () => {
  test('is the weightiest thing that the event did', () => {
    const folding = begun();
    const more = add('t', said('n', 'n'));
    expect(told(folding, more)?.kind).toBe('applied');
    expect(told(folding, begin)?.kind).toBe('begun');
    expect(told(folding, more)?.kind).toBe('applied');
    expect(told(folding, commit)?.kind).toBe('committed');
    expect(told(folding, begin, more, commit, begin)?.kind).toBe('committed');
    expect(told(folding, rollback)?.kind).toBe('rolled_back');
    expect(told(folding, begin, commit, begin, rollback)?.kind).toBe('rolled_back');
    expect(told(folding, begin, failing, commit)?.kind).toBe('rolled_back');
    expect(folding.take(init()).change?.kind).toBe('applied');
    expect(folding.take(event({})).change?.kind).toBe('applied');
    expect(folding.take(actions(begin), done).change?.kind).toBe('ended');
    expect(folding.take(eof).change).toBeUndefined();
    expect(folding.take(init('c', 'r2')).change?.kind).toBe('applied');
    expect(folding.take(cancel).change?.kind).toBe('ended');
  });
});

describe('what it touched', () => {
  test('messages that came and that changed', () => {
    const folding = begun({}, 'a', 'b', 'c');
    const change = told(
      folding,
      append('t', said('c', '!')),
      update('t', said('a', 'x'), 'agentOutput'),
      add('t', said('d', 'd')),
    );
    expect(named(change?.messages)).toEqual(['a changed', 'c changed', 'd added']);
    expect(change?.messages.every(({ taskId }) => taskId === 't')).toBe(true);
    expect(change?.tasks).toEqual([]);
  });

  test('tasks that came and whose own fields changed', () => {
    const folding = begun({}, 'a');
    const change = told(folding, task('s', 't'), add('s', said('n', 'n')), {
      updateTaskSummary: { taskId: 't', summary: 's' },
    });
    expect(named(change?.tasks)).toEqual(['t changed', 's added']);
    expect(named(change?.messages)).toEqual(['n added']);
  });

  test('a rollback: what it removed, and what it restored', () => {
    const folding = begun({}, 'a', 'b');
    folding.take(
      actions(begin, append('t', said('a', '!')), add('t', said('c', 'c')), task('s', 't'), add('s', said('n', 'n'))),
    );
    folding.take(actions({ updateTaskSummary: { taskId: 't', summary: 's' } }));
    const change = told(folding, rollback);
    expect(named(change?.messages)).toEqual(['a restored', 'c removed', 'n removed']);
    expect(named(change?.tasks)).toEqual(['t restored', 's removed']);
    expect(change?.messages.find(({ id }) => id === 'n')?.taskId).toBe('s');
  });

  test('a rollback and what comes after it, in one event', () => {
    const folding = begun({}, 'a', 'b');
    folding.take(actions(begin, append('t', said('a', '!')), append('t', said('b', '!'))));
    expect(named(told(folding, rollback, append('t', said('b', '?')))?.messages)).toEqual(['a restored', 'b changed']);
  });

  test('what an event did and undid was never shown', () => {
    const folding = begun({}, 'a');
    const change = told(folding, begin, add('t', said('b', 'b')), append('t', said('a', '!')), rollback);
    expect([change?.kind, change?.messages, change?.tasks]).toEqual(['rolled_back', [], []]);
  });

  test('a failed end takes back as a rollback does', () => {
    const folding = begun({}, 'a');
    folding.take(actions(begin, append('t', said('a', '!')), add('t', said('b', 'b'))));
    const { change } = folding.take(failed);
    expect([change?.kind, named(change?.messages)]).toEqual(['ended', ['a restored', 'b removed']]);
  });

  test('a split: what stayed behind', () => {
    const folding = begun({}, 'a', 'b', 'c');
    folding.take(actions(task('s', 't'), add('s', said('n', 'n')), task('u', 't'), add('u', said('o', 'o'))));
    const change = told(folding, split('o'));
    expect(named(change?.tasks)).toEqual(['s removed']);
    expect(named(change?.messages)).toEqual(['a removed', 'b removed', 'c removed', 'n removed']);
  });

  test('the same message again touches nothing', () => {
    const folding = begun({}, 'a');
    expect(told(folding, add('t', said('a', 'a')))?.messages).toEqual([]);
  });
});

test('diagnostics are those of the event', () => {
  const folding = begun();
  folding.take(actions(failing));
  const change = told(folding, commit, failing);
  expect(change?.diagnostics).toMatchObject([
    { code: 'commit_without_begin', event: 3, action: 0 },
    { code: 'unknown_task', event: 3, action: 1 },
  ]);
  expect(change?.event).toBe(3);
  expect(told(folding)?.diagnostics).toEqual([]);
});

describe('the end of a request', () => {
  test('says how it ended', () => {
    const folding = begun();
    folding.take(actions(begin, add('t', said('m', 'x'), { id: 'call', toolCall: { toolCallId: 'k' } }), failing));
    expect(folding.take(cancel).change?.end).toMatchObject({
      phase: 'cancelled',
      conversationId: 'c',
      requestId: 'r',
      reason: '',
      message: '',
      usage: [],
      cost: 0,
      contextWindow: 0,
      openToolCalls: ['k'],
      interrupted: ['m', 'call'],
      diagnostics: [{ code: 'unknown_task' }],
    });
    folding.take(init('c', 'r2'), actions(commit));
    const finish = { internalError: { message: 'broken' }, tokenUsage: [{ modelId: 'x', totalInput: 3 }] };
    const info = { requestCost: { exact: 0.5 }, contextWindowInfo: { contextWindowUsage: 0.25 } };
    expect(folding.take(event({ finished: { ...finish, ...info } })).change?.end).toMatchObject({
      phase: 'failed',
      requestId: 'r2',
      reason: 'internalError',
      message: 'broken',
      usage: [{ modelId: 'x', totalInput: 3 }],
      cost: 0.5,
      contextWindow: 0.25,
      interrupted: [],
      diagnostics: [{ code: 'commit_without_begin' }],
    });
    folding.take(init('c', 'r3'));
    expect(folding.take({ end: 'error', message: 'reset' }).change?.end).toMatchObject({
      phase: 'truncated',
      message: 'reset',
      diagnostics: [],
    });
  });

  test('a reason that only a newer schema has is a failure without a name', () => {
    for (const [wireType, phase, reason] of [
      [2, 'failed', ''],
      [0, 'finished', 'done'],
    ] as const) {
      const folding = begun();
      const finish = event({ finished: {} });
      if (finish.type.case === 'finished') finish.type.value.$unknown = [{ no: 99, wireType, data: Uint8Array.of(0) }];
      expect(folding.take(actions(begin), finish).change?.end).toMatchObject({ phase, reason });
    }
  });
});
