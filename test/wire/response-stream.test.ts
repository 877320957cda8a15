import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { MessageSchema, type ResponseEvent } from '../../proto/index.js';
import { type ConversationState, createFold, resultOf } from '../../src/conversation/index.js';
import { createResponseStream, type ResponseStream, type TextPath } from '../../src/index.js';
import { decodeSse, encodeSse } from '../../src/wire/index.js';

const ids = { conversationId: 'c', requestId: 'r' };

/** A stream with one task and one message in it. */
function stream(options: { readonly maxBufferedEvents?: number } = {}): ResponseStream {
  const made = createResponseStream({ ...ids, ...options });
  made.createTask({ id: 't' });
  made.task('t').add({ id: 'm', message: { case: 'agentOutput', value: { text: 'Hello' } } });
  return made;
}

/** What can be read now, without waiting: the reader goes on where it left off. */
function reader({ events }: ResponseStream) {
  const iterator = events[Symbol.asyncIterator]();
  return {
    iterator,
    async take(count: number): Promise<string[]> {
      const words: string[] = [];
      for (let i = 0; i < count; i++) {
        const { value, done } = await iterator.next();
        words.push(done ? 'end' : wordOf(value));
      }
      return words;
    },
  };
}

/** The one action of an event, or what else it is. */
function wordOf({ type }: ResponseEvent): string {
  if (type.case !== 'clientActions')
    return type.case === 'finished' ? `finished ${type.value.reason.case}` : `${type.case}`;
  return type.value.actions.map(({ action }) => action.case?.replace('Transaction', '')).join(' ');
}

async function all({ events }: ResponseStream): Promise<ResponseEvent[]> {
  const read: ResponseEvent[] = [];
  for await (const event of events) read.push(event);
  return read;
}

/** What a client makes of a stream that went over the wire, after earlier ones. */
async function received(writer: ResponseStream, ...earlier: ResponseEvent[]): Promise<ConversationState> {
  const fold = createFold();
  let state = fold.initial;
  for (const event of earlier) state = fold.take(state, event).state;
  const frames = (await all(writer)).map(encodeSse);
  for await (const event of decodeSse(frames)) state = fold.take(state, event).state;
  return state.conversation;
}

const refused = (problem: string, diagnostic?: string) =>
  expect.objectContaining({ code: 'response_stream', problem, ...(diagnostic === undefined ? {} : { diagnostic }) });
const invalid = expect.objectContaining({ code: 'invalid_input' });

describe('a stream', () => {
  test('is what it was told, and folds to that without a diagnostic', async () => {
    const writer = createResponseStream(ids);
    const value = await writer.transaction(async (tx) => {
      tx.createTask({ id: 't', description: 'all of it' });
      tx.createTask({ id: 'u', dependencies: { parentTaskId: 't' } });
      tx.task('t').add({ id: 'm' }, { id: 'n', message: { case: 'userQuery', value: { query: 'why' } } });
      for (const delta of ['Hel', 'lo', '']) await tx.task('t').append('m', 'agentOutput.text', delta);
      tx.task('t').append('m', 'agentOutput.reasoning', 'hm');
      tx.task('t').update('n', ['userQuery.query', 'citations'], {
        message: { case: 'userQuery', value: { query: 'when' } },
      });
      tx.task('u').setStatus('inProgress');
      tx.task('u').setSummary('half');
      tx.task('u').setDescription('a part');
      tx.showSuggestions({ rules: [{ name: 'rule', content: 'be brief' }] });
      return 7;
    });
    expect(value).toBe(7);
    writer.task('t').append('m', 'serverMessageData', 'note');
    writer.finish({
      usage: [{ modelId: 'model', totalInput: 7, output: 2 }],
      cost: 0.5,
      contextWindow: 0.25,
      summarized: true,
      shouldRefreshModelConfig: true,
    });
    const state = await received(writer);
    expect(resultOf(state)).toMatchObject({
      phase: 'finished',
      conversationId: 'c',
      requestId: 'r',
      transaction: 'none',
      tasks: [
        {
          id: 't',
          description: 'all of it',
          messages: [
            { id: 'm', agentOutput: { text: 'Hello', reasoning: 'hm' }, serverMessageData: 'note' },
            { id: 'n', userQuery: { query: 'when' } },
          ],
        },
        { id: 'u', parentTaskId: 't', description: 'a part', summary: 'half', status: 'inProgress', messages: [] },
      ],
      suggestions: { rules: [{ name: 'rule', content: 'be brief' }] },
      finished: {
        reason: 'done',
        tokenUsage: [{ modelId: 'model', totalInput: 7, output: 2 }],
        costExact: 0.5,
        contextWindowUsage: 0.25,
      },
      diagnostics: [],
    });
    expect(resultOf(writer.state)).toEqual(resultOf(state));
  });

  test('begins with its init, and a transaction stands between its begin and its commit', async () => {
    const writer = stream();
    await writer.transaction((tx) => tx.task('t').append('m', 'agentOutput.text', '!'));
    await writer.transaction(() => {});
    writer.finish();
    expect(await reader(writer).take(9)).toEqual([
      'init',
      'createTask',
      'addMessagesToTask',
      'begin',
      'appendToMessageContent',
      'commit',
      'begin',
      'commit',
      'finished done',
    ]);
  });

  test.each(['done', 'other', 'maxTokenLimit', 'quotaLimit', 'contextWindowExceeded', 'llmUnavailable'] as const)(
    'finishes as %s',
    async (reason) => {
      const writer = stream();
      writer.finish({ reason });
      const { phase, finished } = await received(writer);
      expect([phase, finished?.reason]).toEqual([reason === 'done' ? 'finished' : 'failed', reason]);
    },
  );

  test('finishes as an internal error with its text', async () => {
    const writer = stream();
    expect(() => writer.finish({ reason: 'quotaLimit', message: 'no' })).toThrow(invalid);
    expect(() => writer.finish({ reason: 'bored' as 'other' })).toThrow(invalid);
    expect(() => writer.finish({ usage: [{ output: -1 }] })).toThrow(invalid);
    expect(() => writer.finish({ usage: 7 as never })).toThrow(invalid);
    expect(() => writer.finish(null as never)).toThrow(invalid);
    writer.finish({ reason: 'internalError', message: 'disk full' });
    expect((await received(writer)).finished).toMatchObject({ reason: 'internalError', message: 'disk full' });
  });

  test('takes nothing after its finish', async () => {
    const writer = stream();
    writer.finish();
    for (const act of [
      () => writer.finish(),
      () => writer.createTask({ id: 'u' }),
      () => writer.task('t').append('m', 'agentOutput.text', 'x'),
      () => writer.startNewConversation('m'),
    ]) {
      expect(act).toThrow(refused('finished'));
    }
    await expect(writer.transaction(() => {})).rejects.toEqual(refused('finished'));
    expect((await all(writer)).map(wordOf).at(-1)).toBe('finished done');
  });

  test('goes on where an earlier request on the conversation ended', async () => {
    const first = stream();
    first.finish();
    const { state } = first;
    expect(() => createResponseStream({ ...ids, conversation: state })).toThrow(invalid);
    expect(() => createResponseStream({ conversationId: 'other', requestId: 'r2', conversation: state })).toThrow(
      /the id of the conversation, c/,
    );
    const second = createResponseStream({ conversationId: 'c', requestId: 'r2', conversation: state });
    expect(() => second.createTask({ id: 'u' })).toThrow(refused('refused', 'duplicate_root'));
    await second.transaction((tx) => tx.task('t').append('m', 'agentOutput.text', ', again'));
    second.finish();
    const whole = await received(second, ...(await all(first)));
    expect(resultOf(whole)).toMatchObject({
      requestId: 'r2',
      tasks: [{ messages: [{ agentOutput: { text: 'Hello, again' } }] }],
      diagnostics: [],
    });
    expect(resultOf(second.state).tasks).toEqual(resultOf(whole).tasks);
    // what the first one wrote is as it was
    expect(resultOf(state)).toMatchObject({
      requestId: 'r',
      tasks: [{ messages: [{ agentOutput: { text: 'Hello' } }] }],
    });
  });

  test('does not go on where one has not ended', async () => {
    const first = stream();
    expect(() => createResponseStream({ conversationId: 'c', requestId: 'r2', conversation: first.state })).toThrow(
      invalid,
    );
    expect(() => createResponseStream({ ...ids, conversation: {} as ConversationState })).toThrow(invalid);
  });

  test('splits off a new conversation', async () => {
    const writer = stream();
    writer.task('t').add({ id: 'n' });
    await expect(writer.transaction(() => writer.startNewConversation('n'))).rejects.toEqual(
      refused('transaction_open'),
    );
    expect(() => writer.startNewConversation('nobody')).toThrow(refused('refused', 'unknown_message'));
    writer.startNewConversation('n');
    expect(() => writer.task('t').append('m', 'agentOutput.text', 'x')).toThrow(refused('refused', 'unknown_message'));
    writer.task('t').append('n', 'agentOutput.text', 'x');
    writer.finish();
    expect(resultOf(await received(writer))).toMatchObject({ conversations: ['c', 'c#2'], diagnostics: [] });
  });

  test.each([
    { conversationId: '' },
    { requestId: '' },
    { conversationId: 7 },
    { requestId: '\ud800' },
    { maxBufferedEvents: 1 },
    { maxBufferedEvents: 2.5 },
  ])('is made with what it needs: not %j', (wrong) => {
    expect(() => createResponseStream(undefined as never)).toThrow(invalid);
    expect(() => createResponseStream({ ...ids, ...wrong } as never)).toThrow(invalid);
  });
});

describe('a transaction', () => {
  test('that throws is rolled back, and its error comes back', async () => {
    const writer = stream();
    const mine = new RangeError('mine');
    const before = writer.state.tasks;
    await expect(
      writer.transaction(async (tx) => {
        tx.task('t').append('m', 'agentOutput.text', ' there');
        tx.task('t').add({ id: 'gone' });
        await Promise.resolve();
        throw mine;
      }),
    ).rejects.toBe(mine);
    await expect(
      writer.transaction(() => {
        throw mine;
      }),
    ).rejects.toBe(mine);
    expect(writer.state.tasks).toBe(before);
    // the id is free again
    writer.task('t').add({ id: 'gone' });
    writer.finish();
    const events = await all(writer);
    expect(events.map(wordOf)).toEqual([
      'init',
      'createTask',
      'addMessagesToTask',
      'begin',
      'appendToMessageContent',
      'addMessagesToTask',
      'rollback',
      'begin',
      'rollback',
      'addMessagesToTask',
      'finished done',
    ]);
  });

  test('does not nest, and keeps the stream for itself', async () => {
    const writer = stream();
    await writer.transaction(async (tx) => {
      await expect(writer.transaction(() => {})).rejects.toEqual(refused('transaction_open'));
      expect(() => writer.createTask({ id: 'u' })).toThrow(refused('transaction_open'));
      expect(() => writer.finish()).toThrow(refused('transaction_open'));
      tx.task('t').append('m', 'agentOutput.text', '!');
    });
    expect(writer.state.transaction).toBe('none');
    writer.createTask({ id: 'u', dependencies: { parentTaskId: 't' } });
  });

  test('is over when it has ended, whoever kept it', async () => {
    const writer = stream();
    let kept = writer as Parameters<Parameters<typeof writer.transaction>[0]>[0];
    await writer.transaction((tx) => {
      kept = tx;
    });
    const act = () => kept.task('t').append('m', 'agentOutput.text', 'late');
    expect(act).toThrow(refused('transaction_over'));
    await writer.transaction(() => expect(act).toThrow(refused('transaction_over')));
    writer.finish();
    expect(act).toThrow(refused('transaction_over'));
  });

  test('goes on after a refusal that was caught, which leaves no trace', async () => {
    const writer = stream();
    await writer.transaction((tx) => {
      expect(() => tx.task('nowhere').add({ id: 'x' })).toThrow(refused('refused', 'unknown_task'));
      tx.task('t').append('m', 'agentOutput.text', '!');
    });
    writer.finish();
    const { diagnostics, transaction, diverged } = await received(writer);
    expect({ diagnostics, transaction, diverged }).toEqual({ diagnostics: [], transaction: 'none', diverged: false });
  });

  test('is rolled back by a finish that is a failure, and says so to its function and its caller', async () => {
    const writer = stream();
    const done = writer.transaction(async (tx) => {
      tx.task('t').append('m', 'agentOutput.text', '!');
      expect(() => writer.finish({ reason: 'internalError', usage: [{ output: 0.5 }] })).toThrow(invalid);
      expect(writer.state.transaction).toBe('open');
      writer.finish({ reason: 'internalError', message: 'too long' });
      expect(() => tx.task('t').append('m', 'agentOutput.text', '!')).toThrow(refused('transaction_over'));
    });
    await expect(done).rejects.toEqual(refused('transaction_over'));
    expect((await all(writer)).map(wordOf).slice(3)).toEqual([
      'begin',
      'appendToMessageContent',
      'rollback',
      'finished internalError',
    ]);
  });

  test('is a function', async () => {
    await expect(stream().transaction(undefined as never)).rejects.toEqual(invalid);
  });
});

describe('a write that a client would tell of is refused', () => {
  const text = (value: string) => ({ message: { case: 'agentOutput', value: { text: value } } }) as const;

  test.each<[string, string, (writer: ResponseStream) => unknown]>([
    ['unknown_task', 'add to a task that there is not', (w) => w.task('x').add({ id: 'n' })],
    ['unknown_task', 'set the summary of one', (w) => w.task('x').setSummary('s')],
    ['unknown_task', 'append in one', (w) => w.task('x').append('m', 'agentOutput.text', 's')],
    [
      'unknown_message',
      'append to a message that there is not',
      (w) => w.task('t').append('x', 'agentOutput.text', 's'),
    ],
    ['unknown_message', 'add one without an id', (w) => w.task('t').add({})],
    [
      'unknown_parent',
      'a child of a task that there is not',
      (w) => w.createTask({ id: 'u', dependencies: { parentTaskId: 'x' } }),
    ],
    ['duplicate_root', 'a second root', (w) => w.createTask({ id: 'u' })],
    ['duplicate_task', 'a task with an id that is taken', (w) => w.createTask({ id: 't', description: 'other' })],
    ['duplicate_message', 'a message with an id that is taken', (w) => w.task('t').add({ id: 'm', ...text('other') })],
    ['task_id_mismatch', 'a message that names another task', (w) => w.task('t').add({ id: 'n', taskId: 'x' })],
    ['empty_action', 'a task without an id', (w) => w.createTask({})],
    [
      'oneof_mismatch',
      'append to what the message does not say',
      (w) => w.task('t').append('m', 'userQuery.query', 's'),
    ],
    ['oneof_mismatch', 'update within what it does not say', (w) => w.task('t').update('m', ['userQuery.query'], {})],
  ])('%s: %s', async (diagnostic, _, write) => {
    const writer = stream();
    const before = writer.state;
    expect(() => write(writer)).toThrow(refused('refused', diagnostic));
    expect(writer.state).toBe(before);
    writer.finish();
    expect((await all(writer)).map(wordOf)).toEqual(['init', 'createTask', 'addMessagesToTask', 'finished done']);
  });

  test.each<[string, (writer: ResponseStream) => unknown]>([
    ['half of a character', (w) => w.task('t').append('m', 'agentOutput.text', '\ud83d')],
    ['half of a character in a message', (w) => w.task('t').add({ id: 'n', ...text('\udc00') })],
    ['a number for a text', (w) => w.task('t').append('m', 'agentOutput.text', 7 as never)],
    ['a path that there is not', (w) => w.task('t').append('m', 'agentOutput.nope' as TextPath, 's')],
    ['a path of no text', (w) => w.task('t').append('m', 'agentOutput' as TextPath, 's')],
    ['the path of an id', (w) => w.task('t').update('m', ['id' as 'citations'], {})],
    ['paths that are no list', (w) => w.task('t').update('m', 'citations' as never, {})],
    ['a status that there is not', (w) => w.task('t').setStatus('lost' as 'pending')],
    ['nothing for a message', (w) => w.task('t').add(null as never)],
    ['a text for a task', (w) => w.createTask('t' as never)],
    ['a case that there is not', (w) => w.task('t').add({ id: 'n', message: { case: 'song', value: {} } as never })],
    [
      'what throws when it is read',
      (w) =>
        w.task('t').add({
          get id(): string {
            throw new Error('no');
          },
        }),
    ],
  ])('and so is %s', (_, write) => {
    const writer = stream();
    const before = writer.state;
    expect(() => write(writer)).toThrow(invalid);
    expect(writer.state).toBe(before);
  });

  test('a message in itself', () => {
    const message = create(MessageSchema, { id: 'n' });
    const tool = {
      $typeName: 'warp.multi_agent.v1.Message.ToolCall.SuggestPlan',
      proposedTasks: [{ messages: [message] }],
    };
    message.message = { case: 'toolCall', value: { tool: { case: 'suggestPlan', value: tool } } as never };
    expect(() => stream().task('t').add(message)).toThrow(invalid);
  });
});

describe('what is given out', () => {
  test('cannot be changed by its reader, nor by who handed it in', async () => {
    const writer = createResponseStream(ids);
    const task = { id: 't', messages: [{ id: 'm', message: { case: 'agentOutput' as const, value: { text: 'a' } } }] };
    writer.createTask(task);
    (task.messages[0] as { id: string }).id = 'changed';
    const read = writer.events[Symbol.asyncIterator]();
    const [, event] = await Promise.all([read.next(), read.next()]);
    expect(event.value?.type.value).toMatchObject({
      actions: [{ action: { value: { task: { messages: [{ id: 'm' }] } } } }],
    });
    expect(Object.isFrozen(event.value)).toBe(true);
    expect(() => Object.assign(event.value?.type.value ?? {}, { actions: [] })).toThrow(TypeError);
  });
});

describe('the reader', () => {
  test('is one', () => {
    const { events } = stream();
    events[Symbol.asyncIterator]();
    expect(() => events[Symbol.asyncIterator]()).toThrow(refused('second_reader'));
  });

  test('may ask ahead', async () => {
    const writer = createResponseStream(ids);
    const ahead = reader(writer).take(4);
    writer.createTask({ id: 't' });
    writer.finish();
    expect(await ahead).toEqual(['init', 'createTask', 'finished done', 'end']);
  });

  test('gives room by reading: who waits for it goes no faster', async () => {
    const writer = stream({ maxBufferedEvents: 8 });
    const read = reader(writer);
    let written = 0;
    const work = writer.transaction(async (tx) => {
      for (; written < 100; written++) await tx.task('t').append('m', 'agentOutput.text', '.');
    });
    const waits = async () => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
      return written;
    };
    // init, createTask, add and begin are unread, and one append
    expect(await waits()).toBe(0);
    await read.take(1);
    expect(await waits()).toBe(1);
    await read.take(10);
    expect(await waits()).toBeLessThan(17);
    let words: string[] = [];
    while (words.at(-1) !== 'commit') words = await read.take(1);
    await work;
    expect(written).toBe(100);
  });

  test('that reads nothing bounds who does not wait', async () => {
    const writer = stream({ maxBufferedEvents: 8 });
    let written = 3;
    await expect(
      writer.transaction((tx) => {
        written++;
        for (;;) {
          tx.task('t').append('m', 'agentOutput.text', '.');
          written++;
        }
      }),
    ).rejects.toEqual(refused('full'));
    expect(written).toBe(8);
    expect(() => writer.createTask({ id: 'u' })).toThrow(refused('full'));
    // what closes has its room
    writer.finish();
    expect((await all(writer)).map(wordOf).slice(-2)).toEqual(['rollback', 'finished done']);
  });

  test('holds a transaction up before it begins', async () => {
    const writer = stream({ maxBufferedEvents: 4 });
    let hasRun = false;
    const work = writer.transaction(() => {
      hasRun = true;
    });
    await expect(writer.transaction(() => {})).rejects.toEqual(refused('transaction_open'));
    expect(hasRun).toBe(false);
    const words = reader(writer).take(5);
    await work;
    expect(hasRun).toBe(true);
    expect(await words).toEqual(['init', 'createTask', 'addMessagesToTask', 'begin', 'commit']);
  });

  test('can be waited for until a failure ends the wait', async () => {
    const writer = stream({ maxBufferedEvents: 4 });
    const work = writer.transaction(() => {});
    writer.finish({ reason: 'other' });
    const words = reader(writer).take(5);
    await expect(work).rejects.toEqual(refused('transaction_over'));
    expect(await words).toEqual(['init', 'createTask', 'addMessagesToTask', 'finished other', 'end']);
  });

  test('that leaves is told to who writes, and lets go who waits', async () => {
    const writer = stream({ maxBufferedEvents: 8 });
    const { iterator } = reader(writer);
    await iterator.next();
    let written = 0;
    const work = writer.transaction(async (tx) => {
      for (;;) {
        const room = tx.task('t').append('m', 'agentOutput.text', '.');
        written++;
        await room;
      }
    });
    for (let i = 0; i < 50; i++) await Promise.resolve();
    // createTask, add, begin and two appends are unread: it waits
    expect(written).toBe(2);
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    await expect(work).rejects.toEqual(refused('reader_left'));
    expect(() => writer.createTask({ id: 'u' })).toThrow(refused('reader_left'));
    await expect(writer.transaction(() => {})).rejects.toEqual(refused('reader_left'));
    expect(() => writer.events[Symbol.asyncIterator]()).toThrow(refused('second_reader'));
    // not even the rollback, which nobody reads
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(writer.state.transaction).toBe('none');
    // of no use, and no harm
    writer.finish();
    writer.finish();
  });

  test('that leaves ends what it asked ahead', async () => {
    const { iterator, take } = reader(createResponseStream(ids));
    await take(1);
    const ahead = iterator.next();
    await iterator.return?.();
    expect(await ahead).toEqual({ done: true, value: undefined });
  });
});
