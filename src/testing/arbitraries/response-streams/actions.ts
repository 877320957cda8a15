/** Actions of every kind, most of them about tasks and messages that there may well be. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import {
  type ClientAction,
  ClientActionSchema,
  type MessageSchema,
  type TaskStatusSchema,
} from '../../../../proto/index.js';
import { messageOf } from '../message-of.js';
import { messages, newer } from './messages.js';
import { paths } from './paths.js';
import { messageId, taskId, text } from './words.js';

/** An action as it may be written. */
export type ActionInit = NonNullable<MessageInitShape<typeof ClientActionSchema>['action']>;

const status = fc.constantFrom<MessageInitShape<typeof TaskStatusSchema> | undefined>(
  undefined,
  { status: { case: undefined } } as const,
  { status: { case: 'pending', value: {} } } as const,
  { status: { case: 'inProgress', value: {} } } as const,
  { status: { case: 'succeeded', value: {} } } as const,
);

/** An action. @param plain only what JSON can say */
export function actions(plain: boolean): fc.Arbitrary<MessageInitShape<typeof ClientActionSchema>> {
  const message = messages(plain);
  const task = fc.record({
    id: taskId,
    description: fc.constantFrom('', '', 'one'),
    summary: fc.constantFrom('', '', 'two'),
    parent: fc.constantFrom(undefined, undefined, '', 't', 't', 's', 'u'),
    siblings: fc.array(taskId, { maxLength: 1 }),
    status,
    messages: fc.oneof(
      { weight: 3, arbitrary: fc.constant<MessageInitShape<typeof MessageSchema>[]>([]) },
      fc.array(message, { maxLength: 3 }),
    ),
  });
  const change = fc.tuple(
    taskId,
    fc.option(message, { nil: undefined, freq: 25 }),
    fc.option(paths(plain), { nil: undefined, freq: 15 }),
  );
  const changed = (name: 'updateTaskMessage' | 'appendToMessageContent') =>
    change.map(([id, patch, mask]) => ({
      case: name,
      value: { taskId: id, ...(patch && { message: patch }), ...(mask && { mask: { paths: mask } }) },
    }));
  const action: fc.Arbitrary<ActionInit> = fc.oneof(
    {
      weight: 4,
      arbitrary: task.map(
        ({ parent, siblings, status, ...rest }): ActionInit => ({
          case: 'createTask' as const,
          value: {
            task: {
              ...rest,
              ...(parent !== undefined && { dependencies: { parentTaskId: parent, siblingDependencies: siblings } }),
              ...(status && { status }),
            },
          },
        }),
      ),
    },
    { weight: 1, arbitrary: fc.constant({ case: 'createTask' as const, value: {} }) },
    {
      weight: 2,
      arbitrary: fc.tuple(taskId, status).map(([id, taskStatus]) => ({
        case: 'updateTaskStatus' as const,
        value: { taskId: id, ...(taskStatus && { taskStatus }) },
      })),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ taskId, description: text })
        .map((value) => ({ case: 'updateTaskDescription' as const, value })),
    },
    {
      weight: 2,
      arbitrary: fc.record({ taskId, summary: text }).map((value) => ({ case: 'updateTaskSummary' as const, value })),
    },
    {
      weight: 12,
      arbitrary: fc
        .record({ taskId, messages: fc.array(message, { maxLength: 3 }) })
        .map((value) => ({ case: 'addMessagesToTask' as const, value })),
    },
    { weight: 10, arbitrary: changed('updateTaskMessage') },
    { weight: 12, arbitrary: changed('appendToMessageContent') },
    {
      weight: 2,
      arbitrary: fc
        .record({ rules: fc.array(fc.record({ name: text, content: text }), { maxLength: 2 }) })
        .map((value) => ({ case: 'showSuggestions' as const, value })),
    },
    { weight: 7, arbitrary: fc.constant({ case: 'beginTransaction' as const, value: {} }) },
    { weight: 5, arbitrary: fc.constant({ case: 'commitTransaction' as const, value: {} }) },
    { weight: 4, arbitrary: fc.constant({ case: 'rollbackTransaction' as const, value: {} }) },
    {
      weight: 3,
      arbitrary: messageId.map((id) => ({ case: 'startNewConversation' as const, value: { startFromMessageId: id } })),
    },
    { weight: 1, arbitrary: fc.constant({ case: undefined }) },
  );
  const whole = action.map((chosen) => ({ action: chosen }));
  if (plain) return whole;
  return fc.oneof(
    { weight: 60, arbitrary: whole },
    { weight: 1, arbitrary: fc.constant(newer(ClientActionSchema, {}, 13)) },
    {
      weight: 1,
      arbitrary: messageOf(ClientActionSchema, { depth: 5, unknown: true }) as fc.Arbitrary<ClientAction>,
    },
  );
}

/** Actions, one after another, whatever they come to. @param plain only what JSON can say */
export function actionLists(plain = false): fc.Arbitrary<readonly ClientAction[]> {
  return fc.array(
    actions(plain).map((action) =>
      fromBinary(ClientActionSchema, toBinary(ClientActionSchema, create(ClientActionSchema, action))),
    ),
    { maxLength: 20, size: 'max' },
  );
}
