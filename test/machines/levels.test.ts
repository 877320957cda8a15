/** The levels of savepoints, against a stack written down by hand (conversation.md §2, §9). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginTransaction,
  closeTransaction,
  endTransactions,
  failAction,
  type LevelsAsked,
  type LevelsStepped,
  type TransactionContext,
  type TransactionEnd,
  type TransactionSnapshot,
  transactionStateOf,
} from '../../machines/index.js';

const ends = ['finish_done', 'finish_failed', 'input_ended', 'split', 'host_cancel'] as const;
type Move = 'begin' | 'fail' | 'commit' | 'rollback' | TransactionEnd;

function step(levels: readonly TransactionSnapshot[], rules: TransactionContext, move: Move): LevelsStepped {
  if (move === 'begin') return beginTransaction(levels, rules);
  if (move === 'fail') return failAction(levels, rules);
  return move === 'commit' || move === 'rollback'
    ? closeTransaction(levels, rules, move)
    : endTransactions(levels, rules, move);
}

const said = (asked: readonly LevelsAsked[]): string[] =>
  asked.map((each) => ('note' in each ? each.note : 'level' in each ? `${each.type} ${each.level}` : each.type));

/** The same as a list of dooms, without a machine. */
class Model {
  doomed: boolean[] = [];
  told: string[] = [];
  constructor(readonly rules: TransactionContext) {}

  take(move: Move): void {
    this.told = [];
    const { nested, onFailure, onCancel } = this.rules;
    if (move === 'begin') {
      if (this.doomed.length > 0) this.told.push('nested_begin');
      if (this.doomed.length === 0 || nested === 'savepoint') {
        this.told.push(`opened ${this.doomed.length}`);
        this.doomed.push(false);
      } else if (nested === 'error') {
        this.told.push('refuseBegin');
        this.doom();
      }
    } else if (move === 'fail') this.doom();
    else if (move === 'commit' || move === 'rollback') {
      if (this.doomed.length === 0) this.told.push(`${move}_without_begin`);
      else if (move === 'commit') this.commit();
      else this.pop('restore');
    } else if (move === 'finish_done' || move === 'split') {
      if (this.doomed.length > 0) this.told.push(move === 'split' ? 'split_in_transaction' : 'unclosed_transaction');
      while (this.doomed.length > 0) this.commit();
    } else {
      const keeps = (move === 'host_cancel' ? onCancel : onFailure) === 'commit';
      while (this.doomed.length > 0) this.pop(keeps ? 'keep' : 'restore');
    }
  }

  doom(): void {
    if (this.rules.dooms && this.doomed.length > 0) this.doomed[this.doomed.length - 1] = true;
  }

  commit(): void {
    const isDoomed = this.doomed.at(-1) === true;
    if (isDoomed) this.told.push('doomed_commit');
    const keeps = !isDoomed || this.rules.onDoomedCommit === 'commit';
    this.pop(keeps ? 'keep' : 'restore');
    if (isDoomed && keeps) this.doom();
  }

  pop(how: 'keep' | 'restore'): void {
    this.doomed.pop();
    this.told.push(`${how} ${this.doomed.length}`);
  }
}

const side = fc.constantFrom('rollback' as const, 'commit' as const);
const anyRules: fc.Arbitrary<TransactionContext> = fc.record({
  nested: fc.constantFrom('ignore' as const, 'savepoint' as const, 'error' as const),
  onDoomedCommit: side,
  onFailure: side,
  onCancel: side,
  dooms: fc.boolean(),
});
const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Move>('begin', 'begin', 'fail', 'commit', 'rollback') },
  { weight: 1, arbitrary: fc.constantFrom<Move>(...ends) },
);

describe('levels', () => {
  test('are the stack that one would write by hand', () => {
    fc.assert(
      fc.property(anyRules, fc.array(anyMove, { maxLength: 20 }), (rules, moves) => {
        let levels: readonly TransactionSnapshot[] = [];
        const model = new Model(rules);
        for (const move of moves) {
          const stepped = step(levels, rules, move);
          model.take(move);
          // the doom passes before what is kept is: the same things are told, a doom is none of them
          expect(said(stepped.asked)).toEqual(model.told);
          levels = stepped.levels;
          expect(levels.map((level) => transactionStateOf([level]) === 'doomed')).toEqual(model.doomed);
          expect(levels.every(({ status }) => status === 'active')).toBe(true);
          if ((ends as readonly Move[]).includes(move)) expect(levels).toEqual([]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('their steps, taken by themselves, lead to the same levels', () => {
    fc.assert(
      fc.property(anyRules, fc.array(anyMove, { maxLength: 20 }), (rules, moves) => {
        let levels: readonly TransactionSnapshot[] = [];
        const mirror: TransactionSnapshot[] = [];
        for (const move of moves) {
          const { steps, levels: next } = step(levels, rules, move);
          for (const { level, type, snapshot } of steps) {
            if (type === undefined) expect(level).toBe(mirror.length);
            mirror[level] = snapshot;
            if (snapshot.status !== 'active') expect(mirror.pop()).toBe(snapshot);
          }
          expect(mirror).toEqual(next);
          levels = next;
        }
      }),
      { numRuns: 500 },
    );
  });
});
