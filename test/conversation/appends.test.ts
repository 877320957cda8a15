/** C9 by counting: what an append, a Begin, a Commit and a Rollback copy is the same after ten messages and after a hundred thousand. */
import { afterEach, describe, expect, test } from 'vitest';
import { createFold, type FoldState } from '../../src/conversation/index.js';
import { acted } from '../../src/testing/arbitraries/response-streams/events.js';

const fold = createFold();
const root = { case: 'createTask', value: { task: { id: 't' } } } as const;
const started = fold.take(fold.initial, {
  $typeName: 'warp.multi_agent.v1.ResponseEvent',
  type: {
    case: 'init',
    value: { $typeName: 'warp.multi_agent.v1.ResponseEvent.StreamInit', conversationId: 'c', requestId: 'r' },
  },
}).state;

/** A conversation with so many messages, in batches so that making it is no work. */
function withHistory(count: number): FoldState {
  let { state } = fold.take(started, acted(root));
  for (let from = 0; from < count; from += 1000) {
    const messages = Array.from({ length: Math.min(1000, count - from) }, (_, at) => ({
      id: `m${from + at}`,
      message: { case: 'agentOutput', value: { text: 'x' } } as const,
    }));
    ({ state } = fold.take(state, acted({ case: 'addMessagesToTask', value: { taskId: 't', messages } })));
  }
  return state;
}

const append = (id: string, text = 'y') =>
  acted({
    case: 'appendToMessageContent',
    value: {
      taskId: 't',
      message: { id, message: { case: 'agentOutput', value: { text } } },
      mask: { paths: ['agent_output.text'] },
    },
  });
const add = acted({ case: 'addMessagesToTask', value: { taskId: 't', messages: [{ id: 'new' }] } });
const begin = acted({ case: 'beginTransaction', value: {} });
const commit = acted({ case: 'commitTransaction', value: {} });
const rollback = acted({ case: 'rollbackTransaction', value: {} });

const { slice, concat, map, filter } = Array.prototype;
const iterate = Array.prototype[Symbol.iterator];
afterEach(() => Object.assign(Array.prototype, { slice, concat, map, filter, [Symbol.iterator]: iterate }));

/** How many elements are walked over or copied by the methods that walk and copy. */
function elementsTouched(act: () => void): number {
  let touched = 0;
  const counted = <Method extends (this: unknown[], ...given: never[]) => unknown>(method: Method) =>
    function (this: unknown[], ...given: Parameters<Method>) {
      touched += this.length;
      return method.apply(this, given);
    };
  Object.assign(Array.prototype, {
    slice: counted(slice as never),
    concat: counted(concat as never),
    map: counted(map as never),
    filter: counted(filter as never),
    [Symbol.iterator]: counted(iterate as never),
  });
  try {
    act();
  } finally {
    Object.assign(Array.prototype, { slice, concat, map, filter, [Symbol.iterator]: iterate });
  }
  return touched;
}

describe('C9: after any history', () => {
  const few = withHistory(10);
  const many = withHistory(100_000);
  const transaction = (state: FoldState, end: typeof commit) => {
    let inside = fold.take(state, begin).state;
    inside = fold.take(inside, append('m5')).state;
    fold.take(inside, end);
  };

  test.each([
    ['an append to an early message', (state: FoldState) => fold.take(state, append('m5'))],
    ['a message more', (state: FoldState) => fold.take(state, add)],
    ['a transaction that is committed', (state: FoldState) => transaction(state, commit)],
    ['one that is rolled back', (state: FoldState) => transaction(state, rollback)],
    [
      'what subscribers are told',
      (state: FoldState) => expect(fold.take(state, append('m5')).change?.messages).toHaveLength(1),
    ],
  ])('%s copies one path, never the history', (_, act) => {
    const [small, large] = [few, many].map((state) => elementsTouched(() => act(state)));
    expect(small).toBeGreaterThan(0);
    // a path is a few nodes of at most 32, and what is told walks down it twice
    expect(large).toBeLessThan(800);
  });

  test('begin, commit and rollback touch nothing at all of the conversation', () => {
    const begun = fold.take(many, begin).state;
    expect(begun.parts.tree).toBe(many.parts.tree);
    const inside = fold.take(begun, append('m5')).state;
    expect(fold.take(inside, commit).state.parts.tree).toBe(inside.parts.tree);
    expect(fold.take(inside, rollback).state.parts.tree).toBe(many.parts.tree);
    const touched = (state: FoldState, input: typeof begin) => elementsTouched(() => fold.take(state, input));
    expect(touched(many, begin)).toBeLessThanOrEqual(touched(few, begin));
  });

  test('an append makes one leaf of the list anew and shares the others', () => {
    const after = fold.take(many, append('m50000')).state;
    const leaves = (state: FoldState) => [...(state.parts.tree.taskAt(0).messages.leaves() ?? [])];
    const before = new Set(leaves(many));
    expect(leaves(after).filter((leaf) => !before.has(leaf))).toHaveLength(1);
  });

  test('a delta is joined, not copied: a text that has grown long costs what a short one costs', () => {
    let state = few;
    for (let at = 0; at < 2000; at++) ({ state } = fold.take(state, append('m5', 'x'.repeat(100))));
    const [short, long] = [few, state].map((each) => elementsTouched(() => fold.take(each, append('m5'))));
    expect(long).toBe(short);
  });
});
