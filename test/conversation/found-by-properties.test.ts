/** What random streams have found, each in the smallest stream that shows it. */
import { expect, test } from 'vitest';
import { resultOf, toEvents } from '../../src/conversation/index.js';
import { actions, add, begin, begun, cancel, Folding, said, split, task, update } from './events.js';

test('C5: messages that name a root by the id that it had before a split are rebuilt so', () => {
  const folding = begun({}, 'a');
  folding.take(actions(split('a'), add('t', said('a', 'again', { taskId: 't' }), said('b', 'b', { taskId: 't' }))));
  folding.take(
    actions(task('u'), add('u', said('c', 'c', { taskId: 'u' })), update('u', said('b', 'B'), 'agentOutput')),
  );
  const rebuilt = new Folding();
  rebuilt.take(...toEvents(folding.now));
  expect(resultOf(rebuilt.now).tasks).toEqual(resultOf(folding.now).tasks);
  expect(
    rebuilt.now.tasks
      .get('u')
      ?.messages.toArray()
      .map(({ taskId }) => taskId),
  ).toEqual(['t', 't', 'u']);
});

test('C11: the list of interrupted messages belongs to the state', () => {
  const folding = begun({}, 'a');
  folding.take(actions(begin, add('t', said('b', 'b'))), cancel);
  const { interrupted } = folding.now;
  expect(() => (interrupted as string[]).pop()).toThrow(TypeError);
  expect(folding.now.interrupted).toEqual(['b']);
});
