/** What levels ask for, in full, and what they leave alone; see `levels.test.ts`. */
import { describe, expect, test } from 'vitest';
import {
  beginTransaction,
  closeTransaction,
  endTransactions,
  failAction,
  responseStreamMachine,
  type TransactionContext,
  toolInvocationMachine,
  transactionMachine,
  transactionStateOf,
} from '../../machines/index.js';

const rules: TransactionContext = {
  nested: 'savepoint',
  onDoomedCommit: 'rollback',
  onFailure: 'rollback',
  onCancel: 'commit',
  dooms: true,
};

describe('levels', () => {
  test('report under this name, whatever it is about', () => {
    expect(closeTransaction([], rules, 'commit').asked).toEqual([{ type: 'report', note: 'commit_without_begin' }]);
    expect(closeTransaction([], rules, 'rollback').asked).toEqual([{ type: 'report', note: 'rollback_without_begin' }]);
    const { levels } = beginTransaction([], rules);
    expect(beginTransaction(levels, rules).asked).toEqual([
      { type: 'report', note: 'nested_begin' },
      { type: 'opened', level: 1 },
    ]);
    expect(beginTransaction(levels, { ...rules, nested: 'error' }).levels).toHaveLength(2);
    const refusing = beginTransaction([], { ...rules, nested: 'error' }).levels;
    expect(beginTransaction(refusing, rules).asked).toEqual([
      { type: 'report', note: 'nested_begin' },
      { type: 'refuseBegin' },
    ]);
  });

  test('L1: those that are handed in stay as they were', () => {
    const outer = beginTransaction([], rules).levels;
    const both = beginTransaction(outer, rules).levels;
    expect([outer.length, both.length]).toEqual([1, 2]);
    const [top] = [...both].reverse();
    for (const step of [
      () => failAction(both, rules),
      () => closeTransaction(both, rules, 'rollback'),
      () => endTransactions(both, rules, 'finish_done'),
      () => beginTransaction(both, rules),
    ]) {
      expect(step().levels).not.toBe(both);
      expect([both.length, both.at(-1)]).toEqual([2, top]);
    }
  });

  test('are shown as the top one stands, and as none where there is none', () => {
    expect(transactionStateOf([])).toBe('none');
    const { levels } = beginTransaction([], rules);
    expect(transactionStateOf(levels)).toBe('open');
    const { levels: doomed } = failAction(levels, rules);
    expect(transactionStateOf(doomed)).toBe('doomed');
    expect(transactionStateOf(beginTransaction(doomed, rules).levels)).toBe('open');
  });
});

test('inspectors and diagrams know the machines by their ids', () => {
  const ids = [toolInvocationMachine, transactionMachine, responseStreamMachine].map(({ id }) => id);
  expect(ids).toEqual(['tool-invocation', 'transaction', 'response-stream']);
});
