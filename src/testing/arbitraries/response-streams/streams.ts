/** Random response streams, legal and illegal: few ids, so that they meet; masks of every kind; ends of every kind. */
import fc from 'fast-check';
import type { ResponseEvent } from '../../../../proto/index.js';
import type { FoldInput } from '../../../conversation/index.js';
import { acted, actionEvent, finished, init, received, responseEvents } from './events.js';

const end: fc.Arbitrary<FoldInput> = fc.constantFrom<FoldInput>(
  { end: 'eof' },
  { end: 'error', message: 'reset' },
  { end: 'cancel' },
  { end: 'bad_frame', message: 'no base64' },
);

const initOf = (conversationId: string, requestId: string) =>
  received({ type: { case: 'init', value: { conversationId, requestId } } });

const root = [
  initOf('c', 'r'),
  acted({ case: 'createTask', value: { task: { id: 't', description: 'root' } } }),
] as const;
/** The beginning of a conversation with three tasks and a few messages. */
export const opening = [
  ...root,
  acted(
    { case: 'createTask', value: { task: { id: 's', dependencies: { parentTaskId: 't' } } } },
    { case: 'createTask', value: { task: { id: 'u', dependencies: { parentTaskId: 's' } } } },
    {
      case: 'addMessagesToTask',
      value: {
        taskId: 't',
        messages: [
          { id: 'm1', message: { case: 'agentOutput', value: { text: 'one' } } },
          { id: 'm2', message: { case: 'userQuery', value: { query: 'q' } }, citations: [{ documentId: 'x' }] },
        ],
      },
    },
    {
      case: 'addMessagesToTask',
      value: {
        taskId: 's',
        messages: [
          { id: 'm3', message: { case: 'toolCall', value: { toolCallId: 'k1', tool: { case: 'server', value: {} } } } },
          { id: 'm4' },
        ],
      },
    },
  ),
];

const finishedBy = (value: object) => received({ type: { case: 'finished', value } });

/** A conversation in which there is something, and what it may be told. */
export const furnished = {
  opening: opening as readonly ResponseEvent[],
  rollback: acted({ case: 'rollbackTransaction', value: {} }),
  done: finishedBy({ reason: { case: 'done', value: {} } }),
  failed: finishedBy({ reason: { case: 'internalError', value: { message: 'x' } } }),
  unnamed: finishedBy({}),
};

/** A task with more messages than one leaf of a list holds. */
const long = [
  ...opening,
  acted({
    case: 'addMessagesToTask',
    value: { taskId: 't', messages: Array.from({ length: 36 }, (_, at) => ({ id: `h${at}` })) },
  }),
];

/** What a stream may begin with: as a rule it is in order. */
const beginning: fc.Arbitrary<readonly ResponseEvent[]> = fc.oneof(
  { weight: 16, arbitrary: fc.constant(opening) },
  { weight: 1, arbitrary: fc.constant(long) },
  { weight: 6, arbitrary: fc.constant(root) },
  { weight: 2, arbitrary: fc.constant([]) },
);

/** What one request says: much, and hardly anything that is out of place. @param plain only what JSON can say */
export const saying = (plain = false) => {
  const action = { weight: 40, arbitrary: actionEvent(plain).map(received) };
  const stray = { weight: 1, arbitrary: fc.oneof(responseEvents(plain), fc.constant(received({}))) };
  return fc.array(fc.oneof(action, stray), { maxLength: 12, size: 'max' });
};

/** Inputs of one stream, ends and later requests among them. @param plain only what JSON can say */
export function foldInputs(plain = false): fc.Arbitrary<readonly FoldInput[]> {
  const over: fc.Arbitrary<FoldInput> = fc.oneof(finished.map(received), end);
  const next = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(initOf('c', 'r2'), initOf('c', 'r3'), initOf('c', 'r'), initOf('d', 'r4')),
    },
    { weight: 1, arbitrary: init.map(received) },
  );
  const stray = fc.array(fc.oneof(responseEvents(plain), end), { maxLength: 2 });
  const further = fc
    .tuple(over, stray, next, saying(plain))
    .map(([last, late, first, rest]) => [last, ...late, first, ...rest]);
  return fc
    .tuple(beginning, saying(plain), fc.array(further, { maxLength: 2 }), fc.option(over, { nil: undefined }))
    .map(([first, rest, later, last]) => [...first, ...rest, ...later.flat(), ...(last === undefined ? [] : [last])]);
}

/** Events of one stream, and no end but a finish; legal only now and then. @param plain only what JSON can say */
export function responseStreams(plain = false): fc.Arbitrary<readonly ResponseEvent[]> {
  return fc
    .tuple(
      beginning,
      saying(plain),
      fc.array(fc.oneof(responseEvents(plain), init.map(received), finished.map(received)), { maxLength: 3 }),
      saying(plain),
    )
    .map((parts) => parts.flat());
}
