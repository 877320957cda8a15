/** What a host sees of a conversation (conversation.md §6): state, changes, ends, modes, and one step at a time. */
import { map } from 'rxjs';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import {
  ConversationClosedError,
  ConversationError,
  InvalidInputError,
  isCommitpointError,
} from '../../../src/contract/errors.js';
import { resultOf } from '../../../src/conversation/index.js';
import {
  type ConversationChange,
  createConversation,
  linearMessages,
  openToolCalls,
  type RequestEnd,
  todoLists,
} from '../../../src/index.js';
import {
  actions,
  add,
  append,
  begin,
  commit,
  done,
  eof,
  error,
  event,
  failed,
  failing,
  init,
  rollback,
  said,
  split,
  task,
} from '../../conversation/events.js';
import { isSettled, quiet, watchProcess } from '../stage.js';
import { changesOf, codesOf, textsOf } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** A conversation whose request has begun, with a root task `t`. */
function started(options: Parameters<typeof createConversation>[0] = {}) {
  const conversation = createConversation(options);
  conversation.apply(init());
  conversation.apply(actions(task('t')));
  return conversation;
}

describe('apply', () => {
  it('is synchronous: the state is the next one when it returns', () => {
    const conversation = createConversation();
    expect(conversation.state).toMatchObject({ phase: 'awaiting_init', conversationId: '', transaction: 'none' });
    conversation.apply(init('c', 'r'));
    expect(conversation.state).toMatchObject({ phase: 'streaming', conversationId: 'c', requestId: 'r' });
    conversation.apply(actions(task('t'), add('t', said('m', 'Hel'))));
    conversation.apply(actions(begin, append('t', said('m', 'lo'))));
    expect(conversation.state.transaction).toBe('open');
    expect(textsOf(conversation)).toEqual(['Hello']);
    conversation.apply(done);
    expect(conversation.state).toMatchObject({ phase: 'finished', transaction: 'none' });
    expect(codesOf(conversation)).toEqual(['unclosed_transaction']);
  });

  it('gives snapshots: those before stay as they were, what did not change is the very same', () => {
    const conversation = started();
    const before = conversation.state;
    expect(conversation.state).toBe(before);
    conversation.apply(actions(add('t', said('m', 'a'))));
    expect(before.tasks.get('t')?.messages.length).toBe(0);
    expect(conversation.state.tasks.get('t')?.messages.at(0)?.id).toBe('m');
    const { tasks } = conversation.state;
    conversation.apply(actions());
    expect(conversation.state.tasks).toBe(tasks);
  });

  it('a rollback gives back the very same tasks (C1)', () => {
    const conversation = started();
    const { tasks } = conversation.state;
    conversation.apply(actions(begin, add('t', said('m', 'wrong')), rollback));
    expect(conversation.state.tasks).toBe(tasks);
  });

  it('takes the end of a source that the host reads in a loop of its own', async () => {
    const ended = started();
    ended.apply(actions(begin, add('t', said('m', 'a'))));
    ended.apply(eof);
    expect(await ended.ended).toMatchObject({ phase: 'truncated', message: '' });
    expect(textsOf(ended)).toEqual([]);
    const cut = started();
    cut.apply(error);
    expect(await cut.ended).toMatchObject({ phase: 'truncated', message: 'connection reset' });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'init'],
    ['an object', {}],
    ['JSON', { init: { conversationId: 'c' } }],
    ['another end', { end: 'over' }],
    ['a proxy that was revoked', revoked()],
    [
      'a getter that throws',
      {
        get $typeName() {
          throw new TypeError('no');
        },
      },
    ],
  ])('%s is refused with a typed error, and nothing has changed', (_, event) => {
    const conversation = started();
    const changes = changesOf(conversation);
    const before = conversation.state;
    expect(() => conversation.apply(event as never)).toThrow(InvalidInputError);
    expect(conversation.state).toBe(before);
    expect(changes).toEqual([]);
    conversation.apply(actions(add('t', said('m', 'goes on'))));
    expect(textsOf(conversation)).toEqual(['goes on']);
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('changes$', () => {
  it('tells once of each event, however many actions it holds, and of each end that no event says', () => {
    const conversation = createConversation();
    const changes = changesOf(conversation);
    conversation.apply(init());
    conversation.apply(actions(task('t'), add('t', said('a', '1'), said('b', '2')), add('t', said('c', '3'))));
    conversation.apply(actions(begin));
    conversation.apply(actions(append('t', said('a', '!')), add('t', said('d', '4'))));
    conversation.apply(actions(rollback));
    conversation.apply(actions(begin, add('t', said('e', '5')), commit));
    conversation.apply(actions());
    conversation.cancel();
    conversation.cancel();
    expect(changes.map(({ event, kind }) => [event, kind])).toEqual([
      [0, 'applied'],
      [1, 'applied'],
      [2, 'begun'],
      [3, 'applied'],
      [4, 'rolled_back'],
      [5, 'committed'],
      [6, 'applied'],
      [7, 'ended'],
    ]);
    expect(changes[1]?.tasks).toEqual([{ id: 't', change: 'added' }]);
    expect(changes[1]?.messages.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    // a rollback tells of what it removed and restored
    expect(changes[4]?.messages).toEqual([
      { id: 'a', taskId: 't', change: 'restored' },
      { id: 'd', taskId: 't', change: 'removed' },
    ]);
    expect(changes.at(-1)?.end).toMatchObject({ phase: 'cancelled' });
  });

  it('tells of diagnostics in the event that they are about', () => {
    const conversation = started();
    const changes = changesOf(conversation);
    conversation.apply(actions(failing, commit));
    expect(changes).toHaveLength(1);
    expect(changes[0]?.diagnostics.map(({ code, event, action }) => [code, event, action])).toEqual([
      ['unknown_task', 2, 0],
      ['commit_without_begin', 2, 1],
    ]);
  });

  it('is hot, for any number of subscribers; the state is the next one already', () => {
    const conversation = started();
    const seen: string[] = [];
    conversation.changes$.subscribe(() => seen.push(`one ${textsOf(conversation).join('')}`));
    const second = conversation.changes$.pipe(map(({ kind }) => kind)).subscribe((kind) => seen.push(`two ${kind}`));
    conversation.apply(actions(add('t', said('m', 'a'))));
    second.unsubscribe();
    conversation.apply(actions(add('t', said('n', 'b'))));
    expect(seen).toEqual(['one a', 'two applied', 'one ab']);
    expectTypeOf(conversation.changes$.subscribe).toBeFunction();
  });

  it('a subscriber that throws, or rejects, harms nobody and is a diagnostic', async () => {
    const conversation = started();
    conversation.changes$.subscribe(() => {
      throw new TypeError('bad subscriber');
    });
    conversation.changes$.subscribe((async () => {
      throw new TypeError('bad promise');
    }) as () => void);
    conversation.changes$
      .pipe(
        map(() => {
          throw new TypeError('bad operator');
        }),
      )
      .subscribe();
    const changes = changesOf(conversation);
    conversation.apply(actions(add('t', said('m', 'a'))));
    conversation.apply(done);
    await quiet();
    expect(changes.map(({ kind }) => kind)).toEqual(['applied', 'ended']);
    const details = conversation.state.diagnostics.map(({ code, detail }) => `${code} ${detail}`);
    expect(new Set(details)).toEqual(
      new Set([
        'host_callback_threw bad subscriber',
        'host_callback_threw bad promise',
        'host_callback_threw bad operator',
      ]),
    );
  });

  it('completes when the conversation is closed, and for those who come later at once', () => {
    const conversation = started();
    const seen: string[] = [];
    const subscribe = () =>
      conversation.changes$.subscribe({ next: ({ kind }) => seen.push(kind), complete: () => seen.push('complete') });
    subscribe();
    conversation.apply(done);
    expect(seen).toEqual(['ended']);
    conversation.close();
    subscribe();
    expect(seen).toEqual(['ended', 'complete', 'complete']);
  });
});

describe('one step at a time', () => {
  it('what a subscriber applies is taken when the step is complete, in order', () => {
    const conversation = started();
    const seen: string[] = [];
    let isFirst = true;
    conversation.changes$.subscribe(() => {
      seen.push(`one ${textsOf(conversation).join('')}`);
      if (!isFirst) return;
      isFirst = false;
      conversation.apply(actions(add('t', said('b', 'b'))));
      conversation.apply(actions(add('t', said('c', 'c'))));
      // not yet
      expect(textsOf(conversation)).toEqual(['a']);
    });
    conversation.changes$.subscribe(() => seen.push(`two ${textsOf(conversation).join('')}`));
    conversation.apply(actions(add('t', said('a', 'a'))));
    expect(seen).toEqual(['one a', 'two a', 'one ab', 'two ab', 'one abc', 'two abc']);
    expect(codesOf(conversation)).toEqual([]);
  });

  it('what a subscriber cancels or closes, too', async () => {
    const cancelling = started();
    const seen: string[] = [];
    cancelling.changes$.subscribe(({ kind }) => {
      seen.push(`${kind} ${cancelling.state.phase}`);
      cancelling.cancel();
      seen.push(cancelling.state.phase);
    });
    cancelling.apply(actions());
    expect(seen).toEqual(['applied streaming', 'streaming', 'ended cancelled', 'cancelled']);

    const closing = started();
    const changes = changesOf(closing);
    closing.changes$.subscribe(() => closing.close());
    closing.changes$.subscribe(() => closing.apply(actions()));
    closing.apply(actions(begin, add('t', said('m', 'kept'))));
    expect(changes.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
    expect(await closing.ended).toMatchObject({ phase: 'cancelled', interrupted: ['m'] });
    expect(textsOf(closing)).toEqual(['kept']);
  });

  it('an event that is none, applied by a subscriber, is told of: nobody can be thrown at', () => {
    const conversation = started();
    let isFirst = true;
    conversation.changes$.subscribe(() => {
      if (isFirst) conversation.apply('nonsense' as never);
      isFirst = false;
    });
    conversation.apply(actions());
    expect(conversation.state.diagnostics).toMatchObject([
      { code: 'host_callback_threw', detail: expect.stringContaining('ResponseEvent') },
    ]);
  });

  it('a getter of an event that applies another does not get between', () => {
    const conversation = started();
    const inner = actions(add('t', said('b', 'inner')));
    const outer = actions(add('t', said('a', 'outer')));
    const { type } = outer;
    Object.defineProperty(outer, 'type', {
      get: () => {
        conversation.apply(inner);
        return type;
      },
    });
    conversation.apply(outer);
    expect(textsOf(conversation)).toEqual(['outer', 'inner']);
  });
});

describe('ended', () => {
  it('is one promise a request: of the current or the last one', async () => {
    const conversation = createConversation();
    const { ended } = conversation;
    expect(conversation.ended).toBe(ended);
    conversation.apply(init());
    // whoever waited before the init waits for the first request
    expect(conversation.ended).toBe(ended);
    expect(await isSettled(ended)).toBe(false);
    conversation.apply(failed);
    expect(await ended).toMatchObject({ phase: 'failed', reason: 'internalError', message: 'broken' });
    expect(conversation.ended).toBe(ended);

    conversation.apply(init('c', 'r2'));
    const second = conversation.ended;
    expect(second).not.toBe(ended);
    conversation.apply(done);
    expect(await second).toMatchObject({ phase: 'finished', reason: 'done', requestId: 'r2' });
    expect(await ended).toMatchObject({ requestId: 'r' });
  });

  it('a resumption makes a new one', async () => {
    const conversation = started();
    conversation.cancel();
    const first = conversation.ended;
    conversation.apply(init());
    expect(conversation.state.phase).toBe('streaming');
    expect(conversation.ended).not.toBe(first);
    conversation.apply(done);
    expect(await first).toMatchObject({ phase: 'cancelled' });
    expect(await conversation.ended).toMatchObject({ phase: 'finished' });
  });

  it('says what the request came to', async () => {
    const conversation = started();
    conversation.apply(actions(add('t', { id: 'call', toolCall: { toolCallId: 'c1', grep: {} } }), failing));
    const finish = {
      finished: {
        done: {},
        tokenUsage: [{ modelId: 'm', totalInput: 3 }],
        requestCost: { exact: 1.5 },
        contextWindowInfo: { contextWindowUsage: 0.25 },
      },
    };
    conversation.apply(event(finish));
    const end: RequestEnd = await conversation.ended;
    expect(end).toMatchObject({
      phase: 'finished',
      reason: 'done',
      usage: [{ modelId: 'm', totalInput: 3 }],
      cost: 1.5,
      contextWindow: 0.25,
      openToolCalls: ['c1'],
      diagnostics: [{ code: 'unknown_task' }],
    });
    // a second finish counts nothing twice (C8)
    conversation.apply(event(finish));
    expect(await conversation.ended).toBe(end);
    expect(codesOf(conversation)).toEqual(['unknown_task', 'after_finished']);
  });

  it('asked for after the end gives it as well', async () => {
    const conversation = started();
    conversation.apply(done);
    expect(await conversation.ended).toMatchObject({ phase: 'finished' });
  });
});

describe('cancel', () => {
  it('keeps what was shown and says what it broke off', async () => {
    const conversation = started();
    conversation.apply(
      actions(begin, add('t', said('m', 'half a sen'), { id: 'call', toolCall: { toolCallId: 'c1', grep: {} } })),
    );
    conversation.cancel();
    expect(conversation.state).toMatchObject({ phase: 'cancelled', interrupted: ['m', 'call'] });
    expect(await conversation.ended).toMatchObject({ interrupted: ['m', 'call'], openToolCalls: ['c1'] });
  });

  it('rolls back by policy', () => {
    const conversation = started({ policies: { onCancel: 'rollback' } });
    conversation.apply(actions(begin, add('t', said('m', 'half a sen'))));
    conversation.cancel();
    expect(textsOf(conversation)).toEqual([]);
  });

  it('in every phase: before the init it ends the request, after an end it does nothing', async () => {
    const fresh = createConversation();
    fresh.cancel();
    expect(await fresh.ended).toMatchObject({ phase: 'cancelled' });
    const over = started();
    over.apply(done);
    over.cancel();
    expect(over.state.phase).toBe('finished');
  });
});

describe('modes and policies', () => {
  it('strict: the first diagnostic throws and fails the stream, the state as before that action', async () => {
    const conversation = started({ mode: 'strict' });
    const changes = changesOf(conversation);
    conversation.apply(actions(begin, add('t', said('m', 'gone'))));
    const events = [actions(add('t', said('n', 'first')), failing, add('t', said('o', 'never')))];
    const thrown = caught(() => conversation.apply(events[0] as never));
    expect(thrown).toBeInstanceOf(ConversationError);
    expect(thrown).toMatchObject({ code: 'conversation', diagnostic: { code: 'unknown_task', event: 3, action: 1 } });
    expect(isCommitpointError(thrown)).toBe(true);
    // an open transaction ends as by a failed finish
    expect(textsOf(conversation)).toEqual([]);
    expect(await conversation.ended).toMatchObject({ phase: 'failed', diagnostics: [{ code: 'unknown_task' }] });
    expect(changes.map(({ kind }) => kind)).toEqual(['begun', 'ended']);
    // nothing is read after it
    const after = conversation.state;
    expect(caught(() => conversation.apply(init('c', 'r2')))).toBe(thrown);
    conversation.cancel();
    expect(conversation.state).toBe(after);
    expect(after.diagnostics.at(-1)?.code).toBe('unknown_task');
  });

  it('strict: what is applied from a subscriber fails the stream, and throws at the next one', () => {
    const conversation = started({ mode: 'strict' });
    let isFirst = true;
    conversation.changes$.subscribe(() => {
      if (isFirst) conversation.apply(actions(failing));
      isFirst = false;
    });
    conversation.apply(actions());
    expect(conversation.state.phase).toBe('failed');
    expect(() => conversation.apply(actions())).toThrow(ConversationError);
  });

  it('warp commits at every end', () => {
    const conversation = started({ mode: 'warp' });
    conversation.apply(actions(begin, add('t', said('m', 'kept')), failing, add('t', said('n', 'dropped'))));
    conversation.apply(eof);
    expect(textsOf(conversation)).toEqual(['kept']);
  });

  it('single policies stand beside the mode', () => {
    const conversation = started({ mode: 'warp', policies: { onFailure: 'rollback', nested: 'savepoint' } });
    conversation.apply(actions(begin, add('t', said('m', 'outer')), begin, add('t', said('n', 'inner')), rollback));
    expect(textsOf(conversation)).toEqual(['outer']);
    conversation.apply(eof);
    expect(textsOf(conversation)).toEqual([]);
  });

  it('maxDiagnostics: beyond it they are counted, by code', () => {
    const conversation = started({ maxDiagnostics: 2 });
    for (let index = 0; index < 5; index++) conversation.apply(actions(failing, commit));
    expect(codesOf(conversation)).toEqual(['unknown_task', 'commit_without_begin']);
    expect(conversation.state.diagnosticsBeyond).toEqual({ unknown_task: 4, commit_without_begin: 4 });
  });

  it.each([
    ['a mode', { mode: 'loose' }],
    ['a policy', { policies: { onErr: 'commit' } }],
    ['a value of a policy', { policies: { nested: 'maybe' } }],
    ['policies', { policies: null }],
    ['a bound', { maxDiagnostics: -1 }],
    ['a bound in words', { maxDiagnostics: 'many' }],
    ['effects', { effects: [] }],
    ['an inspector', { inspect: 'console' }],
    ['a signal', { signal: {} }],
    ['a signal of null', { signal: null }],
    ['options', null],
    ['a text for options', 'tolerant'],
  ])('%s that there is not is refused with a typed error', (_, options) => {
    expect(() => createConversation(options as never)).toThrow(InvalidInputError);
  });
});

describe('derived views and toEvents', () => {
  it('are functions of the state', () => {
    const conversation = started();
    conversation.apply(actions(add('t', said('m', 'a'), { id: 'call', toolCall: { toolCallId: 'c1', grep: {} } })));
    const { state } = conversation;
    expect(linearMessages(state).map(({ id }) => id)).toEqual(['m', 'call']);
    expect(linearMessages(state)).toBe(linearMessages(conversation.state));
    expect(openToolCalls(state)).toEqual(['c1']);
    expect(todoLists(state)).toEqual([]);
  });

  it('toEvents gives a stream that rebuilds it (C5)', () => {
    const conversation = started();
    conversation.apply(actions(add('t', said('m', 'a'), said('n', 'b')), split('n')));
    conversation.apply(actions(begin, add('t', said('o', 'c')), commit));
    conversation.apply(done);
    const rebuilt = createConversation();
    for (const event of conversation.toEvents()) rebuilt.apply(event);
    expect(resultOf(rebuilt.state)).toEqual({ ...resultOf(conversation.state), diagnostics: [] });
  });
});

describe('close', () => {
  it('cancels what runs, keeps the state, takes nothing more', async () => {
    const conversation = started();
    conversation.apply(actions(begin, add('t', said('m', 'kept'))));
    const end = conversation.ended;
    conversation.close();
    conversation.close();
    expect(await end).toMatchObject({ phase: 'cancelled', interrupted: ['m'] });
    expect(() => conversation.apply(actions())).toThrow(ConversationClosedError);
    expect(() => conversation.stream()).toThrow(ConversationClosedError);
    conversation.cancel();
    expect(textsOf(conversation)).toEqual(['kept']);
    expect(conversation.toEvents().length).toBeGreaterThan(0);
  });

  it('comes with `using`, and with the signal of the host', async () => {
    const conversation = started();
    {
      using closing = conversation;
      expect(closing.state.phase).toBe('streaming');
    }
    expect(conversation.state.phase).toBe('cancelled');

    const abort = new AbortController();
    const aborted = started({ signal: abort.signal });
    const reason = new TypeError('the user left');
    abort.abort(reason);
    expect(await aborted.ended).toMatchObject({ phase: 'cancelled' });
    expect(caught(() => aborted.apply(actions()))).toMatchObject({ code: 'conversation_closed', cause: reason });
    expect(caught(() => createConversation({ signal: abort.signal }))).toBe(reason);
  });
});

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

expectTypeOf<ConversationChange['kind']>().toEqualTypeOf<'applied' | 'begun' | 'committed' | 'rolled_back' | 'ended'>();
