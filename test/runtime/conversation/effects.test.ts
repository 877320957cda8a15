/** Effects that a host attaches to actions wait in an outbox: C7, and hosts whose effects throw, reject, hang or act. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientAction } from '../../../proto/index.js';
import {
  type Conversation,
  type ConversationOptions,
  createConversation,
  InvalidInputError,
} from '../../../src/index.js';
import {
  actions,
  add,
  begin,
  commit,
  done,
  eof,
  failed,
  failing,
  init,
  rollback,
  said,
  split,
  task,
} from '../../conversation/events.js';
import { held, quiet, watchProcess } from '../stage.js';
import { changesOf, codesOf, textsOf } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** The ids of the messages that an action adds. */
function added({ action }: ClientAction): string[] {
  return action.case === 'addMessagesToTask' ? action.value.messages.map(({ id }) => id) : [];
}

/** A conversation whose every added message has an effect that writes its id down. */
function noting(options: ConversationOptions = {}) {
  const ran: string[] = [];
  const conversation = createConversation({
    ...options,
    effects: (action) => added(action).map((id) => () => void ran.push(id)),
  });
  conversation.apply(init());
  conversation.apply(actions(task('t')));
  return { conversation, ran };
}

const message = (id: string) => add('t', said(id, id));

describe('the outbox', () => {
  it('runs at once when no transaction is open, in order, when the event is complete', () => {
    const { conversation, ran } = noting();
    conversation.changes$.subscribe(() => expect(ran).toEqual([]));
    conversation.apply(actions(add('t', said('a', ''), said('b', '')), message('c')));
    expect(ran).toEqual(['a', 'b', 'c']);
    expect(codesOf(conversation)).toEqual([]);
  });

  it('holds while a transaction is open, releases in order at commit, forgets at rollback', () => {
    const { conversation, ran } = noting();
    conversation.apply(actions(begin, message('a')));
    conversation.apply(actions(message('b')));
    expect(ran).toEqual([]);
    conversation.apply(actions(commit));
    expect(ran).toEqual(['a', 'b']);
    conversation.apply(actions(begin, message('c'), rollback, begin, message('d'), commit, message('e')));
    expect(ran).toEqual(['a', 'b', 'd', 'e']);
  });

  it.each([
    ['done', done, true],
    ['a failure', failed, false],
    ['the end of the input', eof, false],
    ['a cancel', { end: 'cancel' } as const, true],
    ['a split', actions(split('root')), true],
  ])('%s ends it as it ends the transaction', (_, end, runs) => {
    const { conversation, ran } = noting();
    conversation.apply(actions(message('root')));
    conversation.apply(actions(begin, message('a')));
    conversation.apply(end);
    expect(ran).toEqual(runs ? ['root', 'a'] : ['root']);
  });

  it('a doomed transaction: by what becomes of it', () => {
    const { conversation, ran } = noting();
    conversation.apply(actions(begin, message('a'), failing, message('b'), commit));
    expect(ran).toEqual([]);
    const other = noting({ policies: { onDoomedCommit: 'commit' } });
    other.conversation.apply(actions(begin, message('a'), failing, message('b'), commit));
    expect(other.ran).toEqual(['a', 'b']);
  });

  it('savepoints: an inner commit only hands them outward', () => {
    const { conversation, ran } = noting({ policies: { nested: 'savepoint' } });
    conversation.apply(actions(begin, message('a'), begin, message('b'), commit, begin, message('c'), rollback));
    expect(ran).toEqual([]);
    conversation.apply(actions(message('d'), commit));
    expect(ran).toEqual(['a', 'b', 'd']);
    conversation.apply(actions(begin, message('e'), begin, message('f'), commit, rollback));
    expect(ran).toEqual(['a', 'b', 'd']);
  });

  it('actions that failed, or changed nothing, have none; strict effects of what is undone neither', () => {
    const { conversation, ran } = noting();
    conversation.apply(actions(add('unknown', said('a', '')), message('b'), message('b')));
    expect(ran).toEqual(['b']);
    const strict = noting({ mode: 'strict' });
    expect(() => strict.conversation.apply(actions(message('a'), add('t', said('a', 'other'))))).toThrow();
    expect(strict.ran).toEqual(['a']);
  });

  it('is asked with the action as it came, and the conversation right after it', () => {
    const seen: unknown[] = [];
    const conversation = createConversation({
      effects: (action, state) => {
        seen.push([action, state.tasks.get('t')?.messages.length]);
        return [];
      },
    });
    const event = actions(task('t'), message('a'), begin, message('b'));
    conversation.apply(init());
    conversation.apply(event);
    const given = event.type.case === 'clientActions' ? event.type.value.actions : [];
    expect(seen).toEqual([
      [given[0], 0],
      [given[1], 1],
      [given[3], 2],
    ]);
    expect((seen[0] as unknown[])[0]).toBe(given[0]);
  });

  it('C7: effects of what was rolled back never run, those of what was committed once and in order', () => {
    const step = fc.constantFrom('begin', 'commit', 'rollback', 'fail', 'add', 'add', 'add');
    const end = fc.constantFrom('done', 'failed', 'eof', 'cancel');
    const options = fc.record({
      mode: fc.constantFrom('tolerant' as const, 'warp' as const),
      policies: fc.record({
        nested: fc.constantFrom('ignore' as const, 'savepoint' as const, 'error' as const),
        onDoomedCommit: fc.constantFrom('rollback' as const, 'commit' as const),
        onFailure: fc.constantFrom('rollback' as const, 'commit' as const),
        onCancel: fc.constantFrom('rollback' as const, 'commit' as const),
      }),
    });
    let withRollback = 0;
    fc.assert(
      fc.property(
        options,
        fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
        end,
        (given, events, last) => {
          const { conversation, ran } = noting(given);
          let number = 0;
          for (const steps of events) {
            const all = steps.map(
              (name) => ({ begin, commit, rollback, fail: failing, add: message(`m${number++}`) })[name],
            );
            conversation.apply(actions(...(all as ReturnType<typeof message>[])));
          }
          conversation.apply({ done, failed, eof, cancel: { end: 'cancel' } as const }[last]);
          // every message that stayed had its effect, in order, and no other had
          expect(ran).toEqual(textsOf(conversation));
          if (ran.length < number) withRollback++;
        },
      ),
      { numRuns: 500 },
    );
    expect(withRollback).toBeGreaterThan(50);
  });
});

describe('an effect', () => {
  /** A conversation whose added messages have these effects, by their ids. */
  function withEffects(effects: Record<string, () => unknown>, options: ConversationOptions = {}): Conversation {
    const conversation = createConversation({
      ...options,
      effects: (action) =>
        added(action).flatMap((id) => (effects[id] === undefined ? [] : [effects[id] as () => void])),
    });
    conversation.apply(init());
    conversation.apply(actions(task('t')));
    return conversation;
  }

  it('that throws or rejects is a diagnostic where it belongs, and stops none', async () => {
    const ran: string[] = [];
    const conversation = withEffects({
      a: () => {
        throw new TypeError('a failed');
      },
      b: () => Promise.reject(new TypeError('b failed')),
      c: () => ran.push('c'),
    });
    const changes = changesOf(conversation);
    conversation.apply(actions(message('a'), message('b'), message('c')));
    expect(ran).toEqual([]);
    await quiet();
    expect(ran).toEqual(['c']);
    expect(conversation.state.diagnostics).toEqual([
      { code: 'effect_failed', event: 2, action: 0, detail: 'a failed' },
      { code: 'effect_failed', event: 2, action: 1, detail: 'b failed' },
    ]);
    // one notification for each event, all the same
    expect(changes).toHaveLength(1);
    expect(conversation.state.diverged).toBe(false);
    conversation.apply(done);
    expect(await conversation.ended).toMatchObject({ phase: 'finished', diagnostics: [{}, {}] });
  });

  it('that takes its time keeps the next one waiting, and nothing else', async () => {
    const slow = held<void>();
    const ran: string[] = [];
    const conversation = withEffects({ a: () => slow.promise, b: () => ran.push('b') });
    conversation.apply(actions(message('a'), message('b')));
    conversation.apply(actions(message('c')));
    conversation.apply(done);
    expect(await conversation.ended).toMatchObject({ phase: 'finished' });
    expect(ran).toEqual([]);
    slow.resolve();
    await quiet();
    expect(ran).toEqual(['b']);
  });

  it('that is committed runs also when the conversation was closed meanwhile', async () => {
    const slow = held<void>();
    const ran: string[] = [];
    const conversation = withEffects({ a: () => slow.promise, b: () => ran.push('b') });
    conversation.apply(actions(begin, message('a'), message('b'), commit));
    conversation.close();
    slow.reject(new TypeError('late'));
    await quiet();
    expect(ran).toEqual(['b']);
    expect(codesOf(conversation)).toEqual(['effect_failed']);
  });

  it('may apply, cancel and close: the step is complete, and the next effect waits', async () => {
    const ran: string[] = [];
    const conversation = withEffects({
      a: () => {
        ran.push('a');
        conversation.apply(actions(message('c')));
        ran.push(textsOf(conversation).join(''));
      },
      b: () => {
        ran.push('b');
        conversation.cancel();
        ran.push(conversation.state.phase);
      },
      c: () => ran.push('c'),
    });
    conversation.apply(actions(message('a'), message('b')));
    expect(ran).toEqual(['a', 'abc', 'b', 'cancelled', 'c']);
    expect(await conversation.ended).toMatchObject({ phase: 'cancelled' });
  });

  it('a chain of effects that apply does not deepen the stack', () => {
    let left = 10_000;
    const conversation = createConversation({
      effects: () => [() => void (left-- > 0 && conversation.apply(actions(add('t', said('m', String(left))))))],
    });
    conversation.apply(init());
    conversation.apply(actions(task('t')));
    expect(left).toBe(-1);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new TypeError('no effects');
      },
      'no effects',
    ],
    ['gives nothing', () => undefined, 'a list of functions'],
    [
      'is asynchronous',
      async () => {
        throw new TypeError('later');
      },
      'a list of functions',
    ],
    ['gives what is no function', () => ['effect'], 'a function'],
    [
      'gives a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable([], {});
        revoke();
        return proxy;
      },
      '',
    ],
    [
      'throws a megabyte',
      () => {
        throw new TypeError('x'.repeat(1_000_000));
      },
      'xxx',
    ],
  ])('where the host’s `effects` %s it is a diagnostic, and the event stands', async (_, effects, words) => {
    const conversation = createConversation({ effects: effects as never });
    conversation.apply(init());
    conversation.apply(actions(task('t')));
    expect(conversation.state.tasks.has('t')).toBe(true);
    expect(conversation.state.diagnostics).toMatchObject([{ code: 'effect_failed', event: 1, action: 0 }]);
    const [{ detail } = { detail: '' }] = conversation.state.diagnostics;
    expect(detail).toContain(words);
    expect(detail.length).toBeLessThan(500);
  });

  it('strict: one that fails is told of, and fails no stream', () => {
    const conversation = withEffects(
      {
        a: () => {
          throw new InvalidInputError('room', 'one that is free', 7);
        },
      },
      { mode: 'strict' },
    );
    conversation.apply(actions(message('a')));
    conversation.apply(done);
    expect(conversation.state).toMatchObject({ phase: 'finished', diagnostics: [{ code: 'effect_failed' }] });
  });
});
