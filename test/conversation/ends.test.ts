/**
 * Every end against every mode and every policy that it reads, for a
 * transaction that is open and one that is doomed: what stays, what is told,
 * and where the phase stands (conversation.md §2, §3, §9).
 */
import { describe, expect, test } from 'vitest';
import type { ConversationMode, ConversationPolicies, FoldInput } from '../../src/conversation/index.js';
import {
  actions,
  add,
  badFrame,
  begin,
  cancel,
  done,
  eof,
  error,
  event,
  Folding,
  failed,
  failing,
  init,
  said,
  split,
  task,
} from './events.js';

interface End {
  readonly name: string;
  readonly input: FoldInput;
  readonly phase: string;
  /** What is told of the end itself. */
  readonly told: readonly string[];
  /** Whether it counts as a commit, or which policy decides. */
  readonly by: 'commit' | 'onFailure' | 'onCancel';
}

const ends: readonly End[] = [
  { name: 'done', input: done, phase: 'finished', told: ['unclosed_transaction'], by: 'commit' },
  {
    name: 'no reason',
    input: event({ finished: {} }),
    phase: 'finished',
    told: ['unclosed_transaction'],
    by: 'commit',
  },
  { name: 'a failure', input: failed, phase: 'failed', told: [], by: 'onFailure' },
  { name: 'end of input', input: eof, phase: 'truncated', told: [], by: 'onFailure' },
  { name: 'transport error', input: error, phase: 'truncated', told: [], by: 'onFailure' },
  { name: 'bad frame', input: badFrame, phase: 'truncated', told: ['bad_frame'], by: 'onFailure' },
  { name: 'host cancel', input: cancel, phase: 'cancelled', told: [], by: 'onCancel' },
  { name: 'split', input: actions(split('m0')), phase: 'streaming', told: ['split_in_transaction'], by: 'commit' },
];

type Choice = Pick<ConversationPolicies, 'onDoomedCommit' | 'onFailure' | 'onCancel'>;
const sides = ['rollback', 'commit'] as const;
const choices: Choice[] = sides.flatMap((onDoomedCommit) =>
  sides.flatMap((onFailure) => sides.map((onCancel) => ({ onDoomedCommit, onFailure, onCancel }))),
);

function open(mode: ConversationMode, policies: Partial<ConversationPolicies>, isDoomed: boolean): Folding {
  const folding = new Folding({ mode, policies });
  folding.take(
    init(),
    actions(task('t'), add('t', said('m0', 'before'))),
    actions(begin, add('t', said('m', 'inside'))),
  );
  if (isDoomed) folding.take(actions(failing));
  return folding;
}

describe('tolerant', () => {
  for (const end of ends) {
    for (const policies of choices) {
      for (const isDoomed of [false, true]) {
        const name = `${end.name}, ${isDoomed ? 'doomed' : 'sound'}, ${Object.values(policies).join(' ')}`;
        test(name, () => {
          const folding = open('tolerant', policies, isDoomed);
          const before = folding.codes;
          folding.take(end.input);
          const isDoomedCommit = end.by === 'commit' && isDoomed;
          const kept = isDoomedCommit ? policies.onDoomedCommit : end.by === 'commit' ? 'commit' : policies[end.by];
          expect(folding.now.transaction).toBe('none');
          expect(folding.now.phase).toBe(end.phase);
          const held = { m0: 'before' };
          expect(folding.texts).toEqual(kept === 'commit' ? { ...held, m: 'inside' } : held);
          expect(folding.codes.slice(before.length)).toEqual([
            ...end.told,
            ...(isDoomedCommit ? ['doomed_commit'] : []),
          ]);
          expect(folding.now.diverged).toBe(isDoomedCommit);
          expect(folding.now.interrupted).toEqual(end.by === 'onCancel' && kept === 'commit' ? ['m'] : []);
        });
      }
    }
  }
});

describe('warp', () => {
  test.each(ends)('$name commits, doom or not, and tells of no doom', (end) => {
    for (const isDoomed of [false, true]) {
      for (const onDoomedCommit of sides) {
        const folding = open('warp', { onDoomedCommit }, isDoomed);
        const before = folding.codes;
        folding.take(end.input);
        expect(folding.now.transaction).toBe('none');
        expect(folding.texts).toEqual({ m0: 'before', m: 'inside' });
        expect(folding.codes.slice(before.length)).toEqual(end.told);
      }
    }
  });
});

describe('strict', () => {
  test.each(ends.filter(({ told }) => told.length > 0))(
    '$name is told of, so it fails the stream',
    ({ input, told }) => {
      for (const onFailure of sides) {
        const folding = open('strict', { onFailure }, false);
        const { error: thrown } = folding.take(input);
        expect(thrown?.diagnostic.code).toBe(told[0]);
        expect(folding.codes).toEqual([told[0]]);
        expect(folding.now.phase).toBe('failed');
        expect(folding.now.transaction).toBe('none');
        expect(folding.texts).toEqual(onFailure === 'commit' ? { m0: 'before', m: 'inside' } : { m0: 'before' });
        // nothing is read after it
        expect(folding.take(init('c', 'r2'), actions(task('s', 't'))).change).toBeUndefined();
        expect(folding.codes).toEqual([told[0]]);
        expect(folding.now.phase).toBe('failed');
      }
    },
  );

  test.each(ends.filter(({ told }) => told.length === 0))('$name goes as in tolerant', ({ input, phase }) => {
    const folding = open('strict', {}, false);
    expect(folding.take(input).error).toBeUndefined();
    expect(folding.now.phase).toBe(phase);
  });
});

describe('after an end', () => {
  test.each(ends.filter(({ phase }) => phase !== 'streaming'))(
    '$name: whatever ends the input then is nothing',
    ({ input }) => {
      const folding = open('tolerant', {}, false);
      folding.take(input);
      const { state } = folding;
      for (const late of [eof, error, cancel]) {
        const { change, state: next } = folding.take(late);
        expect(change).toBeUndefined();
        expect(next).toBe(state);
      }
      folding.take(badFrame);
      expect(folding.now.phase).toBe(state.conversation.phase);
      expect(folding.codes.at(-1)).toBe('bad_frame');
    },
  );
});
