/** Several streams into one conversation: each its own request, one transaction at a time. */
import { describe, expect, it } from 'vitest';
import { ConversationClosedError } from '../../../src/contract/errors.js';
import { createConversation } from '../../../src/index.js';
import {
  actions,
  add,
  begin,
  commit,
  done,
  eof,
  failed,
  init,
  rollback,
  said,
  task,
} from '../../conversation/events.js';
import { changesOf, codesOf, HandSource, textsOf } from './stage.js';

/** A conversation with a root task, and one more stream. */
function two() {
  const conversation = createConversation();
  conversation.apply(init('c', 'r1'));
  conversation.apply(actions(task('t')));
  const other = conversation.stream();
  other.apply(init('c', 'r2'));
  return { conversation, other };
}

describe('one more stream', () => {
  it('folds into the same conversation, with phase and end of its own', async () => {
    const { conversation, other } = two();
    expect(other.phase).toBe('streaming');
    other.apply(actions(add('t', said('a', 'other'))));
    conversation.apply(actions(add('t', said('b', 'first'))));
    expect(textsOf(conversation)).toEqual(['other', 'first']);
    other.apply(failed);
    expect(await other.ended).toMatchObject({ phase: 'failed', requestId: 'r2', message: 'broken' });
    expect(other.phase).toBe('failed');
    expect(conversation.state).toMatchObject({ phase: 'streaming', requestId: 'r1' });
    conversation.apply(done);
    expect(await conversation.ended).toMatchObject({ phase: 'finished', requestId: 'r1' });
  });

  it('reads its own source and cancels for itself', async () => {
    const { conversation, other } = two();
    const [one, second] = [new HandSource(), new HandSource()];
    const reading = conversation.consume(one);
    const beside = other.consume(second);
    other.cancel();
    expect(await beside).toMatchObject({ phase: 'cancelled', requestId: 'r2' });
    expect([one.released, second.released]).toEqual([0, 1]);
    one.give(done);
    one.end();
    expect(await reading).toMatchObject({ phase: 'finished', requestId: 'r1' });
  });

  it('tells of its events on the same changes$, and names itself in its diagnostics', () => {
    const { conversation, other } = two();
    const changes = changesOf(conversation);
    other.apply(actions(commit));
    conversation.apply(actions(commit));
    expect(changes.map(({ diagnostics }) => diagnostics.map(({ code, stream }) => [code, stream]))).toEqual([
      [['commit_without_begin', 1]],
      [['commit_without_begin', undefined]],
    ]);
  });
});

describe('transaction_busy', () => {
  it('refuses a Begin, and whatever else would be taken back, while another stream has a transaction open', () => {
    const { conversation, other } = two();
    conversation.apply(actions(begin, add('t', said('a', 'first'))));
    other.apply(actions(begin));
    expect(codesOf(conversation)).toEqual(['transaction_busy']);
    other.apply(actions(add('t', said('b', 'other'))));
    expect(codesOf(conversation)).toEqual(['transaction_busy', 'transaction_busy']);
    // neither does it close what is not its own
    other.apply(actions(rollback));
    other.apply(actions(commit));
    expect(codesOf(conversation).slice(2)).toEqual(['rollback_without_begin', 'commit_without_begin']);
    other.apply(eof);
    expect(conversation.state.transaction).toBe('open');
    expect(textsOf(conversation)).toEqual(['first']);
    conversation.apply(actions(commit));
    expect(conversation.state).toMatchObject({ transaction: 'none', phase: 'streaming' });
    expect(textsOf(conversation)).toEqual(['first']);
  });

  it('is over with the transaction: the other one may begin', () => {
    const { conversation, other } = two();
    conversation.apply(actions(begin, rollback));
    other.apply(actions(begin, add('t', said('b', 'other')), commit));
    expect(textsOf(conversation)).toEqual(['other']);
    expect(codesOf(conversation)).toEqual([]);
  });

  it('holds effects by who owns the transaction', () => {
    const ran: string[] = [];
    const conversation = createConversation({
      effects: ({ action }) =>
        action.case === 'addMessagesToTask'
          ? action.value.messages.map(
              ({ id }) =>
                () =>
                  void ran.push(id),
            )
          : [],
    });
    conversation.apply(init('c', 'r1'));
    conversation.apply(actions(task('t')));
    const other = conversation.stream();
    other.apply(init('c', 'r2'));
    other.apply(actions(begin, add('t', said('a', ''))));
    conversation.apply(actions(add('t', said('b', '')), commit));
    expect(ran).toEqual([]);
    other.cancel();
    expect(ran).toEqual(['a']);
  });
});

describe('closing', () => {
  it('a stream cancels what it runs and is forgotten; the conversation goes on', async () => {
    const { conversation, other } = two();
    other.apply(actions(begin, add('t', said('a', 'kept'))));
    const { ended } = other;
    other.close();
    other.close();
    expect(await ended).toMatchObject({ phase: 'cancelled', interrupted: ['a'] });
    expect(other.phase).toBe('cancelled');
    expect(() => other.apply(actions())).toThrow(ConversationClosedError);
    other.cancel();
    conversation.apply(actions(add('t', said('b', 'on'))));
    expect(textsOf(conversation)).toEqual(['kept', 'on']);
  });

  it('the conversation closes all of them', async () => {
    const { conversation, other } = two();
    const source = new HandSource();
    const reading = other.consume(source);
    const changes = changesOf(conversation);
    conversation.close();
    expect(await reading).toMatchObject({ phase: 'cancelled', requestId: 'r2' });
    expect(await conversation.ended).toMatchObject({ phase: 'cancelled', requestId: 'r1' });
    expect(source.released).toBe(1);
    expect(changes.map(({ kind, end }) => [kind, end?.requestId])).toEqual([
      ['ended', 'r2'],
      ['ended', 'r1'],
    ]);
    expect(() => other.apply(actions())).toThrow(ConversationClosedError);
  });

  it('thousands of streams, one after the other, leave nothing behind', () => {
    const { conversation } = two();
    for (let index = 0; index < 3_000; index++) {
      const stream = conversation.stream();
      stream.apply(init('c', `more-${index}`));
      stream.apply(done);
      stream.close();
    }
    const seen: string[] = [];
    conversation.inspect(({ type }) => seen.push(type))();
    expect(seen).toEqual(['@xstate.actor', '@xstate.actor']);
  });
});
