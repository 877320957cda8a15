/** A conversation as a stream that rebuilds it (C5): fold(toEvents(state)) is the state. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import { type ConversationState, createFold, resultOf, toEvents } from '../../src/conversation/index.js';
import {
  actions,
  add,
  append,
  begin,
  begun,
  commit,
  done,
  event,
  Folding,
  failed,
  init,
  rollback,
  said,
  split,
  task,
  update,
} from './events.js';

/** What the events of a state make. */
function rebuilt(state: ConversationState, through = (each: ResponseEvent) => each): Folding {
  const folding = new Folding({ policies: { nested: 'savepoint' } });
  for (const each of toEvents(state)) folding.take(through(each));
  return folding;
}

/** Everything that is claimed to come back. */
function claimed(state: ConversationState) {
  const { diagnostics: _, diverged: __, ...result } = resultOf(state);
  const earlier = state.earlier.map(({ id, tasks, suggestions }) => [id, [...tasks.values()], suggestions]);
  return { ...result, rootTaskId: state.rootTaskId, earlier: JSON.stringify(earlier) };
}

const status = (taskId: string, name: string) => ({ updateTaskStatus: { taskId, taskStatus: { [name]: {} } } });
const root = (id: string) => task(id, undefined, { description: id, messages: [said(`in ${id}`, id)] });
const grown = [
  task('s', 't', { description: 'd', dependencies: { parentTaskId: 't', siblingDependencies: ['x'] } }),
  add('s', said('n', 'n')),
  status('t', 'inProgress'),
  { updateTaskSummary: { taskId: 's', summary: 'sum' } },
  { showSuggestions: { rules: [{ name: 'r' }], workflows: [{ name: 'w' }] } },
  add('t', ...Array.from({ length: 40 }, (_, index) => said(`m${index}`, `${index}`))),
  append('t', said('m3', ' and more')),
];

/** Histories, each of which ends in a state to rebuild. */
const histories: Record<string, ResponseEvent[]> = {
  nothing: [],
  'an init': [init()],
  'a refusal': [failed],
  'a task': [init(), actions(task('t'))],
  'a conversation that is finished': [
    init(),
    actions(task('t'), ...grown),
    event({ finished: { done: {}, requestCost: { exact: 0.1 }, tokenUsage: [{ modelId: 'm', output: 3 }] } }),
  ],
  'a failed one': [init(), actions(task('t'), ...grown), failed],
  'a second request': [init(), actions(task('t')), done, init('c', 'r2'), actions(...grown)],
  'an open transaction': [
    init(),
    actions(task('t'), add('t', said('a', 'a'))),
    actions(begin, ...grown, append('t', said('a', '!'))),
  ],
  'an open transaction that changes much': [
    init(),
    actions(
      task('t', undefined, { description: 'd' }),
      add('t', said('a', 'a'), said('b', 'b'), { id: 'c' }, said('d', 'd')),
    ),
    actions(begin, add('t', said('b', 'other', { serverMessageData: 's' })), update('t', { id: 'a' }, 'agentOutput')),
    actions(update('t', { id: 'c', userQuery: { query: 'q' } }, 'userQuery'), status('t', 'failed'), {
      updateTaskDescription: { taskId: 't' },
    }),
    actions(
      update('t', { id: 'd', citations: [{ documentId: 'x' }], agentOutput: { text: 'e' } }, 'citations,agentOutput'),
    ),
  ],
  'levels of savepoints': [
    init(),
    actions(task('t'), begin, add('t', said('a', 'a')), begin, append('t', said('a', '!')), begin, ...grown),
  ],
  'a split': [
    init(),
    actions(task('t'), ...grown, split('m7')),
    actions(add('t', said('o', 'o')), append('t', said('m8', '?'))),
  ],
  'a split in a child': [
    init(),
    actions(task('t'), ...grown, split('n')),
    actions(append('s', said('n', '?')), task('u', 's')),
  ],
  'a split that was named': [
    init(),
    actions(task('t'), ...grown, split('m7')),
    done,
    init('d', 'r2'),
    actions(add('t', said('o', 'o'))),
  ],
  'splits, named and not': [
    init(),
    actions(task('t'), ...grown, split('m7')),
    init('d', 'r'),
    actions(split('m9')),
    actions(add('t', said('m3', 'again')), split('m12')),
  ],
  'a placeholder that was replaced': [
    init(),
    actions(
      task('t'),
      ...grown,
      split('m30'),
      root('t2'),
      task('v', 't2'),
      { updateTaskSummary: { taskId: 't2', summary: 'x' } },
      add('t2', said('o', 'o')),
    ),
  ],
  'a placeholder that is replaced in a transaction': [
    init(),
    actions(task('t'), ...grown, split('n')),
    actions(begin, root('t2'), add('t2', said('o', 'o'))),
  ],
};

describe('what it comes back as', () => {
  test.each(Object.entries(histories))('%s', (_, events) => {
    const folding = new Folding({ policies: { nested: 'savepoint' } });
    folding.take(...events);
    expect(
      folding.now.diagnostics.filter(({ code }) => !/nested_begin|before_init|duplicate_message/.test(code)),
    ).toEqual([]);
    const again = rebuilt(folding.now);
    expect(claimed(again.now)).toEqual(claimed(folding.now));
    // over the wire too, and once more from what came back
    const wired = rebuilt(folding.now, (each) => fromBinary(ResponseEventSchema, toBinary(ResponseEventSchema, each)));
    expect(claimed(wired.now)).toEqual(claimed(folding.now));
    expect(claimed(rebuilt(again.now).now)).toEqual(claimed(folding.now));
    // and it goes on alike
    if (folding.now.phase !== 'streaming') return;
    for (const each of [folding, again])
      each.take(actions(rollback), actions(add('t', said('last', 'x')), task('root'), commit));
    expect(claimed(again.now)).toEqual(claimed(folding.now));
  });
});

test('a status that goes is written too', () => {
  const folding = begun();
  folding.take(actions(status('t', 'blocked')), actions(begin, { updateTaskStatus: { taskId: 't' } }));
  const again = rebuilt(folding.now);
  expect(again.now.tasks.get('t')?.status).toBe('');
  again.take(actions(rollback));
  expect(again.now.tasks.get('t')?.status).toBe('blocked');
});

test('what only a newer schema knows comes back byte for byte', () => {
  const $unknown = () => [{ no: 1000, wireType: 2, data: Uint8Array.of(2, 104, 105) }];
  const received = actions(task('t'), add('t', said('m', 'a')), { showSuggestions: {} });
  for (const { action } of received.type.case === 'clientActions' ? received.type.value.actions : []) {
    if (action.case === 'createTask' && action.value.task) action.value.task.$unknown = $unknown();
    if (action.case === 'addMessagesToTask') for (const each of action.value.messages) each.$unknown = $unknown();
    if (action.case === 'showSuggestions') action.value.$unknown = $unknown();
  }
  const folding = new Folding();
  folding.take(init(), received);
  const { tasks, suggestions } = rebuilt(folding.now).now;
  for (const each of [tasks.get('t')?.task, tasks.get('t')?.messages.at(0), suggestions]) {
    expect(each?.$unknown).toEqual($unknown());
  }
});

test('no event holds more than a few messages', () => {
  const folding = begun({}, ...Array.from({ length: 1000 }, (_, index) => `m${index}`));
  const sizes = toEvents(folding.now).map(({ type }) => {
    const action = type.case === 'clientActions' ? type.value.actions[0]?.action : undefined;
    return action?.case === 'addMessagesToTask' ? action.value.messages.length : 0;
  });
  expect(Math.max(...sizes)).toBeLessThanOrEqual(16);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1000);
});

test('a state of somebody else is refused', () => {
  const { conversation } = createFold().initial;
  expect(() => toEvents({ ...conversation })).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  expect(() => toEvents(create(ResponseEventSchema) as never)).toThrow(
    expect.objectContaining({ code: 'invalid_input' }),
  );
  expect(() => toEvents(undefined as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
});
