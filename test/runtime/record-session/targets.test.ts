/** Where a recorded session is written to: a sink that is slow or fails, a conversation with a life of its own. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResponseEvent } from '../../../proto/index.js';
import { InvalidInputError, ResponseStreamError } from '../../../src/contract/errors.js';
import { openToolCalls } from '../../../src/conversation/index.js';
import {
  createConversation,
  defineTool,
  recordSession,
  type SessionRecording,
  startSession,
} from '../../../src/runtime/index.js';
import { expectLegal, scriptedProvider } from '../../../src/testing/index.js';
import { actions, add, begin, done, init, said, task } from '../../conversation/events.js';
import { type Held, held, isSettled, quiet, stage, toolCall, watchProcess } from '../stage.js';
import { recorded, wordsOf } from './recorded.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const text = (said: string) => ({ type: 'text', text: said }) as const;
const complete = { type: 'turn_complete' } as const;
const interrupted = { type: 'interrupted' } as const;

describe('a sink', () => {
  it('is given one event after another, and waited for', async () => {
    const { session, emit } = await stage();
    const answers: Held<void>[] = [];
    const { recording } = recorded(session, {
      sink: () => {
        const answer = held<void>();
        answers.push(answer);
        return answer.promise;
      },
    });
    await emit(text('a'), text('b'), complete);
    expect(answers).toHaveLength(1);
    const stopped = recording.stop();
    for (let given = 0; given < 6; given++) {
      expect(await isSettled(stopped)).toBe(false);
      answers[given]?.resolve();
      await quiet();
    }
    expect(await stopped).toMatchObject({ reason: 'stopped', events: 6 });
    expect(answers).toHaveLength(6);
  });

  it('that is too slow ends the recording with a whole stream, and the session goes on', async () => {
    const look = defineTool({
      name: 'look',
      description: 'look',
      input: {},
      effect: 'read',
      execute: () => held().promise,
    });
    const { session, emit } = await stage({ tools: [look] });
    const events: ResponseEvent[] = [];
    const first = held<void>();
    const recording = recordSession(session, {
      sink: (event) => {
        events.push(event);
        return events.length === 1 ? first.promise : undefined;
      },
      maxBufferedEvents: 4,
    });
    await emit(text('a'), toolCall('t1', 'look'), text('b'), text('c'), text('d'), complete);
    first.resolve();
    const end = await recording.finished;
    expect(end).toMatchObject({ reason: 'failed', events: 7, error: { problem: 'full' } });
    expect(end.error).toBeInstanceOf(ResponseStreamError);
    expectLegal(events, { complete: true });
    const { state } = recordedState(events);
    expect(wordsOf(state)).toEqual(['agent: a', 'call t1: look {}', 'agent: b', 'cancel t1']);
    expect(state.finished).toMatchObject({ reason: 'internalError', message: expect.stringContaining('4 events') });
    await emit(text('e'));
    await session.close();
    expect((await session.closed).reason).toBe('host');
  });

  it.each([
    [
      'throws',
      () => {
        throw new RangeError('full disk');
      },
    ],
    ['rejects', () => Promise.reject(new RangeError('full disk'))],
  ])('that %s is given nothing more, and the session goes on', async (_, fails) => {
    const { session, emit, lifecycle } = await stage();
    let given = 0;
    const { recording } = recorded(session, {
      sink: () => {
        given++;
        return given === 3 ? fails() : undefined;
      },
    });
    await emit(text('a'), text('b'), complete);
    expect(await recording.finished).toMatchObject({ reason: 'failed', error: { message: 'full disk' } });
    expect(given).toBe(3);
    expect(lifecycle).toEqual([]);
    await session.close();
  });

  it('that throws at once is recorded to no more', async () => {
    const { session, emit } = await stage();
    const { recording } = recorded(session, {
      sink: () => {
        throw new RangeError('no disk');
      },
    });
    expect(await recording.finished).toMatchObject({ reason: 'failed', error: { message: 'no disk' } });
    await emit(text('a'));
  });

  it('may stop the recording, and ask things of the session, from within', async () => {
    const { session, emit, far } = await stage();
    const events: ResponseEvent[] = [];
    const recording = recordSession(session, {
      sink: (event) => {
        events.push(event);
        if (events.length === 4) void recording.stop();
        void session.send({ type: 'text', text: 'x' });
      },
    });
    await emit(text('a'), text('b'));
    expect(await recording.finished).toMatchObject({ reason: 'stopped', events: events.length });
    expectLegal(events, { complete: true });
    far.emit({ type: 'closed' });
    await quiet();
  });
});

function recordedState(events: readonly ResponseEvent[]) {
  const conversation = createConversation({ mode: 'strict' });
  for (const event of events) conversation.apply(event);
  return conversation;
}

describe('a conversation', () => {
  it('is recorded into as a request of its own stream', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation({ mode: 'strict' });
    const kinds: string[] = [];
    conversation.changes$.subscribe(({ kind }) => kinds.push(kind));
    const { finished, requestId, conversationId, taskId } = recordSession(session, { conversation });
    expect(conversation.state).toMatchObject({ phase: 'streaming', requestId, conversationId, rootTaskId: taskId });
    expect(conversationId).toBe(conversation.id);
    await emit(text('Hi'), complete);
    await session.close();
    expect(await finished).toMatchObject({ reason: 'session_ended', events: 5 });
    expect(await conversation.ended).toMatchObject({ phase: 'finished' });
    expect(kinds).toEqual(['applied', 'applied', 'begun', 'committed', 'ended']);
    expect(wordsOf(conversation.state)).toEqual(['agent: Hi']);
  });

  it('goes on with one session after another, in its root task', async () => {
    const conversation = createConversation({ mode: 'strict' });
    for (const said of ['One', 'Two']) {
      const { session, emit } = await stage();
      const { finished } = recordSession(session, { conversation });
      await emit(text(said), complete);
      await session.close();
      await finished;
    }
    expect(conversation.state.tasks.size).toBe(1);
    expect(wordsOf(conversation.state)).toEqual(['agent: One', 'agent: Two']);
  });

  it('that has a request open is recorded into by a stream beside it', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation({ mode: 'strict' });
    conversation.apply(init('c', 'server'));
    conversation.apply(actions(task('t'), task('u', 't')));
    const { finished, taskId } = recordSession(session, { conversation, taskId: 'u' });
    expect(taskId).toBe('u');
    await emit(text('Hi'));
    await emit(complete);
    conversation.apply(actions(add('t', said('m', 'there'))));
    await session.close();
    await finished;
    conversation.apply(done);
    expect(conversation.state.requestId).toBe('server');
    expect(wordsOf(conversation.state)).toEqual(['agent: there', 'agent: Hi']);
  });

  it('that is cancelled, or closed, ends the recording, and the session goes on', async () => {
    for (const end of ['cancel', 'close'] as const) {
      const { session, emit } = await stage();
      const conversation = createConversation({ mode: 'strict' });
      const { finished } = recordSession(session, { conversation });
      await emit(text('Hi'));
      conversation[end]();
      await emit(text(' there'), complete);
      expect(await finished).toMatchObject({ reason: 'stopped', events: 3 });
      expect(conversation.state.phase).toBe('cancelled');
      expect(wordsOf(conversation.state)).toEqual(['agent: Hi']);
      await session.close();
    }
  });

  it('that refuses an event ends the recording with what it refused with', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation({ mode: 'strict' });
    conversation.apply(init('c', 'server'));
    conversation.apply(actions(task('t')));
    const { finished } = recordSession(session, { conversation });
    conversation.apply(actions(begin));
    await emit(text('Hi'));
    expect(await finished).toMatchObject({ reason: 'failed', error: { code: 'conversation' } });
    await session.close();
  });

  it('that goes on after a refusal ends the recording all the same, and neither transaction nor request stays open', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation();
    const first = recordSession(session, { conversation });
    // both would have their transactions open at once
    const second = recordSession(session, { conversation });
    await emit(text('Hi'), text(' there'), complete);
    expect(await second.finished).toMatchObject({
      reason: 'failed',
      error: { code: 'conversation', diagnostic: { code: 'transaction_busy' } },
    });
    await emit(text('And'), complete);
    await session.close();
    expect(await first.finished).toMatchObject({ reason: 'session_ended' });
    expect(conversation.state).toMatchObject({ phase: 'finished', transaction: 'none' });
    expect(wordsOf(conversation.state)).toEqual(['agent: Hi there', 'agent: And']);
  });

  it('whose own stream is refused ends that request as failed', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation();
    const { finished } = recordSession(session, { conversation });
    const other = conversation.stream();
    other.apply(init(conversation.id, 'other'));
    other.apply(actions(begin));
    await emit(text('Hi'), text(' there'), complete);
    expect(await finished).toMatchObject({ reason: 'failed', error: { code: 'conversation' } });
    expect(conversation.state.phase).toBe('failed');
    other.close();
    await session.close();
  });

  it('that refuses at once is a recording that has failed, and the start goes on', async () => {
    const conversation = createConversation();
    conversation.apply(init('c', 'server'));
    conversation.apply(actions(begin));
    let recording: SessionRecording | undefined;
    const session = await startSession({
      provider: scriptedProvider(),
      connect: { model: 'scripted' },
      prepare: (prepared) => {
        recording = recordSession(prepared, { conversation });
      },
    });
    expect(await recording?.finished).toMatchObject({
      reason: 'failed',
      error: { diagnostic: { code: 'transaction_busy' } },
    });
    await session.close();
  });

  it('may be recorded into from within a subscriber of its own', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation({ mode: 'strict' });
    conversation.apply(init('c', 'server'));
    conversation.apply(actions(task('t')));
    let finished: Promise<unknown> | undefined;
    const watching = conversation.changes$.subscribe(() => {
      watching.unsubscribe();
      ({ finished } = recordSession(session, { conversation, requestId: 'mine' }));
    });
    conversation.apply(done);
    await emit(text('Hi'), complete);
    await session.close();
    expect(await finished).toMatchObject({ reason: 'session_ended' });
    expect(conversation.state.requestId).toBe('mine');
    expect(wordsOf(conversation.state)).toEqual(['agent: Hi']);
  });

  it('shows an interruption in the turn of the event loop in which it comes', async () => {
    const look = defineTool({
      name: 'look',
      description: 'look',
      input: {},
      effect: 'read',
      execute: () => held().promise,
    });
    const { session, far } = await stage({ tools: [look] });
    const conversation = createConversation({ mode: 'strict' });
    recordSession(session, { conversation });
    const open: number[] = [];
    session.events$.subscribe(({ type }) => {
      if (type === 'tool_abandoned')
        void Promise.resolve().then(() => open.push(openToolCalls(conversation.state).length));
    });
    for (const event of [toolCall('t1', 'look'), interrupted]) far.emit(event);
    await quiet();
    expect(open).toEqual([0]);
    await session.close();
  });
});

describe('`prepare`', () => {
  it('is where a recording misses nothing', async () => {
    const far = scriptedProvider({ events: [text('at once'), complete, { type: 'closed' }] });
    const conversation = createConversation({ mode: 'strict' });
    await startSession({
      provider: far,
      connect: { model: 'scripted' },
      prepare: (session) => {
        recordSession(session, { conversation });
      },
    });
    await conversation.ended;
    expect(wordsOf(conversation.state)).toEqual(['agent: at once']);
  });

  it('and a connect that fails is the end of it', async () => {
    const far = scriptedProvider({ onCall: (_, answer) => answer.reject(new RangeError('no route')) });
    const conversation = createConversation({ mode: 'strict' });
    let recording: SessionRecording | undefined;
    const start = startSession({
      provider: far,
      connect: { model: 'scripted' },
      prepare: (session) => {
        recording = recordSession(session, { conversation });
      },
    });
    await expect(start).rejects.toThrow('no route');
    expect(await recording?.finished).toMatchObject({ reason: 'session_ended', closed: { reason: 'connect_failed' } });
    expect(conversation.state.finished?.reason).toBe('llmUnavailable');
  });
});

describe('options that are none', () => {
  it.each([
    ['neither', {}],
    ['both', { sink: () => {}, conversation: createConversation() }],
    ['a sink that is none', { sink: 3 as never }],
    ['a conversation that is none', { conversation: {} as never }],
    ['a mode that is none', { sink: () => {}, onInterrupted: 'drop' as never }],
    ['an empty id', { sink: () => {}, requestId: '' }],
    ['an id that is none', { sink: () => {}, taskId: 4 as never }],
    ['a bound that is none', { sink: () => {}, maxBufferedEvents: 0 }],
    ['a task that there is not', { conversation: createConversation(), taskId: 'nowhere' }],
    ['a model that is none', { sink: () => {}, model: 3 as never }],
  ])('%s', async (_, options) => {
    const { session } = await stage();
    expect(() => recordSession(session, options)).toThrow(InvalidInputError);
    await session.close();
  });

  it('no session', () => {
    expect(() => recordSession({} as never, { sink: () => {} })).toThrow(InvalidInputError);
    expect(() => recordSession(null as never, { sink: () => {} })).toThrow(InvalidInputError);
  });

  it('an id of a conversation that is another', async () => {
    const { session } = await stage();
    const conversation = createConversation();
    conversation.apply(init('c', 'r'));
    expect(() => recordSession(session, { conversation, conversationId: 'd' })).toThrow(InvalidInputError);
  });

  it('an id that another recording had', async () => {
    const { session, emit } = await stage();
    const conversation = createConversation();
    const { stop } = recordSession(session, { conversation, requestId: 'r' });
    await emit(text('a'), complete);
    await stop();
    expect(() => recordSession(session, { conversation, requestId: 'r' })).toThrow(InvalidInputError);
  });

  it('an id that another recording had, in which nothing was said', async () => {
    const { session } = await stage();
    const conversation = createConversation();
    await recordSession(session, { conversation, requestId: 'r' }).stop();
    expect(() => recordSession(session, { conversation, requestId: 'r' })).toThrow(InvalidInputError);
  });
});
