/** The invariants of conversation.md §8, as far as the pure fold keeps them. The random histories are in test/properties. */
import { create, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import {
  ConversationChange,
  createFold,
  type FoldState,
  openToolCalls,
  resultOf,
} from '../../src/conversation/index.js';
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
  Folding,
  failing,
  init,
  rollback,
  said,
  split,
  task,
  update,
} from './events.js';

const everything = [
  add('t', said('new', 'x')),
  append('t', said('a', '!')),
  update('t', said('b', 'other'), 'agentOutput'),
  update('t', said('upserted', 'y'), 'agentOutput'),
  task('s', 't'),
  add('s', said('n', 'z')),
  { updateTaskDescription: { taskId: 't', description: 'd' } },
  { updateTaskSummary: { taskId: 't', summary: 's' } },
  { updateTaskStatus: { taskId: 't', taskStatus: { failed: {} } } },
  { showSuggestions: { rules: [{ name: 'r' }] } },
];

describe('C1: after a rollback the transactional part is the very object it was at Begin', () => {
  test('whatever was done in it', () => {
    const folding = begun({}, 'a', 'b');
    const { tree } = folding.state.parts;
    const { tasks } = folding.now;
    folding.take(actions(begin), actions(...everything), actions(...everything));
    expect(folding.now.tasks).not.toBe(tasks);
    folding.take(actions(rollback));
    expect(folding.state.parts.tree).toBe(tree);
    expect(folding.now.tasks).toBe(tasks);
    expect(folding.now.suggestions).toBeUndefined();
  });

  test('of each level, and of the outermost at an end', () => {
    const folding = begun({ policies: { nested: 'savepoint' } }, 'a', 'b');
    const outer = folding.now.tasks;
    folding.take(actions(begin, add('t', said('c', 'c'))));
    const inner = folding.now.tasks;
    folding.take(actions(begin, ...everything));
    folding.take(actions(rollback));
    expect(folding.now.tasks).toBe(inner);
    folding.take(actions(begin, ...everything), actions(begin, task('u', 't')), eof);
    expect(folding.now.tasks).toBe(outer);
  });

  test('of a doomed one, and of one in a single event', () => {
    const folding = begun({}, 'a', 'b');
    const { tasks } = folding.now;
    folding.take(actions(begin, ...everything, failing, commit));
    expect(folding.now.tasks).toBe(tasks);
    folding.take(actions(begin, ...everything, rollback));
    expect(folding.now.tasks).toBe(tasks);
  });
});

test('C2: nothing after a commit undoes it', () => {
  for (const input of [actions(rollback), actions(begin, add('t', said('n', 'n')), rollback), eof, cancel, done]) {
    const folding = begun();
    folding.take(actions(begin, add('t', said('m', 'm')), commit));
    const { tasks } = folding.now;
    folding.take(input);
    expect(folding.now.tasks).toBe(tasks);
  }
});

describe('C3: a failing action changes nothing', () => {
  const failures = {
    unknown_task: [
      add('ghost', said('m', 'x')),
      append('ghost', said('a', 'x')),
      { updateTaskSummary: { taskId: 'ghost' } },
    ],
    unknown_message: [append('t', said('ghost', 'x')), split('ghost'), add('t', said('n', 'n'), said('', 'x'))],
    unknown_parent: [task('s', 'ghost')],
    duplicate_task: [task('t', 'ghost'), task('s', 't', { messages: [said('n', 'n'), said('a', 'other')] })],
    duplicate_root: [task('s')],
    missing_mask: [{ updateTaskMessage: { taskId: 't', message: said('a', 'x') } }],
    invalid_path: [
      update('t', said('a', 'x'), 'agentOutput.text,id'),
      update('t', said('a', 'x'), 'agentOutput.text.more'),
    ],
    unsupported_append: [append('t', said('a', 'x'), 'agentOutput.text,citations')],
    oneof_mismatch: [append('t', { id: 'a', userQuery: { query: 'x' } }, 'userQuery.query')],
  };
  for (const [code, all] of Object.entries(failures)) {
    test.each(all.map((action, index) => ({ action, index })))(`${code} $index`, ({ action }) => {
      const folding = begun({}, 'a', 'b');
      const { tasks } = folding.now;
      folding.take(actions(action));
      expect(folding.codes).toEqual([code]);
      expect(folding.now.tasks).toBe(tasks);
      expect(folding.now.diverged).toBe(true);
      // the same inside of a transaction, where it dooms instead
      const inside = begun({}, 'a', 'b');
      inside.take(actions(begin, action));
      expect(inside.now.transaction).toBe('doomed');
      expect(inside.now.diverged).toBe(false);
    });
  }
});

test('C4: for every event followed by any end no transaction is open and the phase is final', () => {
  const events = [
    init(),
    init('d', 'r'),
    actions(begin),
    actions(task('t')),
    actions(begin, failing),
    actions(commit),
    actions(rollback),
    event({}),
    done,
  ];
  const ends = [eof, { end: 'error', message: '' } as const, { end: 'bad_frame', message: '' } as const, cancel];
  for (const first of events) {
    for (const second of events) {
      for (const third of events) {
        for (const end of ends) {
          const folding = new Folding();
          folding.take(first, second, third, end);
          expect(folding.now.transaction).toBe('none');
          expect(['finished', 'failed', 'truncated', 'cancelled']).toContain(folding.now.phase);
          expect(folding.folded.filter(({ change }) => change?.end !== undefined).length).toBeGreaterThanOrEqual(1);
        }
      }
    }
  }
});

test('C4: a request ends once', () => {
  const folding = begun();
  folding.take(done, done, eof, cancel, actions(commit));
  expect(folding.folded.filter(({ change }) => change?.end !== undefined).length).toBe(1);
});

test('C6: any batching of actions into events, within one transaction, gives the same state', () => {
  const all = [begin, ...everything, append('t', said('a', '?')), commit];
  const results = [1, 2, 3, 5, all.length].map((size) => {
    const folding = begun({}, 'a', 'b');
    for (let at = 0; at < all.length; at += size) folding.take(actions(...all.slice(at, at + size)));
    return resultOf(folding.now);
  });
  for (const result of results) expect(result).toEqual(results[0]);
});

describe('C7: what effects hang on', () => {
  test('actions that changed something are steps, in order with those of the transactions', () => {
    const folding = new Folding({ traceActions: true });
    folding.take(init(), actions(task('t'), task('t'), failing, begin, add('t', said('m', 'a')), rollback));
    const { steps } = folding.take(actions(begin, add('t', said('m', 'b')), split('m')));
    const told = [...(folding.folded[1]?.steps ?? []), ...steps].map((step) => {
      if (step.of === 'action') return `${step.action.action.case} ${step.index}`;
      return step.of === 'transaction' ? `${step.level} ${step.type ?? 'opened'}` : step.type;
    });
    const first = ['createTask 0', '0 opened', 'addMessagesToTask 4', '0 rollback'];
    expect(told).toEqual([...first, '0 opened', 'addMessagesToTask 1', '0 split', 'startNewConversation 2']);
  });

  test('with the state right after them', () => {
    const folding = new Folding({ traceActions: true });
    folding.take(init());
    const { steps } = folding.take(actions(task('t'), add('t', said('m', 'a')), append('t', said('m', 'b'))));
    const texts = steps.map((step) =>
      step.of === 'action' ? step.state().tasks.get('t')?.messages.at(0)?.message.value : step,
    );
    expect(texts).toMatchObject([undefined, { text: 'a' }, { text: 'ab' }].map((text) => text ?? undefined));
  });

  test('and nothing of a strict failure', () => {
    const folding = new Folding({ mode: 'strict', traceActions: true });
    folding.take(init());
    const { steps } = folding.take(actions(task('t'), add('t', said('m', 'a'), said('m', 'b')), task('s', 't')));
    expect(steps.map((step) => (step.of === 'action' ? step.action.action.case : step.of))).toEqual([
      'createTask',
      'stream',
    ]);
  });
});

test('C8: usage and cost are counted once a request', () => {
  const finish = (exact: number) =>
    event({ finished: { done: {}, tokenUsage: [{ modelId: 'x', output: exact }], requestCost: { exact } } });
  const folding = begun();
  folding.take(finish(1), finish(2), init(), finish(4));
  expect(folding.now.finished).toMatchObject({ costExact: 1, tokenUsage: [{ output: 1 }] });
  folding.take(init('c', 'r2'), finish(8));
  expect(folding.now.finished).toMatchObject({ costExact: 8 });
  const ends = folding.folded.flatMap(({ change }) => change?.end ?? []);
  expect(ends.map(({ cost, requestId }) => [requestId, cost])).toEqual([
    ['r', 1],
    ['r2', 8],
  ]);
});

describe('C9: an append is independent of the history', () => {
  test('it shares all but one path with it', () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `m${index}`);
    const folding = begun({}, ...ids);
    folding.take(actions(task('s', 't'), add('s', said('n', 'n'))));
    const before = folding.now;
    folding.take(actions(append('t', said('m1234', '!'))));
    const [was, is] = [before.tasks.get('t'), folding.now.tasks.get('t')];
    expect(is?.messages.at(1234)).not.toBe(was?.messages.at(1234));
    for (let at = 0; at < 5000; at++) if (at !== 1234) expect(is?.messages.at(at)).toBe(was?.messages.at(at));
    expect(folding.now.tasks.get('s')).toBe(before.tasks.get('s'));
    // and only the path: the rest of the message too
    const citations = is?.messages.at(1234)?.citations;
    expect(citations).toBe(was?.messages.at(1234)?.citations);
  });
});

describe('C10', () => {
  test('open tool calls equal a recomputation at every step (more in derived.test.ts)', () => {
    const folding = begun();
    const call = (id: string) => ({ id: `call ${id}`, toolCall: { toolCallId: id } });
    const answer = (id: string) => ({ id: `answer ${id}`, toolCallResult: { toolCallId: id } });
    const all = [
      begin,
      add('t', call('1')),
      add('t', call('2'), answer('1')),
      rollback,
      add('t', call('3')),
      add('t', answer('3')),
    ];
    for (const action of all) {
      folding.take(actions(action));
      const messages = [...folding.now.tasks.values()].flatMap((each) => each.messages.toArray());
      const called = messages.flatMap(({ message }) => (message.case === 'toolCall' ? message.value.toolCallId : []));
      const answered = messages.flatMap(({ message }) =>
        message.case === 'toolCallResult' ? message.value.toolCallId : [],
      );
      expect(openToolCalls(folding.now)).toEqual(called.filter((id) => !answered.includes(id)));
    }
  });
});

describe('C12: the bound', () => {
  test('diagnostics beyond the bound are counted, by code', () => {
    const folding = new Folding({ maxDiagnostics: 3 });
    folding.take(init(), actions(failing, failing), actions(commit, commit, failing));
    expect(folding.codes).toEqual(['unknown_task', 'unknown_task', 'commit_without_begin']);
    expect(folding.now.diagnosticsBeyond).toEqual({ commit_without_begin: 1, unknown_task: 1 });
    const all = Array.from({ length: 3000 }, () => failing);
    const many = begun();
    many.take(actions(...all));
    expect(many.now.diagnostics.length).toBe(1000);
    expect(many.now.diagnosticsBeyond).toEqual({ unknown_task: 2000 });
  });

  test('what a diagnostic quotes is cut short', () => {
    const folding = begun();
    folding.take(actions(add('x'.repeat(100_000), said('m', 'x'))), { end: 'bad_frame', message: 'y'.repeat(100_000) });
    for (const { detail } of folding.now.diagnostics) expect(detail.length).toBeLessThan(500);
  });

  test('a split adds to a state what a task does, not what a history does', () => {
    const folding = begun({}, ...Array.from({ length: 2000 }, (_, index) => `m${index}`));
    for (let at = 1; at < 2000; at++) folding.take(actions(split(`m${at}`)));
    expect(folding.now.conversations.length).toBe(2000);
    expect(folding.now.tasks.get('t')?.messages.length).toBe(1);
    expect(folding.now.earlier.length).toBe(1999);
    expect(
      folding.now.earlier[42]?.tasks
        .get('t')
        ?.messages.toArray()
        .map(({ id }) => id),
    ).toEqual(['m42']);
  });
});

test('states are values: stepping on from an old one leaves the new one as it is', () => {
  const fold = createFold();
  const take = (state: FoldState, ...events: ResponseEvent[]) =>
    events.reduce((at, each) => fold.take(at, each).state, state);
  const base = take(fold.initial, init(), actions(task('t'), add('t', said('m', 'a'))));
  const one = take(base, actions(append('t', said('m', 'b'))));
  const other = take(base, actions(append('t', said('m', 'c'))));
  const text = (state: FoldState) => state.conversation.tasks.get('t')?.messages.at(0)?.message.value;
  expect([text(base), text(one), text(other)]).toMatchObject([{ text: 'a' }, { text: 'ab' }, { text: 'ac' }]);
});

test('one change for each event, however many actions it holds', () => {
  const folding = begun();
  const { change } = folding.take(actions(begin, ...everything.slice(4), commit));
  expect(change).toBeInstanceOf(ConversationChange);
  expect(change?.kind).toBe('committed');
});

test('an event is neither kept nor touched', () => {
  const received = actions(add('t', said('m', 'a', { citations: [{ documentId: 'd' }] })));
  const bytes = toBinary(ResponseEventSchema, received);
  const folding = begun();
  folding.take(received);
  expect(toBinary(ResponseEventSchema, received)).toEqual(bytes);
  expect(Object.isFrozen(received)).toBe(false);
  const action = received.type.case === 'clientActions' ? received.type.value.actions[0]?.action : undefined;
  if (action?.case === 'addMessagesToTask') action.value.messages[0] = create(ResponseEventSchema) as never;
  expect(folding.texts).toEqual({ m: 'a' });
});
