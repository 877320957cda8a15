import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { ResponseEvent } from '../../proto/index.js';
import { createFold, resultOf } from '../../src/conversation/index.js';
import {
  type ConversationWriter,
  createResponseStream,
  isCommitpointError,
  type ResponseStream,
  type TextPath,
} from '../../src/index.js';
import { Broken, property } from '../properties/property.js';
import { formatNames, formats, hexOf, readAll } from './streams.js';

/** Something a host does: to the stream, or to the transaction that it is in. */
type Act = (writer: ConversationWriter, stream: ResponseStream) => unknown;

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

const outside: fc.Arbitrary<Act> = fc.oneof(
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

const transaction: fc.Arbitrary<Act> = fc
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
async function attempt(act: Act, writer: ConversationWriter, stream: ResponseStream): Promise<void> {
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

describe('whatever a host does', () => {
  property(
    'a client folds what is written without a diagnostic, and to what the writer holds',
    fc.tuple(
      fc.array(fc.oneof(outside, { weight: 2, arbitrary: transaction }), { maxLength: 12 }),
      fc.integer({ min: 4, max: 40 }),
      fc.boolean(),
    ),
    async ([acts, maxBufferedEvents, overlaps]) => {
      const stream = createResponseStream({ conversationId: 'c', requestId: 'r', maxBufferedEvents });
      const read = all(stream);
      // one after another, or several at once
      const running = acts.map((act) => () => attempt(act, stream, stream));
      if (overlaps) await Promise.all(running.map((run) => run()));
      else for (const run of running) await run();
      if (stream.state.phase === 'streaming') stream.finish();
      const events = await read;

      const fold = createFold();
      let state = fold.initial;
      for (const event of events) state = fold.take(state, event).state;
      const found = resultOf(state.conversation);
      const words = events.map(hexOf).join('\n');
      if (found.diagnostics.length > 0)
        throw new Broken(
          found.diagnostics.map(({ code, detail }) => `${code}: ${detail}`),
          words,
        );
      if (JSON.stringify(found) !== JSON.stringify(resultOf(stream.state)))
        throw new Broken(['the writer holds something else'], words);
      expect(shapeOf(events)).toMatch(/^i((bw*[cr])|w)*f$/);
      for (const format of formatNames) {
        const { encode, decode } = formats[format];
        expect(await readAll(decode(events.map(encode)))).toEqual({ events: events.map(hexOf), error: undefined });
      }
    },
  );
});

async function all({ events }: ResponseStream): Promise<ResponseEvent[]> {
  const read: ResponseEvent[] = [];
  for await (const event of events) read.push(event);
  return read;
}

/** A letter an event: init, finished, begin, commit, rollback, write. */
function shapeOf(events: readonly ResponseEvent[]): string {
  return events
    .flatMap(({ type }) => {
      if (type.case !== 'clientActions') return type.case?.[0] ?? '?';
      return type.value.actions.map(({ action }) => (action.case?.endsWith('Transaction') ? action.case[0] : 'w'));
    })
    .join('');
}
