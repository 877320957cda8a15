/**
 * What diagnostics say to people: every kind of them, whole, with where it was
 * and which action it is about. Codes decide; but whoever looks for the cause
 * reads the words.
 */
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { ClientActionSchema, type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import type { FoldInput, FoldOptions } from '../../src/conversation/index.js';
import {
  actions,
  add,
  append,
  badFrame,
  begin,
  begun,
  commit,
  done,
  eof,
  event,
  Folding,
  init,
  rollback,
  said,
  split,
  task,
  update,
} from './events.js';

type Told = readonly [code: string, detail: string, action?: number];

/** What folding these tells of; all diagnostics are about the last input. */
function toldOf(inputs: readonly FoldInput[], options: FoldOptions = {}): Told[] {
  const folding = begun(options, 'm', 'n');
  folding.take(...inputs);
  const { diagnostics } = folding.now;
  return diagnostics.map(({ code, detail, action }) =>
    action === undefined ? [code, detail] : [code, detail, action],
  );
}

const ended = [done, init('c', 'r2'), done];

describe('what a diagnostic says', () => {
  test.each<[string, readonly FoldInput[], readonly Told[]]>([
    // of actions, in tolerant
    ['a task that there is not', [actions(append('no', said('m', 'x')))], [['unknown_task', 'append in task "no"', 0]]],
    [
      'the same of an update',
      [actions(update('no', said('m', 'x'), 'id'))],
      [['unknown_task', 'update in task "no"', 0]],
    ],
    ['the same of an addition', [actions(add('no', said('q', 'x')))], [['unknown_task', 'add to task "no"', 0]]],
    [
      'the same of a field',
      [
        actions(
          { updateTaskSummary: { taskId: 'no', summary: 's' } },
          { updateTaskDescription: { taskId: 'no', description: 's' } },
          { updateTaskStatus: { taskId: 'no' } },
        ),
      ],
      [
        ['unknown_task', 'set summary of task "no"', 0],
        ['unknown_task', 'set description of task "no"', 1],
        ['unknown_task', 'set status of task "no"', 2],
      ],
    ],
    [
      'a message that there is not',
      [actions(append('t', said('q', 'x')))],
      [['unknown_message', 'append of message "q"', 0]],
    ],
    [
      'a message without an id',
      [actions(append('t', said('', 'x')), update('t', said('', 'x'), 'id'), add('t', said('', 'x')))],
      [
        ['unknown_message', 'append of message ""', 0],
        ['unknown_message', 'update of message ""', 1],
        ['unknown_message', 'a message with an empty id', 2],
      ],
    ],
    [
      'no mask',
      [
        actions(
          { updateTaskMessage: { taskId: 't', message: said('m', 'x') } },
          { appendToMessageContent: { taskId: 't', message: said('m', 'x') } },
        ),
      ],
      [
        ['missing_mask', 'update without a mask', 0],
        ['missing_mask', 'append without a mask', 1],
      ],
    ],
    [
      'no message',
      [
        actions(
          { updateTaskMessage: { taskId: 't', mask: 'agentOutput.text' } },
          { appendToMessageContent: { taskId: 't', mask: 'agentOutput.text' } },
        ),
      ],
      [
        ['empty_action', 'update without a message', 0],
        ['empty_action', 'append without a message', 1],
      ],
    ],
    [
      'a message of another task',
      [actions(task('s', 't'), append('s', said('m', 'x')))],
      [['task_id_mismatch', 'message "m" stands in task "t", not "s"', 1]],
    ],
    [
      'a message that names another task',
      [actions(add('t', said('q', 'x', { taskId: 'u' })))],
      [['task_id_mismatch', 'message "q" names task "u", added to "t"', 0]],
    ],
    [
      'a message that is there',
      [actions(task('s', 't'), add('t', said('m', 'other')), add('s', said('n', 'n')))],
      [
        ['duplicate_message', 'message "m" is replaced by another one', 1],
        ['duplicate_message', 'message "n" stands in task "t"', 2],
      ],
    ],
    [
      'paths',
      [
        actions(
          update('t', said('m', 'x'), 'id'),
          update('t', said('m', 'x'), 'agentOutput.text.more'),
          append('t', said('m', 'x'), 'agentOutput'),
          append('t', said('m', 'x'), 'agentOutput.text,agentOutput.text'),
        ),
      ],
      [
        ['invalid_path', '"id" is what a message is found by', 0],
        ['invalid_path', '"agent_output.text.more" goes on below a field that holds no message', 1],
        ['unsupported_append', '"agent_output" is no string', 2],
        ['duplicate_path', '"agent_output.text" more than once', 3],
      ],
    ],
    [
      'a task without a name',
      [actions({ createTask: {} }, { createTask: { task: {} } })],
      [
        ['empty_action', 'create_task without a task', 0],
        ['empty_action', 'create_task with an empty id', 1],
      ],
    ],
    [
      'tasks that cannot be',
      [
        actions(
          task('t', undefined, { summary: 'other' }),
          task('u'),
          task('v', 'no'),
          task('w', 't', { messages: [said('m', 'x')] }),
        ),
      ],
      [
        ['duplicate_task', 'task "t" is there with other content', 0],
        ['duplicate_root', 'task "u" has no parent, and there is a root', 1],
        ['unknown_parent', 'task "v" below task "no"', 2],
        ['duplicate_task', 'task "w" carries message "m", which is there', 3],
      ],
    ],
    ['a split', [actions(split('no'))], [['unknown_message', 'a new conversation from message "no"', 0]]],
    ['an action that is none', [actions({})], [['empty_action', 'an action without a case', 0]]],
    // of transactions
    [
      'transactions',
      [actions(commit, rollback, begin, begin)],
      [
        ['commit_without_begin', 'no transaction is open', 0],
        ['rollback_without_begin', 'no transaction is open', 1],
        ['nested_begin', 'a transaction is open', 3],
      ],
    ],
    [
      'a commit of a doomed one',
      [actions(begin, append('no', said('m', 'x')), commit)],
      [
        ['unknown_task', 'append in task "no"', 1],
        ['doomed_commit', 'an action of the transaction had failed', 2],
      ],
    ],
    ['a finish in one', [actions(begin), done], [['unclosed_transaction', 'the finish found a transaction open']]],
    [
      'a split in one',
      [actions(begin, split('n'))],
      [['split_in_transaction', 'the split found a transaction open', 1]],
    ],
    // of streams
    ['another init', [init('d', 'r9')], [['unexpected_init', 'init of conversation "d", request "r9"']]],
    ['a frame', [badFrame], [['bad_frame', 'bad frame']]],
    ['a long frame', [{ end: 'bad_frame', message: 'x'.repeat(401) }], [['bad_frame', 'x'.repeat(400)]]],
    ['actions after the end', [...ended, actions(begin)], [['after_finished', 'actions came after the end']]],
    ['a finish after the end', [...ended, done], [['after_finished', 'finished came after the end']]],
  ])('of %s', (_, inputs, told) => {
    expect(toldOf(inputs)).toEqual(told);
  });

  test('before any init', () => {
    const folding = new Folding();
    folding.take(actions(begin), done);
    expect(folding.now.diagnostics.map(({ code, detail, event: at }) => [code, detail, at])).toEqual([
      ['actions_before_init', 'actions came before any init', 0],
      ['actions_before_init', 'the finish came before any init', 1],
    ]);
  });

  test('of what a newer schema says: the numbers of its fields, and what was received', () => {
    const unknown = [7, 8, 9, 10, 11, 12, 13, 14, 15].map((number) => ({
      no: 100 + number,
      wireType: 0,
      data: new Uint8Array([1]),
    }));
    const action = create(ClientActionSchema);
    action.$unknown = unknown;
    const newer = create(ResponseEventSchema, { type: { case: 'clientActions', value: { actions: [action] } } });
    const folding = begun();
    folding.take(newer, create(ResponseEventSchema) as ResponseEvent);
    const [first, second] = folding.now.diagnostics;
    expect(first).toMatchObject({
      code: 'unknown_action',
      detail: 'field 107, 108, 109, 110, 111, 112, 113, 114',
      action: 0,
      event: 2,
      received: { $typeName: ClientActionSchema.typeName },
    });
    expect(second).toMatchObject({
      code: 'unknown_event',
      detail: 'an event without a type',
      event: 3,
      received: { $typeName: ResponseEventSchema.typeName },
    });
    expect(second).not.toHaveProperty('action');
    expect(second).not.toHaveProperty('stream');
    expect(folding.now.diverged).toBe(true);
  });

  test('under warp, which goes on where it can', () => {
    const options = { mode: 'warp' } as const;
    expect(toldOf([actions({ updateTaskMessage: { taskId: 't', message: said('m', 'x') } })], options)).toEqual([
      ['missing_mask', 'update without a mask', 0],
    ]);
    const query = { id: 'm', userQuery: { query: 'x' } };
    expect(toldOf([actions(update('t', query, 'userQuery.query'))], options)).toEqual([
      ['oneof_mismatch', '"user_query.query" takes the place of another member', 0],
    ]);
  });
});

describe('the end of a request', () => {
  test('says what the input said, and what was told of in this request alone', () => {
    const folding = begun({}, 'm');
    folding.take(actions(commit), done, init('c', 'r2'), actions(rollback));
    const { change } = folding.take({ end: 'error', message: 'connection reset' });
    expect(change?.end).toMatchObject({
      phase: 'truncated',
      conversationId: 'c',
      requestId: 'r2',
      message: 'connection reset',
    });
    expect(change?.end?.diagnostics.map(({ code }) => code)).toEqual(['rollback_without_begin']);
    expect(folding.now.diagnostics).toHaveLength(2);
    expect(Object.isFrozen(change?.end?.diagnostics)).toBe(true);
  });

  test('without an init names nothing', () => {
    const folding = new Folding();
    const { change } = folding.take(eof);
    expect(change?.end).toMatchObject({ phase: 'truncated', conversationId: '', requestId: '' });
  });

  test('of success or not, with what the finish reports', () => {
    const finish = {
      internalError: { message: 'broken' },
      tokenUsage: [],
      requestCost: { exact: 3 },
      contextWindowInfo: { contextWindowUsage: 0.5 },
    };
    const folding = begun();
    folding.take(event({ finished: finish }));
    expect(folding.now.finished).toMatchObject({
      reason: 'internalError',
      message: 'broken',
      costExact: 3,
      contextWindowUsage: 0.5,
    });
    const bare = begun();
    bare.take(event({ finished: {} }));
    expect(bare.now.finished).toMatchObject({ reason: 'done', message: '', costExact: 0, contextWindowUsage: 0 });
    expect([folding.now.phase, bare.now.phase]).toEqual(['failed', 'finished']);
  });
});
