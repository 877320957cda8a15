/**
 * What neither the scenarios nor the invariants look at: what a fold refuses and
 * with which words, what its steps hold and what they leave out, and where an
 * action that changes nothing must not look like one that fails.
 */
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { ResponseEvent_StreamFinishedSchema, ResponseEventSchema } from '../../proto/index.js';
import { createFold, type FoldInput } from '../../src/conversation/index.js';
import { ConversationNames } from '../../src/conversation/names.js';
import {
  actions,
  add,
  append,
  begin,
  begun,
  cancel,
  commit,
  done,
  eof,
  Folding,
  failing,
  init,
  rollback,
  said,
  split,
  task,
  update,
} from './events.js';

const refusal = (what: string, expected: string) => `invalid ${what}: expected ${expected}, found `;

describe('a fold refuses, and says what it expected', () => {
  test.each([-1, 0.5, Number.NaN])('a bound that is none: %s', (maxDiagnostics) => {
    expect(() => createFold({ maxDiagnostics })).toThrow(refusal('maxDiagnostics', 'an integer from 0'));
  });

  test('streams that are not open, or in use, or have not ended', () => {
    const { fold } = new Folding();
    const { initial } = fold;
    expect(() => fold.take(initial, init(), 1)).toThrow(refusal('stream', 'the number of a stream that is open'));
    for (const stream of [0, -1, 0.5]) {
      expect(() => fold.open(initial, stream)).toThrow(refusal('stream', 'an integer from 1 that is not in use'));
    }
    const opened = fold.open(initial, 1);
    expect(() => fold.open(opened, 1)).toThrow(refusal('stream', 'an integer from 1 that is not in use'));
    // awaiting its init, streaming, not there, the first
    const streaming = fold.take(opened, init(), 1).state;
    for (const [state, stream] of [
      [opened, 1],
      [streaming, 1],
      [streaming, 2],
      [fold.take(initial, eof).state, 0],
    ] as const) {
      expect(() => fold.drop(state, stream)).toThrow(refusal('stream', 'a further stream that has ended'));
    }
    expect(fold.drop(fold.take(streaming, done, 1).state, 1).phaseOf(1)).toBeUndefined();
  });

  test('a state of somebody else', () => {
    const { fold } = new Folding();
    expect(() => fold.take({} as never, eof)).toThrow(refusal('state', 'a state that a fold gave'));
  });

  test('what is neither an event nor an end', () => {
    const { fold } = new Folding();
    for (const input of [undefined, null, 'eof', 1, {}]) {
      expect(() => fold.take(fold.initial, input as never)).toThrow(
        refusal('structure', 'a ResponseEvent').slice(0, 8),
      );
      expect(() => fold.take(fold.initial, input as never)).not.toThrow('reading it threw');
    }
    expect(() => fold.take(fold.initial, { end: 'over' } as never)).toThrow(
      refusal('end of the input', 'eof, error, bad_frame or cancel'),
    );
    const hostile = {
      get $typeName(): string {
        throw new TypeError('keep out');
      },
    };
    expect(() => fold.take(fold.initial, hostile as never)).toThrow(
      refusal('response event (reading it threw: keep out)', 'a ResponseEvent'),
    );
  });

  test('an event is asked for no end: what has a type name is an event', () => {
    const folding = begun();
    const strange = Object.assign(create(ResponseEventSchema), { end: 'eof' });
    folding.take(strange);
    expect([folding.codes, folding.now.phase]).toEqual([['unknown_event'], 'streaming']);
  });
});

describe('what an input says', () => {
  test.each([
    [{ end: 'error', message: 'reset' }, 'reset'],
    [{ end: 'error', message: 7 }, ''],
    [{ end: 'error' }, ''],
    [eof, ''],
    [cancel, ''],
    [done, ''],
  ] as [FoldInput, string][])('of %j', (input, message) => {
    expect(begun().take(input).change?.end?.message).toBe(message);
  });

  test('a reason of a newer schema is a message among what is unknown, whatever else is there', () => {
    const finish = (...wireTypes: number[]) => {
      const value = create(ResponseEvent_StreamFinishedSchema);
      value.$unknown = wireTypes.map((wireType, index) => ({ no: 100 + index, wireType, data: new Uint8Array([0]) }));
      const folding = begun();
      folding.take(create(ResponseEventSchema, { type: { case: 'finished', value } }));
      return [folding.now.finished?.reason, folding.now.phase];
    };
    expect(finish(0, 2)).toEqual(['', 'failed']);
    expect(finish(0)).toEqual(['done', 'finished']);
  });
});

describe('what a step gives', () => {
  test('is nothing where nothing happened', () => {
    const folding = begun();
    folding.take(done);
    const { steps, trace, received, change, state } = folding.take(eof);
    expect([steps, trace, received, change]).toEqual([[], [], undefined, undefined]);
    expect(state).toBe(folding.folded.at(-2)?.state);
  });

  test('is what the machines did, and nothing else unless one asks', () => {
    const folding = begun({}, 'm');
    expect(folding.take(actions(append('t', said('m', 'x')))).trace).toEqual([]);
    expect(folding.take(actions(begin)).trace.map(({ of }) => of)).toEqual(['transaction']);
    const told = begun({ traceActions: true }, 'm').take(actions(append('t', said('m', 'x')), begin)).steps;
    expect(told.map(({ of }) => of)).toEqual(['action', 'transaction']);
    expect(told[0]).toMatchObject({ stream: 0, index: 0, action: { action: { case: 'appendToMessageContent' } } });
  });

  test('leaves to the steps what a journal tells beside', () => {
    const folding = begun({ traceRecords: true }, 'm');
    const { steps, trace } = folding.take(actions(begin, failing, append('t', said('m', 'x')), {}), done);
    expect(steps.map(({ of }) => of)).toEqual(['stream', 'transaction']);
    expect(trace.some(({ of }) => of === 'input')).toBe(true);
    const { trace: acted } = folding.folded.at(-2) as (typeof folding.folded)[0];
    expect(acted.filter(({ of }) => of === 'acted').map((step) => ({ ...step }))).toStrictEqual([
      { of: 'acted', stream: 0, index: 0, name: 'beginTransaction', changed: false },
      { of: 'acted', stream: 0, index: 1, name: 'appendToMessageContent', changed: false, failed: 'unknown_task' },
      { of: 'acted', stream: 0, index: 2, name: 'appendToMessageContent', changed: true },
      { of: 'acted', stream: 0, index: 3, name: '', changed: false },
    ]);
  });

  test('diagnostics hold what is known of them and no more', () => {
    const folding = begun({}, 'm');
    folding.take(actions(commit), init('d'));
    const [first, second] = folding.now.diagnostics;
    expect(Object.keys(first ?? {})).toEqual(['code', 'event', 'action', 'detail']);
    expect(Object.keys(second ?? {})).toEqual(['code', 'event', 'detail']);
    folding.state = folding.fold.open(folding.state, 3);
    folding.from(3, init('c', 'r3'));
    folding.take(actions(begin));
    folding.from(3, actions(append('t', said('m', 'x'))));
    const last = folding.now.diagnostics.at(-1);
    expect(last).toEqual({
      code: 'transaction_busy',
      event: 1,
      action: 0,
      detail: 'another stream has a transaction open',
      stream: 3,
    });
  });
});

describe('what changes nothing', () => {
  test('gives the very same tasks', () => {
    const folding = begun({}, 'm');
    folding.take(actions({ updateTaskSummary: { taskId: 't', summary: 's' } }));
    const { tasks } = folding.now;
    folding.take(
      actions({ updateTaskSummary: { taskId: 't', summary: 's' } }, update('t', said('m', 'm'), 'agentOutput.text')),
    );
    expect(folding.now.tasks).toBe(tasks);
  });

  test('does not fail: under warp the rest of the event runs, and after what failed it does not', () => {
    const more = add('t', said('q', 'more'));
    const goesOn = (first: Parameters<typeof actions>[0], policies = {}) => {
      const folding = begun({ mode: 'warp', policies }, 'm');
      folding.take(actions(begin, first, more));
      return 'q' in folding.texts;
    };
    expect(goesOn({})).toBe(true);
    expect(goesOn(update('t', said('m', 'm'), 'agentOutput.text'))).toBe(true);
    expect(goesOn(failing)).toBe(false);
    expect(goesOn(begin, { nested: 'error' })).toBe(false);
    expect(goesOn(begin, { nested: 'ignore' })).toBe(true);
  });

  test('of a transaction is kept for the next one', () => {
    const folding = begun({}, 'm');
    folding.take(actions(begin, add('t', said('m2', '2')), rollback, add('t', said('m3', '3'))));
    folding.take(actions(begin, add('t', said('m4', '4')), rollback));
    expect(Object.keys(folding.texts)).toEqual(['m', 'm3']);
  });
});

describe('masks under warp', () => {
  const warp = { mode: 'warp' } as const;

  test('an update may set what a message is found by, an append may not touch its id', () => {
    const folding = begun(warp, 'm');
    folding.take(actions(update('t', said('m', 'x', { taskId: 't' }), 'taskId')));
    folding.take(actions(update('t', said('m', 'x'), 'id')));
    expect(folding.codes).toEqual([]);
    folding.take(actions(append('t', said('m', 'x'), 'id')));
    expect(folding.now.diagnostics.at(-1)).toMatchObject({
      code: 'invalid_path',
      detail: '"id" is what a message is found by',
    });
  });

  test('an append may touch its task', () => {
    const folding = begun(warp, 'm');
    folding.take(actions(append('t', said('m', '', { taskId: 'u' }), 'taskId')));
    expect(folding.codes).toEqual([]);
    const whole = begun({}, 'm');
    whole.take(actions(append('t', said('m', '', { taskId: 'u' }), 'taskId')));
    expect(whole.codes).toEqual(['invalid_path']);
  });

  test('a message that is not there is added before its paths are looked at; by the page they come first', () => {
    const inputs = actions(update('t', said('q', 'new'), 'agentOutput.text.more'));
    const folding = begun(warp, 'm');
    folding.take(inputs);
    expect([folding.texts['q'], folding.codes]).toEqual(['new', []]);
    const whole = begun({}, 'm');
    whole.take(inputs);
    expect([whole.texts['q'], whole.codes]).toEqual([undefined, ['invalid_path']]);
  });

  test('what goes on below a text is no path for anybody', () => {
    for (const options of [warp, {}]) {
      const folding = begun(options, 'm');
      folding.take(actions(update('t', said('m', 'x'), 'agentOutput.text.more')));
      expect([folding.codes, folding.texts['m']]).toEqual([['invalid_path'], 'm']);
    }
  });

  test('a name that the schema does not have is told of', () => {
    for (const options of [warp, {}]) {
      const folding = begun(options, 'm');
      folding.take(actions(update('t', said('m', 'x'), 'nobody')));
      expect(folding.now.diagnostics).toMatchObject([
        { code: 'unknown_path', detail: '"nobody" is no path of a message' },
      ]);
    }
  });
});

describe('a split', () => {
  /** A root, a child with a child of its own, and two that hold nothing that moves. */
  function grown(): Folding {
    const folding = new Folding();
    folding.take(
      init(),
      actions(task('t'), add('t', said('m1', '1')), task('left', 't'), task('s', 't'), task('u', 's'), task('z', 't')),
      actions(add('s', said('m2', '2')), add('u', said('m3', '3'))),
    );
    return folding;
  }
  const parents = ({ now }: Folding) =>
    Object.fromEntries([...now.tasks.values()].map((each) => [each.id, each.parentTaskId]));

  test('carries tasks whose messages move, with those above them, and no other', () => {
    const folding = grown();
    folding.take(actions(split('m2')));
    expect([...folding.now.tasks.keys()]).toEqual(['t', 's', 'u']);
    expect(folding.texts).toEqual({ m2: '2', m3: '3' });
    // and once more: what was left behind stays there
    folding.take(actions(split('m3')));
    expect([...folding.now.tasks.keys()]).toEqual(['t', 's', 'u']);
    expect(folding.texts).toEqual({ m3: '3' });
    expect(folding.now.conversations).toEqual(['c', 'c#2', 'c#3']);
    expect(folding.now.earlier.map(({ id }) => id)).toEqual(['c', 'c#2']);
  });

  test('a root that takes the place of the one that was carried has its children, and theirs stay', () => {
    const folding = grown();
    folding.take(actions(split('m2'), task('r')));
    expect(folding.codes).toEqual([]);
    expect(parents(folding)).toEqual({ r: '', s: 'r', u: 's' });
    expect(folding.now.rootTaskId).toBe('r');
  });

  test('it may carry what stands in the place that it takes, and nothing else that is there', () => {
    const folding = new Folding();
    folding.take(init(), actions(task('t'), task('s', 't'), add('t', said('m1', '1'), said('m2', '2'))));
    folding.take(actions(add('s', said('m3', '3')), split('m2')));
    folding.take(actions(task('r', undefined, { messages: [said('m3', '3')] })));
    expect(folding.codes).toEqual(['duplicate_task']);
    folding.take(actions(task('r', undefined, { messages: [said('m2', '2')] })));
    expect(folding.codes).toEqual(['duplicate_task']);
    expect(folding.now.rootTaskId).toBe('r');
    expect(folding.texts).toEqual({ m2: '2', m3: '3' });
  });

  test('a task is known by the content that made it, with its messages', () => {
    const folding = begun();
    const made = task('s', 't', { messages: [said('q', 'q')] });
    folding.take(actions(made, made));
    expect(folding.codes).toEqual([]);
    // and shown without them: they stand beside it, where they can change
    const { task: shown, messages } = folding.now.tasks.get('s') as NonNullable<
      ReturnType<typeof folding.now.tasks.get>
    >;
    expect([shown.messages, messages.length]).toEqual([[], 1]);
    folding.take(actions(task('s', 't')));
    expect(folding.codes).toEqual(['duplicate_task']);
  });
});

describe('names of conversations', () => {
  const none = ConversationNames.empty;

  test('are ours until an init gives one, and never one that is taken', () => {
    expect([none.current, none.isNamed, none.list]).toEqual([undefined, true, []]);
    const first = none.named('a#2');
    expect([first.current, first.isNamed, first.at(0), first.at(1)]).toEqual(['a#2', true, 'a#2', '']);
    expect(first.named('other')).toBe(first);
    const second = first.splitOff();
    expect([second.current, second.isNamed]).toEqual(['a#2#2', false]);
    const renamed = second.named('a');
    expect([renamed.list, renamed.isNamed]).toEqual([['a#2', 'a'], true]);
    // `a#2` is taken
    const third = renamed.splitOff();
    expect(third.list).toEqual(['a#2', 'a', 'a#3']);
    expect(third.splitOff().current).toBe('a#4');
  });

  test('tell an init apart', () => {
    const ids = (conversationId: string, requestId: string) => ({ conversationId, requestId });
    expect(none.compare(ids('a', '1'), undefined)).toBe('init_next');
    const before = ids('a', '1');
    const named = none.named('a');
    expect(named.compare(ids('a', '1'), before)).toBe('init_same');
    expect(named.compare(ids('a', '2'), before)).toBe('init_next');
    expect(named.compare(ids('b', '1'), before)).toBe('init_foreign');
    const ours = named.splitOff();
    expect(ours.compare(ids('a', '1'), before)).toBe('init_same');
    expect(ours.compare(ids('a', '2'), before)).toBe('init_foreign');
    expect(ours.compare(ids('b', '1'), before)).toBe('init_renames');
    expect(ours.compare(ids('b', '2'), before)).toBe('init_next');
    expect(ours.compare(ids('a#2', '2'), before)).toBe('init_next');
  });
});
