/** Conversations with a durable journal: state moves at once; what is told behind a commit, and its effects, wait for the flush. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientAction } from '../../../proto/index.js';
import type { JournalEntry } from '../../../src/contract/journal.js';
import {
  ConversationClosedError,
  type ConversationOptions,
  createConversation,
  JournalFailedError,
} from '../../../src/index.js';
import { MemoryJournal } from '../../../src/journal/index.js';
import { verify } from '../../../src/verify/index.js';
import {
  actions,
  add,
  append,
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
import { type Held, held, quiet, watchProcess } from '../stage.js';
import { HandSource, textsOf } from './stage.js';

let watch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  watch = watchProcess();
});
afterEach(async () => {
  expect(await watch.stop()).toEqual([]);
});

/** A durable journal whose flushes are answered by the test, and that fails when it is told to. */
class HeldJournal extends MemoryJournal {
  override readonly durable = true;
  /** Those that wait for an answer, oldest first. */
  readonly flushes: Held<void>[] = [];
  /** How many were asked for. */
  asked = 0;
  full = false;

  override append(entry: JournalEntry): number {
    if (this.full) throw new JournalFailedError('in the hand', new Error('no space'));
    return super.append(entry);
  }

  override flush(): Promise<void> {
    this.asked++;
    const flush = held<void>();
    this.flushes.push(flush);
    return flush.promise;
  }

  /** Answers the flush that was asked for first, and waits until nothing more happens. */
  async flushed(error?: unknown): Promise<void> {
    const flush = this.flushes.shift() as Held<void>;
    if (error === undefined) flush.resolve();
    else flush.reject(error);
    await quiet();
  }
}

function added({ action }: ClientAction): string[] {
  return action.case === 'addMessagesToTask' ? action.value.messages.map(({ id }) => id) : [];
}

/** A conversation with task `t`, whose added messages have effects that write their ids down. */
async function durable(options: ConversationOptions = {}) {
  const journal = new HeldJournal();
  const log: string[] = [];
  const conversation = createConversation({
    journal,
    effects: (action) => added(action).map((id) => () => void log.push(`ran ${id}`)),
    ...options,
  });
  conversation.changes$.subscribe({
    next: ({ event, kind }) => void log.push(`${event} ${kind}`),
    complete: () => void log.push('complete'),
  });
  conversation.apply(init());
  conversation.apply(actions(task('t')));
  log.splice(0);
  return { conversation, journal, log };
}

const message = (id: string) => add('t', said(id, id));
const ran = (journal: MemoryJournal) => journal.records.filter(({ event }) => event === 'effect').length;

describe('a commit', () => {
  it('moves the state at once, and is told of when its record is durable, then its effects run', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a')));
    expect(log).toEqual(['2 begun']);
    expect(journal.asked).toBe(0);
    conversation.apply(actions(commit));
    expect(textsOf(conversation)).toEqual(['a']);
    expect(conversation.state.transaction).toBe('none');
    await quiet();
    expect(log).toEqual(['2 begun']);
    expect([journal.asked, ran(journal)]).toEqual([1, 0]);
    await journal.flushed();
    expect(log).toEqual(['2 begun', '3 committed', 'ran a']);
    expect(ran(journal)).toBe(1);
  });

  it('holds back everything behind it, in order, and nothing before it', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a')));
    conversation.apply(actions(commit, begin));
    conversation.apply(actions(message('b')));
    conversation.apply(actions(rollback));
    conversation.apply(actions(begin, message('c'), commit));
    await quiet();
    expect(log).toEqual(['2 begun']);
    await journal.flushed();
    // the second commit came after the first flush was asked for, and has one of its own
    expect(log).toEqual(['2 begun', '3 committed', '4 applied', '5 rolled_back', 'ran a']);
    expect(journal.asked).toBe(2);
    await journal.flushed();
    expect(log.slice(5)).toEqual(['6 committed', 'ran c']);
    expect((await verify(journal)).findings).toEqual([]);
  });

  it('that waits for a flush shares the next one with all that came meanwhile', async () => {
    const { conversation, journal, log } = await durable();
    for (const id of ['a', 'b', 'c', 'd']) conversation.apply(actions(begin, message(id), commit));
    expect(journal.asked).toBe(1);
    await journal.flushed();
    expect(log).toEqual(['2 committed', 'ran a']);
    expect(journal.asked).toBe(2);
    await journal.flushed();
    expect(log.filter((line) => line.startsWith('ran'))).toEqual(['ran a', 'ran b', 'ran c', 'ran d']);
    expect(journal.asked).toBe(2);
  });

  it.each([
    ['a finish that commits', done, 'ended'],
    ['a cancel', { end: 'cancel' } as const, 'ended'],
  ])('by %s is one: its end is told of when it is durable', async (_, end, kind) => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a')));
    const ended: string[] = [];
    void conversation.ended.then(({ phase }) => ended.push(phase));
    conversation.apply(end);
    await quiet();
    expect([log, ended]).toEqual([['2 begun'], []]);
    await journal.flushed();
    expect(log.at(-2)).toBe(`3 ${kind}`);
    expect([log.at(-1), ended]).toEqual(['ran a', [conversation.state.phase]]);
  });

  it.each([
    ['a rollback', actions(rollback)],
    ['a failed finish', failed],
    ['the end of the input', eof],
  ])('is not %s: it is told of at once', async (_, input) => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a')));
    conversation.apply(input);
    expect(log).toHaveLength(2);
    expect(journal.asked).toBe(0);
  });

  it('of an inner level is none: what it keeps may still be taken back', async () => {
    const { conversation, journal, log } = await durable({ policies: { nested: 'savepoint' } });
    conversation.apply(actions(begin, begin, message('a')));
    conversation.apply(actions(commit));
    expect([log.length, journal.asked]).toEqual([2, 0]);
    conversation.apply(actions(commit));
    expect([log.length, journal.asked]).toEqual([2, 1]);
  });
});

describe('outside of a transaction', () => {
  it('an action is its own commit: it is told of, and its effects run, when it is durable', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(message('a')));
    await quiet();
    expect([log, journal.asked]).toEqual([[], 1]);
    await journal.flushed();
    expect(log).toEqual(['2 applied', 'ran a']);
  });

  it('what has no effects waits for nothing', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(task('s', 't')));
    expect([log, journal.asked]).toEqual([['2 applied'], 0]);
  });
});

describe('whoever acts on what is told', () => {
  it('from within a subscriber: it is taken at once and told behind what waits', async () => {
    const { conversation, journal, log } = await durable();
    conversation.changes$.subscribe(({ event }) => {
      if (event === 2) conversation.apply(actions(append('t', said('a', '!'))));
    });
    conversation.apply(actions(begin, message('a'), commit));
    conversation.apply(actions(task('s', 't')));
    await journal.flushed();
    expect(textsOf(conversation)).toEqual(['a!']);
    expect(log).toEqual(['2 committed', '3 applied', '4 applied', 'ran a']);
  });

  it('waits for the end of the request that is asked about, not of one that waits to be told', async () => {
    const { conversation, journal } = await durable();
    const first = conversation.ended;
    conversation.apply(actions(begin, message('a')));
    conversation.apply(done);
    conversation.apply(init('c', 'next'));
    const second = conversation.ended;
    expect(second).not.toBe(first);
    conversation.apply(actions(begin, message('b')));
    conversation.apply(done);
    await journal.flushed();
    expect((await first).requestId).toBe('r');
    await journal.flushed();
    expect((await second).requestId).toBe('next');
  });

  it('reads a source to its end, which is told of when it is durable', async () => {
    const { conversation, journal } = await durable();
    const ended: string[] = [];
    void conversation.consume([actions(begin, message('a'), commit), done]).then(({ phase }) => ended.push(phase));
    await quiet();
    expect([conversation.state.phase, ended]).toEqual(['finished', []]);
    await journal.flushed();
    expect(ended).toEqual(['finished']);
  });
});

describe('flush', () => {
  it('resolves when all that was committed is durable and told', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a'), commit));
    void conversation.flush().then(() => log.push('flushed'));
    await quiet();
    expect(log).toEqual([]);
    await journal.flushed();
    expect(log).toEqual(['2 committed', 'ran a', 'flushed']);
  });

  it('makes durable what no commit has asked for', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(task('s', 't')));
    void conversation.flush().then(() => log.push('flushed'));
    expect(journal.asked).toBe(1);
    await journal.flushed();
    expect(log).toEqual(['2 applied', 'flushed']);
    await conversation.flush();
    expect(journal.asked).toBe(1);
  });

  it('resolves at once without a durable journal', async () => {
    await createConversation().flush();
    const journal = new MemoryJournal();
    const conversation = createConversation({ journal });
    conversation.apply(init());
    await conversation.flush();
  });
});

describe('a flush that hangs', () => {
  it('keeps a source from being read without limit', async () => {
    const { conversation, journal } = await durable();
    const source = new HandSource();
    for (let n = 0; n < 1000; n++) source.give(actions(begin, message(`m${n}`), commit));
    void conversation.consume(source);
    await quiet();
    expect(source.asked).toBeLessThan(80);
    expect(source.asked).toBeGreaterThan(10);
    await journal.flushed();
    await journal.flushed();
    const { asked } = source;
    expect(asked).toBeGreaterThan(80);
    conversation.cancel();
    await quiet();
    expect([source.released, source.asked]).toEqual([1, asked]);
  });

  it('does not keep `close` from closing; what was committed is told and runs when it is durable', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a'), commit));
    conversation.close();
    expect(() => conversation.apply(init())).toThrow(ConversationClosedError);
    await quiet();
    expect(log).toEqual([]);
    await journal.flushed();
    expect(log).toEqual(['2 committed', '3 ended', 'complete', 'ran a']);
  });
});

describe('a journal that fails', () => {
  const cause = new Error('no space left');

  it('at a flush: nothing that waited is told or runs, and nothing more is taken', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(message('durable')));
    await journal.flushed();
    const { ended } = conversation;
    conversation.apply(actions(begin, message('a'), commit, begin, message('b')));
    const flushed = conversation.flush();
    await journal.flushed(cause);
    expect(log).toEqual(['2 applied', 'ran durable', 'complete']);
    await expect(flushed).rejects.toThrow(JournalFailedError);
    await expect(conversation.flush()).rejects.toMatchObject({ code: 'journal_failed', cause });
    expect(() => conversation.apply(init())).toThrow(JournalFailedError);
    expect(() => conversation.stream()).toThrow(JournalFailedError);
    await expect(conversation.consume([])).rejects.toThrow(JournalFailedError);
    expect(await ended).toMatchObject({ phase: 'truncated' });
    // what was open is rolled back, as by any source that breaks off
    expect(conversation.state).toMatchObject({ phase: 'truncated', transaction: 'none' });
    expect(textsOf(conversation)).toEqual(['durable', 'a']);
    expect(conversation.actor.getSnapshot().value).toBe('truncated');
    const { length } = journal.records;
    conversation.cancel();
    conversation.close();
    await quiet();
    expect([journal.records.length, journal.flushes.length]).toEqual([length, 0]);
  });

  it('at an append: the state has moved, `apply` throws, and nobody is told', async () => {
    const { conversation, journal, log } = await durable();
    journal.full = true;
    expect(() => conversation.apply(actions(task('s', 't')))).toThrow(JournalFailedError);
    expect(conversation.state.tasks.get('s')?.id).toBe('s');
    expect(conversation.state.phase).toBe('truncated');
    expect(log).toEqual(['complete']);
    expect((await conversation.ended).phase).toBe('truncated');
    expect(() => conversation.apply(init())).toThrow(JournalFailedError);
  });

  it('at an effect: it does not run, nor does any behind it', async () => {
    const { conversation, journal, log } = await durable();
    conversation.apply(actions(begin, message('a'), message('b'), commit));
    journal.full = true;
    await journal.flushed();
    expect(log).toEqual(['2 committed', 'complete']);
    await expect(conversation.flush()).rejects.toThrow(JournalFailedError);
  });

  it('while a source is read: the source is released, and `consume` rejects', async () => {
    const { conversation, journal } = await durable();
    const source = new HandSource();
    const consumed = conversation.consume(source);
    source.give(actions(begin, message('a'), commit));
    await quiet();
    await journal.flushed(cause);
    await expect(consumed).rejects.toThrow(JournalFailedError);
    expect(source.released).toBe(1);
  });

  it('of which nobody asks harms nothing', async () => {
    const { conversation, journal } = await durable();
    void conversation.consume(new HandSource());
    void conversation.flush();
    await journal.flushed(cause);
  });

  it('after the close: what waited is forgotten, ends are told', async () => {
    const { conversation, journal, log } = await durable();
    const { ended } = conversation;
    conversation.apply(actions(begin, message('a')));
    conversation.close();
    await journal.flushed(cause);
    expect(log).toEqual(['2 begun', 'complete']);
    expect((await ended).phase).toBe('cancelled');
    await expect(conversation.flush()).rejects.toThrow(JournalFailedError);
  });

  it('that throws what is no error of ours is a JournalFailedError with its cause', async () => {
    const { conversation, journal } = await durable();
    journal.append = () => {
      throw cause;
    };
    expect(() => conversation.apply(init('c', 'next'))).toThrow(
      expect.objectContaining({ code: 'journal_failed', cause }),
    );
    expect(() => createConversation({ journal })).toThrow(JournalFailedError);
  });

  it('that was closed, and is not durable, fails it too', () => {
    const journal = new MemoryJournal();
    const conversation = createConversation({ journal });
    conversation.apply(init());
    journal.close();
    expect(() => conversation.apply(actions(task('t')))).toThrow(JournalFailedError);
  });

  it.each([
    ['throws', () => Promise.reject(cause)],
    [
      'throws at once',
      () => {
        throw cause;
      },
    ],
  ])('whose flush %s', async (_, flush) => {
    const { conversation, journal, log } = await durable();
    journal.flush = flush;
    conversation.apply(actions(begin, message('a'), commit));
    await quiet();
    expect(log).toEqual(['complete']);
    expect(() => conversation.apply(init())).toThrow(JournalFailedError);
  });
});
