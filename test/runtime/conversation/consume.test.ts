/** `consume`: sources that end, throw, hang, lie or never stop, and hosts that give up, in every phase. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ConversationClosedError,
  ConversationError,
  InvalidInputError,
  StreamBusyError,
} from '../../../src/contract/errors.js';
import { type Conversation, createConversation } from '../../../src/index.js';
import { decodeSse, encodeSse } from '../../../src/wire/index.js';
import { actions, add, begin, commit, done, failing, init, said, task } from '../../conversation/events.js';
import { isSettled, outcomeOf, quiet, watchProcess } from '../stage.js';
import { changesOf, codesOf, HandSource, textsOf } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

const opening = [init(), actions(task('t'), add('t', said('m', 'kept')), begin, add('t', said('n', 'provisional')))];

async function* from(events: readonly unknown[]): AsyncGenerator<never> {
  for (const event of events) yield event as never;
}

describe('a source', () => {
  it('is read to its end, which is the end of the input', async () => {
    const finished = createConversation();
    expect(await finished.consume(from([...opening, actions(commit), done]))).toMatchObject({ phase: 'finished' });
    expect(textsOf(finished)).toEqual(['kept', 'provisional']);
    const cut = createConversation();
    const end = await cut.consume(from(opening));
    expect(end).toMatchObject({ phase: 'truncated', message: '' });
    expect(end).toBe(await cut.ended);
    expect(textsOf(cut)).toEqual(['kept']);
    expect(await createConversation().consume([])).toMatchObject({ phase: 'truncated' });
  });

  it('may be any iterable, and hold several requests', async () => {
    const conversation = createConversation();
    const events = [...opening, done, init('c', 'r2'), actions(add('t', said('o', 'more'))), done];
    expect(await conversation.consume(events)).toMatchObject({ phase: 'finished', requestId: 'r2' });
    expect(textsOf(conversation)).toEqual(['kept', 'provisional', 'more']);
  });

  it('is asked for one event at a time, each is taken before the next', async () => {
    const source = new HandSource();
    const conversation = createConversation();
    const consuming = conversation.consume(source);
    expect(source.asked).toBe(1);
    source.give(init());
    await quiet();
    expect(source.asked).toBe(2);
    expect(conversation.state.phase).toBe('streaming');
    source.end();
    await consuming;
    expect(source).toMatchObject({ asked: 2, released: 0 });
  });

  it('that throws is a transport error', async () => {
    const source = new HandSource();
    const conversation = createConversation();
    const consuming = conversation.consume(source);
    source.give(...opening);
    source.fail(new TypeError('connection reset'));
    expect(await consuming).toMatchObject({ phase: 'truncated', message: 'connection reset' });
    expect(textsOf(conversation)).toEqual(['kept']);
    // it ended by itself
    expect(source.released).toBe(0);
  });

  it('of bytes with a bad frame is a transport error, told of', async () => {
    const conversation = createConversation();
    const bytes = new TextEncoder().encode(`${opening.map(encodeSseText).join('')}data: not base64!\n\n`);
    expect(await conversation.consume(decodeSse([bytes]))).toMatchObject({
      phase: 'truncated',
      message: expect.stringContaining('bad frame'),
      diagnostics: [{ code: 'bad_frame', event: 2 }],
    });
    expect(textsOf(conversation)).toEqual(['kept']);
  });

  it('that goes on after the finish is read on; an error there changes no end', async () => {
    const source = new HandSource();
    const conversation = createConversation();
    const consuming = conversation.consume(source);
    source.give(init(), done, actions());
    source.fail(new TypeError('reset'));
    expect(await consuming).toMatchObject({ phase: 'finished' });
    expect(codesOf(conversation)).toEqual(['after_finished']);
  });

  function encodeSseText(event: Parameters<typeof encodeSse>[0]): string {
    const encoded: unknown = encodeSse(event);
    return typeof encoded === 'string' ? encoded : new TextDecoder().decode(encoded as Uint8Array);
  }
});

describe('a hostile source', () => {
  const reject = Promise.reject(new TypeError('rejects'));
  reject.catch(() => {});
  const huge = 'x'.repeat(1_000_000);
  const hostile: [string, unknown, string][] = [
    ['its iterator cannot be made', iterable(() => raise('no iterator')), 'no iterator'],
    ['its iterator is none', iterable(() => 7), 'an iterator'],
    ['it cannot be asked', iterable(() => ({})), 'next'],
    ['asking throws', iterable(() => ({ next: () => raise('no next') })), 'no next'],
    ['it rejects with nothing', iterable(() => ({ next: () => Promise.reject() })), 'undefined'],
    ['it rejects with a proxy', iterable(() => ({ next: () => Promise.reject(revoked()) })), ''],
    ['its results are none', iterable(() => ({ next: () => 7 })), 'the results of an iterator'],
    [
      'its results throw',
      iterable(() => ({
        next: () => ({
          get done() {
            return raise('no done');
          },
        }),
      })),
      'no done',
    ],
    [
      'its values throw',
      iterable(() => ({
        next: () => ({
          done: false,
          get value() {
            return raise('no value');
          },
        }),
      })),
      'no value',
    ],
    [
      'its `then` throws',
      iterable(() => ({
        next: () => ({
          // biome-ignore lint/suspicious/noThenProperty: a thenable that throws is what is tried
          get then() {
            return raise('no then');
          },
        }),
      })),
      'no then',
    ],
    ['it throws a megabyte', iterable(() => ({ next: () => raise(huge) })), 'xxx'],
    ['what it gives is no event', [{ nonsense: huge }], 'ResponseEvent'],
    ['what it gives is an end', [{ end: 'over' }], 'end of the input'],
    ['what it gives is a revoked proxy', [revoked()], 'reading it threw'],
    ['what it gives is null', [null], 'ResponseEvent'],
  ];

  it.each(hostile)('%s: truncated, with what it said', async (_, source, message) => {
    const conversation = createConversation();
    conversation.apply(opening[0] as never);
    conversation.apply(opening[1] as never);
    const end = await conversation.consume(source as never);
    expect(end.phase).toBe('truncated');
    expect(end.message).toContain(message);
    expect(end.message.length).toBeLessThan(1100);
    expect(textsOf(conversation)).toEqual(['kept']);
    for (const { code, detail } of conversation.state.diagnostics) {
      expect(code).toBe('bad_frame');
      expect(detail.length).toBeLessThan(1100);
    }
  });

  it('what is no event releases the source', async () => {
    const source = new HandSource();
    const conversation = createConversation();
    const consuming = conversation.consume(source);
    source.give(init(), 'nonsense', done);
    expect(await consuming).toMatchObject({ phase: 'truncated', diagnostics: [{ code: 'bad_frame', event: 1 }] });
    expect(source).toMatchObject({ asked: 2, released: 1 });
  });

  it.each([
    ['throws', () => raise('return')],
    ['rejects', () => Promise.reject(new TypeError('return'))],
    ['hangs', () => new Promise(() => {})],
    ['is none', 7 as never],
  ])('its release %s: nobody waits or is harmed', async (_, release) => {
    const conversation = createConversation();
    const consuming = conversation.consume(
      iterable(() => ({ next: () => new Promise(() => {}), return: release })) as never,
    );
    conversation.cancel();
    expect(await consuming).toMatchObject({ phase: 'cancelled' });
  });

  it.each<[() => unknown]>([
    [() => undefined],
    [() => null],
    [() => 7],
    [() => 'text'],
    [() => ({})],
    [() => ({ [Symbol.asyncIterator]: 7 })],
    [revoked],
    [() => () => {}],
  ])('what cannot be iterated over (%#) is refused, and nothing has changed', async (make) => {
    const source = make();
    const conversation = createConversation();
    const before = conversation.state;
    expect(await outcomeOf(conversation.consume(source as never))).toEqual({ error: expect.any(InvalidInputError) });
    expect(conversation.state).toBe(before);
    expect(await conversation.consume([init(), done])).toMatchObject({ phase: 'finished' });
  });

  it.each([null, 7, { signal: 7 }, { signal: null }])('options that are none (%#) are refused', async (options) => {
    const consuming = createConversation().consume([], options as never);
    expect(await outcomeOf(consuming)).toEqual({ error: expect.any(InvalidInputError) });
  });

  function iterable(open: () => unknown): unknown {
    return { [Symbol.asyncIterator]: open };
  }

  function raise(message: string): never {
    throw new TypeError(message);
  }

  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
});

describe('giving up', () => {
  const phases: [string, (source: HandSource) => void, string][] = [
    ['before the init', () => {}, 'cancelled'],
    ['while streaming', (source) => source.give(init()), 'cancelled'],
    ['in a transaction', (source) => source.give(...opening), 'cancelled'],
    ['after the finish', (source) => source.give(init(), done), 'finished'],
    ['after a cancel and a resumption', (source) => source.give(init()), 'cancelled'],
  ];
  const ways: [string, (conversation: Conversation, abort: AbortController) => void][] = [
    ['an abort of `consume`', (_, abort) => abort.abort(new TypeError('left'))],
    ['cancel()', (conversation) => conversation.cancel()],
    ['apply({ end: cancel })', (conversation) => conversation.apply({ end: 'cancel' })],
    ['close()', (conversation) => conversation.close()],
    ['a stop of the actor', (conversation) => conversation.actor.stop()],
  ];
  const all = phases.flatMap(([when, bring, phase]) =>
    ways.map(([how, giveUp]) => ({ when, how, bring, giveUp, phase })),
  );

  it.each(all)(
    '$how $when: at once, the source is released, no listener is left',
    async ({ how, when, bring, giveUp, phase }) => {
      // after the end there is nothing to cancel, so that way does not stop the reading
      if (how === 'apply({ end: cancel })' && when === 'after the finish') return;
      const abort = new AbortController();
      const source = new HandSource();
      const conversation = createConversation();
      if (when.includes('resumption')) {
        conversation.apply(init());
        conversation.cancel();
      }
      const consuming = conversation.consume(source, { signal: abort.signal });
      expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
      bring(source);
      await quiet();
      giveUp(conversation, abort);
      expect(source.released).toBe(1);
      expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
      expect(await consuming).toMatchObject({ phase });
      if (when === 'in a transaction') expect(textsOf(conversation)).toEqual(['kept', 'provisional']);
      // what the source still gives is not looked at
      const { state } = conversation;
      source.give(actions(add('t', said('late', 'late'))), done);
      await quiet();
      expect(conversation.state).toBe(state);
    },
  );

  it('a signal that is aborted already cancels before anything is read', async () => {
    const source = new HandSource();
    const conversation = createConversation();
    expect(await conversation.consume(source, { signal: AbortSignal.abort() })).toMatchObject({ phase: 'cancelled' });
    expect(source).toMatchObject({ asked: 0, released: 1 });
  });

  it('a source that fails of the same abort is a cancel, not a transport error', async () => {
    const abort = new AbortController();
    const conversation = createConversation();
    let fail: (error: unknown) => void = () => {};
    const failing = {
      next: () =>
        new Promise<never>((_, reject) => {
          fail = reject;
        }),
      [Symbol.asyncIterator]: () => failing,
    };
    abort.signal.addEventListener('abort', () => fail(abort.signal.reason));
    const consuming = conversation.consume(failing, { signal: abort.signal });
    abort.abort();
    expect(await consuming).toMatchObject({ phase: 'cancelled', message: '' });
  });

  it('a subscriber that cancels stops the reading, within the event', async () => {
    const source = new HandSource();
    const conversation = createConversation();
    const changes = changesOf(conversation);
    conversation.changes$.subscribe(() => conversation.cancel());
    const consuming = conversation.consume(source);
    source.give(init(), actions(task('t')));
    expect(await consuming).toMatchObject({ phase: 'cancelled' });
    expect(changes.map(({ kind }) => kind)).toEqual(['applied', 'ended']);
    expect(source).toMatchObject({ asked: 1, released: 1 });
  });

  it('the signal of the conversation stops what is read, and is listened to no longer than needed', async () => {
    const abort = new AbortController();
    const listeners = () => getEventListeners(abort.signal, 'abort').length;
    const conversation = createConversation({ signal: abort.signal });
    expect(listeners()).toBe(1);
    await conversation.consume([init(), done]);
    expect(listeners()).toBe(0);
    conversation.apply(init('c', 'r2'));
    expect(listeners()).toBe(1);
    conversation.apply(done);
    expect(listeners()).toBe(0);
    const source = new HandSource();
    const consuming = conversation.consume(source);
    expect(listeners()).toBe(1);
    abort.abort();
    expect(listeners()).toBe(0);
    expect(source.released).toBe(1);
    expect(await consuming).toMatchObject({ phase: 'finished', requestId: 'r2' });

    const idle = new AbortController();
    const over = createConversation({ signal: idle.signal });
    over.apply(done);
    idle.abort();
    // nobody listened; it is closed all the same
    expect(() => over.apply(init())).toThrow(ConversationClosedError);
  });
});

describe('what ends a reading with an error', () => {
  it('strict: it rejects, the source is released', async () => {
    const source = new HandSource();
    const conversation = createConversation({ mode: 'strict' });
    const consuming = conversation.consume(source);
    source.give(init(), actions(failing));
    expect(await outcomeOf(consuming)).toMatchObject({ error: { code: 'conversation' } });
    expect(source).toMatchObject({ asked: 2, released: 1 });
    expect(await conversation.ended).toMatchObject({ phase: 'failed' });
    const next = new HandSource();
    expect(await outcomeOf(conversation.consume(next))).toEqual({ error: expect.any(ConversationError) });
    expect(next).toMatchObject({ asked: 0, released: 1 });
  });

  it('strict: a bad frame is a diagnostic, so it rejects', async () => {
    const conversation = createConversation({ mode: 'strict' });
    expect(await outcomeOf(conversation.consume(['nonsense'] as never))).toMatchObject({
      error: { diagnostic: { code: 'bad_frame' } },
    });
  });

  it('nobody is harmed where the host ignores it', async () => {
    const conversation = createConversation({ mode: 'strict' });
    void conversation.consume([init(), actions(failing)]);
    void conversation.consume(7 as never);
    await quiet();
  });

  it('one source at a time: a second one is refused, untouched', async () => {
    const conversation = createConversation();
    const [one, two] = [new HandSource(), new HandSource()];
    const consuming = conversation.consume(one);
    expect(await outcomeOf(conversation.consume(two))).toEqual({ error: expect.any(StreamBusyError) });
    expect(two).toMatchObject({ asked: 0, released: 0 });
    one.give(init(), done);
    one.end();
    await consuming;
    const next = conversation.consume(two);
    two.end();
    expect(await next).toMatchObject({ phase: 'finished' });
  });

  it('once closed it rejects, and the source is released', async () => {
    const conversation = createConversation();
    conversation.close();
    const source = new HandSource();
    expect(await outcomeOf(conversation.consume(source))).toEqual({ error: expect.any(ConversationClosedError) });
    expect(source).toMatchObject({ asked: 0, released: 1 });
  });

  it('a source that hangs keeps nobody: other streams and `apply` go on', async () => {
    const conversation = createConversation();
    const consuming = conversation.consume(new HandSource());
    conversation.apply(init());
    conversation.apply(actions(task('t'), add('t', said('m', 'beside'))));
    expect(textsOf(conversation)).toEqual(['beside']);
    expect(await isSettled(consuming)).toBe(false);
    conversation.close();
    await consuming;
  });
});
