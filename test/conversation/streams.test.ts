/** Several streams on one conversation: a transaction belongs to one of them (conversation.md §2, §6, §9). */
import { describe, expect, test } from 'vitest';
import {
  actions,
  add,
  append,
  begin,
  cancel,
  commit,
  done,
  eof,
  Folding,
  init,
  rollback,
  said,
  split,
  task,
} from './events.js';

/** Two streams, both streaming. */
function two(): Folding {
  const folding = new Folding();
  folding.take(init('c', 'r'), actions(task('t'), add('t', said('m', 'a'))));
  folding.state = folding.fold.open(folding.state, 1);
  folding.from(1, init('c', 'r2'));
  return folding;
}

const changing = [
  begin,
  add('t', said('n', 'x')),
  append('t', said('m', 'x')),
  task('s', 't'),
  { updateTaskSummary: { taskId: 't', summary: 's' } },
  { showSuggestions: {} },
  split('m'),
];

describe('while one has a transaction open', () => {
  test.each(changing.map((action) => [Object.keys(action)[0], action] as const))(
    '%s of another is refused',
    (_, action) => {
      const folding = two();
      folding.take(actions(begin, append('t', said('m', 'b'))));
      const { tasks } = folding.now;
      folding.from(1, actions(action));
      expect(folding.now.tasks).toBe(tasks);
      expect(folding.now.diagnostics).toMatchObject([{ code: 'transaction_busy', event: 1, action: 0, stream: 1 }]);
      // it failed outside of a transaction of its own, and does not doom that of the other
      expect([folding.now.transaction, folding.now.diverged]).toEqual(['open', true]);
    },
  );

  test('a Commit and a Rollback of another find none', () => {
    const folding = two();
    folding.take(actions(begin, append('t', said('m', 'b'))));
    folding.from(1, actions(commit, rollback));
    expect(folding.codes).toEqual(['commit_without_begin', 'rollback_without_begin']);
    expect([folding.now.transaction, folding.now.diverged]).toEqual(['open', false]);
  });

  test.each([done, eof, cancel])('an end of another leaves it open', (end) => {
    const folding = two();
    folding.take(actions(begin, append('t', said('m', 'b'))));
    const { change } = folding.from(1, end);
    expect(change?.kind).toBe('ended');
    expect(change?.end).toMatchObject({ requestId: 'r2', interrupted: [] });
    expect([folding.now.transaction, folding.now.phase]).toEqual(['open', 'streaming']);
    folding.take(actions(rollback));
    expect(folding.texts).toEqual({ m: 'a' });
  });

  test('its own end closes it, and then the other may begin', () => {
    const folding = two();
    folding.take(actions(begin, append('t', said('m', 'b'))), eof);
    folding.from(1, actions(begin, append('t', said('m', 'c')), commit));
    expect(folding.texts).toEqual({ m: 'ac' });
    expect(folding.codes).toEqual([]);
  });
});

test('without a transaction both change the conversation', () => {
  const folding = two();
  folding.take(actions(append('t', said('m', 'b'))));
  folding.from(1, actions(append('t', said('m', 'c'))));
  folding.take(actions(append('t', said('m', 'd'))));
  expect(folding.texts).toEqual({ m: 'abcd' });
});

test('each has its own phase, events, usage and diagnostics of its end', () => {
  const folding = two();
  folding.take(actions(commit));
  folding.from(1, actions(rollback));
  const first = folding.take(done).change?.end;
  const second = folding.from(1, cancel).change?.end;
  expect([folding.state.phaseOf(0), folding.state.phaseOf(1), folding.state.phaseOf(2)]).toEqual([
    'finished',
    'cancelled',
    undefined,
  ]);
  expect(first?.diagnostics.map(({ code, event }) => [code, event])).toEqual([['commit_without_begin', 2]]);
  expect(second?.diagnostics.map(({ code, event }) => [code, event])).toEqual([['rollback_without_begin', 1]]);
  expect([first?.requestId, second?.requestId]).toEqual(['r', 'r2']);
});

test('a stream of another conversation does not begin', () => {
  const folding = two();
  folding.state = folding.fold.open(folding.state, 2);
  folding.from(2, init('other', 'r3'));
  expect(folding.state.phaseOf(2)).toBe('awaiting_init');
  expect(folding.codes).toEqual(['unexpected_init']);
});

test('a split of one is one for both', () => {
  const folding = two();
  folding.from(1, actions(split('m')));
  folding.take(actions(append('t', said('m', 'b'))));
  expect(folding.now.conversations).toEqual(['c', 'c#2']);
  expect(folding.texts).toEqual({ m: 'ab' });
});

describe('the numbers of streams', () => {
  test('are those that were opened and not dropped', () => {
    const folding = two();
    const refused = expect.objectContaining({ code: 'invalid_input' });
    const { fold } = folding;
    for (const number of [0, 1, -1, 1.5, Number.NaN]) expect(() => fold.open(folding.state, number)).toThrow(refused);
    for (const number of [0, 1, 2]) expect(() => fold.drop(folding.state, number)).toThrow(refused);
    expect(() => fold.take(folding.state, eof, 7)).toThrow(refused);
    folding.from(1, done);
    folding.state = fold.drop(folding.state, 1);
    expect(() => fold.take(folding.state, eof, 1)).toThrow(refused);
    folding.state = fold.open(folding.state, 1);
    expect(folding.state.phaseOf(1)).toBe('awaiting_init');
  });
});
