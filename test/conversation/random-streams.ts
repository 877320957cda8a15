/** Random response streams, legal and illegal: few ids, so that they meet; masks of every kind; ends of every kind. */
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import {
  type ClientAction,
  ClientActionSchema,
  type Message,
  MessageSchema,
  type ResponseEvent,
  ResponseEventSchema,
  type TaskStatusSchema,
} from '../../proto/index.js';
import {
  type ConversationMode,
  type ConversationPolicies,
  conversationModes,
  type FoldInput,
  policyValues,
} from '../../src/conversation/index.js';
import { messageOf } from '../proto/random-messages.js';

type ActionInit = NonNullable<MessageInitShape<typeof ClientActionSchema>['action']>;

const text = fc.oneof(fc.constantFrom('a', 'b', '', 'ä😀'), fc.string({ unit: 'binary', maxLength: 3 }));
const taskId = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('t', 't', 't', 's', 's', 'u', 'u', 'v') },
  fc.constant(''),
);
const messageId = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom('m1', 'm1', 'm2', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'h3', 'h35') },
  fc.constant(''),
);
/** What a message says of its task: nothing, mostly. */
const ownTaskId = fc.oneof({ weight: 6, arbitrary: fc.constant('') }, fc.constantFrom('t', 's'));
const callId = fc.constantFrom('k1', 'k2', 'k3');

const citation = fc.record({ documentId: text, documentType: fc.constantFrom(0, 1, 2) });
const citations = fc.array(citation, { maxLength: 2 });
const todo = fc.record({ id: fc.constantFrom('d1', 'd2', 'd3'), title: text });
const todos = fc.array(todo, { maxLength: 3 });

type Content = NonNullable<MessageInitShape<typeof MessageSchema>['message']>;

const content: fc.Arbitrary<Content> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ text, reasoning: text }).map((value) => ({ case: 'agentOutput' as const, value })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        callId,
        fc.oneof(
          text.map((payload) => ({ case: 'server' as const, value: { payload } })),
          fc.record({ command: text, citations }).map((value) => ({ case: 'runShellCommand' as const, value })),
        ),
      )
      .map(([toolCallId, tool]) => ({ case: 'toolCall' as const, value: { toolCallId, tool } })),
  },
  {
    weight: 2,
    arbitrary: callId.map((toolCallId) => ({ case: 'toolCallResult' as const, value: { toolCallId } })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ query: text, hasContext: fc.boolean(), pwd: text }).map(({ query, hasContext, pwd }) => ({
      case: 'userQuery' as const,
      value: hasContext ? { query, context: { directory: { pwd } } } : { query },
    })),
  },
  {
    weight: 2,
    arbitrary: fc
      .oneof(
        todos.map((initialTodos) => ({ case: 'createTodoList' as const, value: { initialTodos } })),
        todos.map((updatedPendingTodos) => ({ case: 'updatePendingTodos' as const, value: { updatedPendingTodos } })),
        fc
          .array(fc.constantFrom('d1', 'd2', 'd4'), { maxLength: 2 })
          .map((todoIds) => ({ case: 'markTodosCompleted' as const, value: { todoIds } })),
      )
      .map((operation) => ({ case: 'updateTodos' as const, value: { operation } })),
  },
  { weight: 2, arbitrary: fc.constant({ case: undefined }) },
);

const anyMessage = messageOf(MessageSchema, { depth: 4, unknown: true }) as fc.Arbitrary<Message>;

/** With unknown fields, as a newer server may send them. */
function newer<Desc extends DescMessage>(
  desc: Desc,
  message: MessageInitShape<Desc>,
  number: number,
): MessageInitShape<Desc> {
  const extra = new BinaryWriter().tag(number, WireType.LengthDelimited).string('newer').finish();
  const bytes = new BinaryWriter()
    .raw(toBinary(desc, create(desc, message)))
    .raw(extra)
    .finish();
  return fromBinary(desc, bytes) as MessageInitShape<Desc>;
}

/** @param plain only what JSON can say */
function messages(plain: boolean): fc.Arbitrary<MessageInitShape<typeof MessageSchema>> {
  const handmade = fc.record({
    id: messageId,
    taskId: ownTaskId,
    message: content,
    citations,
    serverMessageData: text,
  });
  if (plain) return handmade;
  const whole = fc.tuple(anyMessage, messageId, ownTaskId).map(([message, id, own]) => {
    message.id = id;
    message.taskId = own;
    return message;
  });
  return fc.oneof(
    { weight: 8, arbitrary: handmade },
    { weight: 1, arbitrary: handmade.map((message) => newer(MessageSchema, message, 1000)) },
    { weight: 1, arbitrary: whole },
  );
}

/** Every path that the descriptor has, down to four names; what is JSON in memory has none. */
export function pathsOf(desc: DescMessage, depth = 4): string[] {
  if (desc.typeName === StructSchema.typeName || depth === 0) return [];
  return desc.fields.flatMap((field) => {
    const inner = field.fieldKind === 'map' || field.message === undefined ? [] : pathsOf(field.message, depth - 1);
    return [field.name, ...inner.map((path) => `${field.name}.${path}`)];
  });
}

const goodPath = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      'agent_output.text',
      'agent_output.text',
      'agent_output.reasoning',
      'server_message_data',
      'tool_call.server.payload',
      'user_query.query',
      'user_query.context.directory.pwd',
      'tool_call.run_shell_command.command',
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'agent_output',
      'tool_call',
      'tool_call.server',
      'citations',
      'citations.document_id',
      'citations.document_type',
      'user_query',
      'user_query.context',
      'user_query.context.directory',
      'user_query.referenced_attachments',
      'update_todos',
      'tool_call.tool_call_id',
      'update_todos.create_todo_list.initial_todos.title',
      'tool_call.run_shell_command.citations.document_id',
      'update_todos.mark_todos_completed.todo_ids',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...pathsOf(MessageSchema)) },
);
const badPath = fc.oneof(
  fc.constantFrom(
    'id',
    'task_id',
    'id.x',
    'agent_output.text.x',
    'user_query.referenced_attachments.x',
    'citations.document_type.x',
    'update_todos.mark_todos_completed.todo_ids.x',
  ),
  fc.constantFrom(
    'nope',
    'agent_output.nope',
    'agentOutput.text',
    'agent_output.',
    '',
    'message',
    '.',
    'citations.nope',
    'citations.0',
    'agent_output.text ',
    '__proto__',
    'constructor',
    'toString',
  ),
);
/** Those that JSON can say and lead somewhere. */
const paths = (plain: boolean) =>
  fc.oneof(
    { weight: 30, arbitrary: fc.array(goodPath, { minLength: 1, maxLength: 1 }) },
    { weight: 8, arbitrary: fc.array(goodPath, { maxLength: 3 }) },
    { weight: plain ? 0 : 6, arbitrary: fc.array(fc.oneof(goodPath, badPath), { minLength: 1, maxLength: 3 }) },
    { weight: 2, arbitrary: goodPath.map((path) => [path, path]) },
  );

const status = fc.constantFrom<MessageInitShape<typeof TaskStatusSchema> | undefined>(
  undefined,
  { status: { case: undefined } } as const,
  { status: { case: 'pending', value: {} } } as const,
  { status: { case: 'inProgress', value: {} } } as const,
  { status: { case: 'succeeded', value: {} } } as const,
);

function actions(plain: boolean): fc.Arbitrary<MessageInitShape<typeof ClientActionSchema>> {
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

const conversationId = fc.oneof(
  { weight: 12, arbitrary: fc.constant('c') },
  fc.constantFrom('c#2', 'c#3', 'd', 'e', ''),
);
const requestId = fc.oneof({ weight: 4, arbitrary: fc.constant('r') }, fc.constantFrom('r2', 'r3', ''));
const usage = fc.array(fc.record({ modelId: text, totalInput: fc.nat(100), output: fc.nat(100) }), { maxLength: 2 });
const reason = fc.constantFrom(
  undefined,
  'done',
  'done',
  'done',
  'other',
  'maxTokenLimit',
  'quotaLimit',
  'contextWindowExceeded',
  'llmUnavailable',
  'internalError',
);

type EventInit = MessageInitShape<typeof ResponseEventSchema>;

const init = fc.record({ conversationId, requestId }).map((value): EventInit => ({ type: { case: 'init', value } }));
const finished = fc.tuple(reason, usage, fc.constantFrom(undefined, 0.25, 2.5)).map(
  ([name, tokenUsage, exact]): EventInit => ({
    type: {
      case: 'finished',
      value: {
        tokenUsage,
        ...(exact && { requestCost: { exact } }),
        ...(name && { reason: { case: name, value: name === 'internalError' ? { message: 'x' } : {} } as never }),
      },
    },
  }),
);

/** Made of bytes, so that every event is one that can come. */
function received(given: EventInit): ResponseEvent {
  return fromBinary(ResponseEventSchema, toBinary(ResponseEventSchema, create(ResponseEventSchema, given)));
}

const actionEvent = (plain: boolean) =>
  fc
    .array(actions(plain), { maxLength: 4 })
    .map((list): EventInit => ({ type: { case: 'clientActions', value: { actions: list } } }));

/** An event. @param plain only what JSON can say */
export function events(plain = false): fc.Arbitrary<ResponseEvent> {
  return fc
    .oneof(
      { weight: 26, arbitrary: actionEvent(plain) },
      { weight: 2, arbitrary: init },
      { weight: 2, arbitrary: finished },
      { weight: 1, arbitrary: fc.constant<EventInit>({}) },
      ...(plain
        ? []
        : [
            {
              weight: 1,
              arbitrary: finished.map((event) => {
                const value = event.type?.case === 'finished' ? event.type.value : {};
                return { type: { case: 'finished', value: newerFinish(value) } } as EventInit;
              }),
            },
            { weight: 1, arbitrary: fc.constant(newer(ResponseEventSchema, {}, 9)) },
          ]),
    )
    .map(received);
}

function newerFinish(value: object) {
  const extra = new BinaryWriter().tag(99, WireType.LengthDelimited).bytes(new Uint8Array()).finish();
  const event = toBinary(ResponseEventSchema, create(ResponseEventSchema, { type: { case: 'finished', value } }));
  const { type } = fromBinary(ResponseEventSchema, event);
  if (type.case !== 'finished') return value;
  type.value.$unknown = [{ no: 99, wireType: WireType.LengthDelimited, data: extra.subarray(2) }];
  return type.value;
}

const end: fc.Arbitrary<FoldInput> = fc.constantFrom<FoldInput>(
  { end: 'eof' },
  { end: 'error', message: 'reset' },
  { end: 'cancel' },
  { end: 'bad_frame', message: 'no base64' },
);

const initOf = (conversationId: string, requestId: string) =>
  received({ type: { case: 'init', value: { conversationId, requestId } } });

/** An event of these actions. */
export function acted(...actions: ActionInit[]): ResponseEvent {
  return received({ type: { case: 'clientActions', value: { actions: actions.map((action) => ({ action })) } } });
}

const root = [
  initOf('c', 'r'),
  acted({ case: 'createTask', value: { task: { id: 't', description: 'root' } } }),
] as const;
const opening = [
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

/** What one request says: much, and hardly anything that is out of place. */
export const saying = (plain = false) => {
  const action = { weight: 40, arbitrary: actionEvent(plain).map(received) };
  const stray = { weight: 1, arbitrary: fc.oneof(events(plain), fc.constant(received({}))) };
  return fc.array(fc.oneof(action, stray), { maxLength: 12, size: 'max' });
};

/** Inputs of one stream, ends and later requests among them. */
export function streams(plain = false): fc.Arbitrary<readonly FoldInput[]> {
  const over: fc.Arbitrary<FoldInput> = fc.oneof(finished.map(received), end);
  const next = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(initOf('c', 'r2'), initOf('c', 'r3'), initOf('c', 'r'), initOf('d', 'r4')),
    },
    { weight: 1, arbitrary: init.map(received) },
  );
  const stray = fc.array(fc.oneof(events(plain), end), { maxLength: 2 });
  const further = fc
    .tuple(over, stray, next, saying(plain))
    .map(([last, late, first, rest]) => [last, ...late, first, ...rest]);
  return fc
    .tuple(beginning, saying(plain), fc.array(further, { maxLength: 2 }), fc.option(over, { nil: undefined }))
    .map(([first, rest, later, last]) => [...first, ...rest, ...later.flat(), ...(last === undefined ? [] : [last])]);
}

/** Events without ends of other kinds. */
export function eventStreams(plain = false): fc.Arbitrary<readonly ResponseEvent[]> {
  return fc
    .tuple(
      beginning,
      saying(plain),
      fc.array(fc.oneof(events(plain), init.map(received), finished.map(received)), { maxLength: 3 }),
      saying(plain),
    )
    .map((parts) => parts.flat());
}

/** What an end of a transaction-free action list may be put into. */
export function actionLists(plain = false): fc.Arbitrary<readonly ClientAction[]> {
  return fc.array(
    actions(plain).map((action) =>
      fromBinary(ClientActionSchema, toBinary(ClientActionSchema, create(ClientActionSchema, action))),
    ),
    { maxLength: 20, size: 'max' },
  );
}

/** A way to fold. */
export interface Way {
  readonly mode: ConversationMode;
  readonly policies: Partial<ConversationPolicies>;
}

/** Every mode; every single policy, alone and with others. */
export const ways: fc.Arbitrary<Way> = fc.record({
  mode: fc.constantFrom('tolerant', 'tolerant', ...conversationModes),
  policies: fc.record(
    {
      nested: fc.constantFrom(...policyValues.nested),
      onDoomedCommit: fc.constantFrom(...policyValues.onDoomedCommit),
      onFailure: fc.constantFrom(...policyValues.onFailure),
      onCancel: fc.constantFrom(...policyValues.onCancel),
    },
    { requiredKeys: [] },
  ),
});
