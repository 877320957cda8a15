import { create } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClientActionSchema, type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import { IllegalOrderError, isCommitpointError } from '../../src/contract/index.js';
import { createFold, failingCodes, informingCodes } from '../../src/conversation/index.js';
import { createResponseStream } from '../../src/index.js';
import { legalResponseStreams, responseEvents, responseStreams } from '../../src/testing/arbitraries/index.js';
import { expectLegal, type LegalOptions } from '../../src/testing/expect-legal.js';
import {
  actions,
  add,
  append,
  begin,
  commit,
  done,
  event,
  failed,
  failing,
  init,
  rollback,
  said,
  split,
  task,
  update,
} from '../conversation/events.js';
import { Broken, property } from '../properties/property.js';
import { all, attempt, outside, shapeOf, transaction } from '../wire/writer-acts.js';

function problemsOf(events: readonly unknown[], options?: LegalOptions): readonly string[] {
  try {
    expectLegal(events as ResponseEvent[], options);
  } catch (error) {
    if (error instanceof IllegalOrderError) return error.problems;
    throw error;
  }
  return [];
}

const root = actions(task('t'), add('t', said('m', 'one')));
/** Something that is legal after an init and a task with a message. */
const within = (...events: ResponseEvent[]) => [init(), root, ...events, done];

describe('is silent about', () => {
  test.each<[string, ResponseEvent[]]>([
    ['nothing', []],
    ['an init alone', [init()]],
    ['a request without actions', [init(), done]],
    ['a request that fails', within().with(-1, failed)],
    ['transactions, one after another', within(actions(begin, append('t', said('m', 'a')), commit, begin, rollback))],
    ['a transaction over several events', within(actions(begin), actions(add('t', said('n', ''))), actions(rollback))],
    [
      'a message that was rolled back, and comes again',
      within(actions(begin, add('t', said('n', 'x')), rollback, add('t', said('n', 'y')))),
    ],
    ['a recording that stops in a transaction', [init(), root, actions(begin)]],
    ['several requests', [...within(), init('c', 'r2'), actions(append('t', said('m', '!'))), done]],
    ['a split, and an init that names what was split off', within(actions(split('m')), init('d', 'r'))],
    ['an event without actions', within(actions())],
  ])('%s', (_what, events) => {
    expect(problemsOf(events)).toEqual([]);
  });
});

/** Each code with events that lead to it, and to nothing else. */
const told: Record<string, [ResponseEvent[], string]> = {
  actions_before_init: [[root], 'event 0: expected an init first'],
  unexpected_init: [within(init('c', 'r2')), 'event 2: expected one init a request, of the same conversation'],
  after_finished: [[...within(), root], 'event 3: expected nothing after the finish but the init of another request'],
  unknown_event: [within(create(ResponseEventSchema)), 'event 2: expected an event of the schema'],
  unknown_action: [within(newerAction()), 'event 2, action 0: expected an action of the schema'],
  empty_action: [within(actions({})), 'event 2, action 0: expected an action that says what it is about'],
  nested_begin: [
    within(actions(begin, begin, commit, commit)),
    'event 2, action 1: expected no Begin while a transaction is open',
  ],
  commit_without_begin: [within(actions(commit)), 'event 2, action 0: expected a Begin before a Commit'],
  rollback_without_begin: [within(actions(rollback)), 'event 2, action 0: expected a Begin before a Rollback'],
  unclosed_transaction: [within(actions(begin)), 'event 3: expected a Commit or a Rollback before the finish'],
  split_in_transaction: [
    within(actions(begin, split('m'))),
    'event 2, action 1: expected no new conversation while a transaction is open',
  ],
  unknown_task: [within(actions(failing)), 'event 2, action 0: expected a task that there is'],
  unknown_message: [
    within(actions(append('t', said('no', 'x')))),
    'event 2, action 0: expected a message that there is, and ids that are not empty',
  ],
  unknown_parent: [within(actions(task('u', 'no'))), 'event 2, action 0: expected a parent that there is'],
  duplicate_task: [
    within(actions(task('t', undefined, { description: 'other' }))),
    'event 2, action 0: expected a task and messages whose ids are new',
  ],
  duplicate_root: [within(actions(task('u'))), 'event 2, action 0: expected a parent, since there is a root'],
  duplicate_message: [
    within(actions(add('t', said('m', 'two')))),
    'event 2, action 0: expected messages whose ids are new to the conversation',
  ],
  task_id_mismatch: [
    within(actions(add('t', said('n', 'x', { taskId: 'u' })))),
    'event 2, action 0: expected messages that name the task of their action, or none',
  ],
  missing_mask: [
    within(actions({ updateTaskMessage: { taskId: 't', message: said('m', 'x') } })),
    'event 2, action 0: expected a mask',
  ],
  unknown_path: [
    within(actions(update('t', said('m', 'x'), 'nope'))),
    'event 2, action 0: expected paths of the schema',
  ],
  duplicate_path: [
    within(actions(append('t', said('m', 'x'), 'agentOutput.text,agentOutput.text'))),
    'event 2, action 0: expected each path once',
  ],
  invalid_path: [
    within(actions(update('t', said('m', 'x'), 'id'))),
    'event 2, action 0: expected paths that can be changed',
  ],
  unsupported_append: [
    within(actions(append('t', said('m', 'x'), 'citations'))),
    'event 2, action 0: expected paths of texts',
  ],
  oneof_mismatch: [
    within(actions(append('t', { id: 'm', userQuery: { query: 'x' } }, 'userQuery.query'))),
    'event 2, action 0: expected the member of a oneof that the message has',
  ],
};

/** What no list of events leads to, or only in the company of another one. */
const untold = [
  'transaction_busy',
  'bad_frame',
  'doomed_commit',
  'effect_failed',
  'host_callback_threw',
  'foreign_event',
];

describe('tells', () => {
  test('every code that events can lead to', () => {
    expect([...Object.keys(told), ...untold].sort()).toEqual([...failingCodes, ...informingCodes].sort());
  });

  test.each(Object.entries(told))('%s', (code, [events, problem]) => {
    expect(problemsOf(events)).toEqual([expect.stringContaining(`${problem}, found ${code}: `)]);
  });

  test.each<[string, ResponseEvent[], string[]]>([
    [
      'an init that comes again',
      within(init()),
      ['event 2: expected one init a request, of the same conversation, found that of "r" again'],
    ],
    [
      'a failure that finds a transaction open',
      within(actions(begin)).with(-1, failed),
      ['event 3: expected a Commit or a Rollback before the finish'],
    ],
    ['an empty request id', [init('c', '')], ['event 0: init: expected a requestId that is not empty']],
    ['an empty conversation id', [init('', 'r')], ['event 0: init: expected a conversationId that is not empty']],
    [
      'a mistake in a transaction once, and the next one',
      within(actions(begin, failing, add('t', said('n', 'x')), commit), actions(append('t', said('n', 'y')), commit)),
      [
        expect.stringMatching(/^event 2, action 1: .* unknown_task: /),
        expect.stringMatching(/^event 3, action 1: .* commit_without_begin: /),
      ],
    ],
  ])('%s', (_what, events, problems) => {
    expect(problemsOf(events)).toEqual(problems);
  });

  test.each<[string, unknown[], string[]]>([
    [
      'what is no event',
      [init(), null, 5, {}, { type: 'text' }, { end: 'eof' }, done],
      [
        'event 1: expected a ResponseEvent, found null',
        'event 2: expected a ResponseEvent, found a value of type number',
        ...[3, 4, 5].map((at) => `event ${at}: expected a ResponseEvent, found a value of type object`),
      ],
    ],
    [
      'an event that is not of the schema',
      [init(), { type: { case: 'init', value: { conversationId: 7 } } }, done],
      [expect.stringMatching(/^event 1: invalid .*expected/)],
    ],
    [
      'what throws when it is read',
      [
        init(),
        {
          get type() {
            throw new RangeError('gone');
          },
        },
      ],
      ['event 1: expected an event, found what throws when it is read: gone'],
    ],
  ])('%s', (_what, events, problems) => {
    expect(problemsOf(events)).toEqual(problems);
  });

  test('what is missing, where all was to be there', () => {
    expect(problemsOf(within(), { complete: true })).toEqual([]);
    expect(problemsOf(within().slice(0, -1), { complete: true })).toEqual([
      'end: expected a finish, found a request that is streaming',
    ]);
    expect(problemsOf([init(), actions(begin)], { complete: true })).toEqual([
      'end: expected a finish, found a request that is streaming, with a transaction open',
    ]);
    expect(problemsOf([], { complete: true })).toEqual(['end: expected closed, found none']);
  });

  test('all of it in one error of the family', () => {
    try {
      expectLegal([root, init(), actions(commit)]);
      expect.unreachable();
    } catch (error) {
      expect(isCommitpointError(error)).toBe(true);
      expect(error).toMatchObject({ code: 'illegal_order', problems: { length: 2 } });
    }
  });
});

describe('whatever is written', () => {
  property(
    'by a response stream, it is legal',
    fc.tuple(fc.array(fc.oneof(outside, { weight: 2, arbitrary: transaction }), { maxLength: 12 }), fc.boolean()),
    async ([acts, overlaps]) => {
      const stream = createResponseStream({ conversationId: 'c', requestId: 'r' });
      const read = all(stream);
      if (overlaps) await Promise.all(acts.map((act) => attempt(act, stream, stream)));
      else for (const act of acts) await attempt(act, stream, stream);
      if (stream.state.phase === 'streaming') stream.finish();
      expectLegal(await read, { complete: true });
    },
  );

  property('by the arbitrary of legal streams, it is legal', legalResponseStreams(), (events) => {
    expectLegal(events, { complete: true });
  });

  property('a beginning of it is legal', fc.tuple(legalResponseStreams(), fc.nat()), ([events, at]) => {
    expectLegal(events.slice(0, at % (events.length + 1)));
  });
});

/** A change of one event of a list. */
type Edit = (events: readonly ResponseEvent[], at: number, other: ResponseEvent) => readonly ResponseEvent[];

const edits: Record<string, Edit> = {
  'is lost': (events, at) => events.toSpliced(at, 1),
  'comes twice': (events, at) => events.toSpliced(at, 0, events[at] as ResponseEvent),
  'comes one later': (events, at) => events.toSpliced(at, 2, ...events.slice(at, at + 2).reverse()),
  'is another one': (events, at, other) => events.with(at, other),
  'has another one before it': (events, at, other) => events.toSpliced(at, 0, other),
  'comes last': (events, at) => [...events.toSpliced(at, 1), events[at] as ResponseEvent],
};

/** What a fold bears with in silence, and no server sends. */
const silentlyBorne = /again$|before the finish$|is not empty$/;
/** One request after another; the last may stop anywhere. A split may bring an init of its own, so that its stream has another shape. */
const shape = /^(i((bw*[cr])|w)*(f|$|bw*$))*$/;

/** What a fold tells of first is told first, nothing else is told of but what a fold is silent about, and what is taken has the shape of a stream. */
function check(events: readonly ResponseEvent[]): void {
  const problems = problemsOf(events);
  const [first] = diagnosticsOf(events);
  const [told] = problems.filter((problem) => !silentlyBorne.test(problem));
  const letters = shapeOf(events);
  if (first === undefined ? told !== undefined : !told?.includes(`found ${first}: `)) {
    throw new Broken([`expected ${first ?? 'nothing'} to be told first, found ${told}`], letters);
  }
  const hasSplit = events.some(
    ({ type }) =>
      type.case === 'clientActions' && type.value.actions.some(({ action }) => action.case === 'startNewConversation'),
  );
  if (problems.length === 0 && !hasSplit && !shape.test(letters)) throw new Broken(['taken for legal'], letters);
}

describe('what a fold tells of is refused, what is taken has the shape of a stream', () => {
  for (const [what, edit] of Object.entries(edits)) {
    property(
      `where one event of a legal stream ${what}`,
      fc.tuple(legalResponseStreams(), fc.nat(), responseEvents()),
      ([events, nth, other]) => check(edit(events, nth % events.length, other)),
      1 / 3,
    );
  }

  property('of any stream', responseStreams(), check);
});

/** The codes that a client tells of, in order. */
function diagnosticsOf(events: readonly ResponseEvent[]): readonly string[] {
  const fold = createFold();
  let { initial: state } = fold;
  for (const one of events) state = fold.take(state, one).state;
  return state.conversation.diagnostics.map(({ code }) => code);
}

/** An action of a newer schema. */
function newerAction(): ResponseEvent {
  const action = create(ClientActionSchema);
  action.$unknown = [{ no: 99, wireType: 0, data: Uint8Array.of(1) }];
  const value = event({ clientActions: { actions: [] } });
  if (value.type.case === 'clientActions') value.type.value.actions.push(action);
  return value;
}
