/** Messages of tasks: made by hand, made of whatever the schema says, and such as a newer server may send. */
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { type Message, MessageSchema } from '../../../../proto/index.js';
import { messageOf } from '../message-of.js';
import { callId, messageId, ownTaskId, text } from './words.js';

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
export function newer<Desc extends DescMessage>(
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

/** A message. @param plain only what JSON can say */
export function messages(plain: boolean): fc.Arbitrary<MessageInitShape<typeof MessageSchema>> {
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
