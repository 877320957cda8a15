/** What a host does to a response stream that it writes, at random: much of it is refused. */
import fc from 'fast-check';
import type { ResponseEvent } from '../../proto/index.js';
import { type ConversationWriter, isCommitpointError, type ResponseStream, type TextPath } from '../../src/index.js';

/** Something a host does: to the stream, or to the transaction that it is in. */
export type Act = (writer: ConversationWriter, stream: ResponseStream) => unknown;

const one = <Value>(...values: Value[]) => fc.constantFrom(...values);
// few, so that they meet
const taskId = one('t', 'u', 'v', '');
const messageId = one('m', 'n', 'o', 'p', '');
const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const content = one(
  { case: undefined },
  { case: 'agentOutput' as const, value: { text: 'a' } },
  { case: 'userQuery' as const, value: { query: 'q' } },
  {
    case: 'toolCall' as const,
    value: { toolCallId: 'c', tool: { case: 'runShellCommand' as const, value: { command: 'ls' } } },
  },
);
const message = fc.record({ id: messageId, taskId: one('', '', 't'), message: content });
const path: fc.Arbitrary<TextPath> = one(
  'agentOutput.text',
  'agentOutput.reasoning',
  'userQuery.query',
  'toolCall.runShellCommand.command',
  'serverMessageData',
);

const write: fc.Arbitrary<Act> = fc.oneof(
  fc
    .record({
      id: taskId,
      dependencies: one(undefined, { parentTaskId: 't' }, { parentTaskId: 'u' }),
      description: one('', 'd'),
    })
    .map(
      (task): Act =>
        (writer) =>
          writer.createTask({ ...task, dependencies: task.dependencies as never }),
    ),
  fc.tuple(taskId, fc.array(message, { maxLength: 2 })).map(
    ([id, messages]): Act =>
      (writer) =>
        writer.task(id).add(...messages),
  ),
  fc.tuple(taskId, messageId, path, text).map(
    ([id, m, p, delta]): Act =>
      (writer) =>
        writer.task(id).append(m, p, delta),
  ),
  fc
    .tuple(
      taskId,
      messageId,
      fc.array(fc.oneof(path, one('agentOutput' as const, 'citations' as const)), { maxLength: 2 }),
      message,
    )
    .map(
      ([id, m, paths, patch]): Act =>
        (writer) =>
          writer.task(id).update(m, paths, patch),
    ),
  fc.tuple(taskId, one('pending' as const, 'succeeded' as const)).map(
    ([id, status]): Act =>
      (writer) =>
        writer.task(id).setStatus(status),
  ),
  fc.tuple(taskId, text).map(
    ([id, summary]): Act =>
      (writer) =>
        writer.task(id).setSummary(summary),
  ),
  fc.tuple(taskId, text).map(
    ([id, description]): Act =>
      (writer) =>
        writer.task(id).setDescription(description),
  ),
  text.map(
    (name): Act =>
      (writer) =>
        writer.showSuggestions({ rules: [{ name }] }),
  ),
);

/** A write, a split, a finish, an empty transaction. */
export const outside: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: write },
  {
    weight: 1,
    arbitrary: messageId.map(
      (id): Act =>
        (_, stream) =>
          stream.startNewConversation(id),
    ),
  },
  {
    weight: 1,
    arbitrary: one('done' as const, 'other' as const).map(
      (reason): Act =>
        (_, stream) =>
          stream.finish({ reason }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Act>((_, stream) => stream.transaction(() => {})) },
);

/** A transaction with several of them in it. */
export const transaction: fc.Arbitrary<Act> = fc
  .tuple(fc.array(fc.tuple(outside, fc.boolean()), { maxLength: 8 }), fc.boolean(), fc.boolean())
  .map(
    ([acts, throws, waits]): Act =>
      (_, stream) =>
        stream.transaction(async (tx) => {
          for (const [act, goesOn] of acts) {
            if (waits) await Promise.resolve();
            if (goesOn) await attempt(act, tx, stream);
            else await act(tx, stream);
          }
          if (throws) throw new Mine();
        }),
  );

class Mine extends Error {}

/** An act may be refused, with an error of ours. */
export async function attempt(act: Act, writer: ConversationWriter, stream: ResponseStream): Promise<void> {
  try {
    await act(writer, stream);
  } catch (error) {
    if (
      !(
        error instanceof Mine ||
        (isCommitpointError(error) && ['response_stream', 'invalid_input'].includes(error.code))
      )
    )
      throw error;
  }
}

/** What is written, to its end. */
export async function all({ events }: ResponseStream): Promise<ResponseEvent[]> {
  const read: ResponseEvent[] = [];
  for await (const event of events) read.push(event);
  return read;
}

/** A letter an event: init, finished, begin, commit, rollback, write. */
export function shapeOf(events: readonly ResponseEvent[]): string {
  return events
    .flatMap(({ type }) => {
      if (type.case !== 'clientActions') return type.case?.[0] ?? '?';
      return type.value.actions.map(({ action }) => (action.case?.endsWith('Transaction') ? action.case[0] : 'w'));
    })
    .join('');
}
