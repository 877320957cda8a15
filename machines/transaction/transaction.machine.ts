/**
 * The life of one transaction: from its Begin to the one of `committed` and
 * `rolled_back` that it comes to. With savepoints each level is a transaction
 * of its own; `levels.ts` moves them together.
 *
 * Invariants kept here:
 *
 * X1. Exactly one of `committed` and `rolled_back` is reached, and no
 *     transition leaves it. `keep` is asked for by the first alone, `restore`
 *     by the second alone, each once.
 * X2. Every event that ends a transaction from outside ends it, in either
 *     state of `open`: no end leaves one open (C4).
 * X3. A failing action dooms; only a rollback lifts the doom, by ending the
 *     transaction. Where `dooms` is off nothing dooms.
 * X4. A doomed transaction is committed by the policy `onDoomedCommit` alone,
 *     with `doomed_commit` told, except where the host cancels or a failure is
 *     kept by policy: then what was shown is kept, and nothing is told.
 * X5. What is told comes before what is done: reports precede `keep` and
 *     `restore`.
 */
import { setup } from 'xstate';
import type { TransactionEvent } from './transaction.events.js';

/** What the guards read, and nothing else: the policies under which the transaction was opened. */
export interface TransactionContext {
  /** What a Begin inside does. */
  readonly nested: 'ignore' | 'savepoint' | 'error';
  readonly onDoomedCommit: 'rollback' | 'commit';
  /** What a failed finish, the end of the input and a transport error do. */
  readonly onFailure: 'rollback' | 'commit';
  readonly onCancel: 'rollback' | 'commit';
  /** Whether a failing action dooms. */
  readonly dooms: boolean;
}

/** What a transaction tells of. */
export type TransactionNote = 'nested_begin' | 'doomed_commit' | 'unclosed_transaction' | 'split_in_transaction';

const performed = () => {};

const table = setup({
  types: {
    context: {} as TransactionContext,
    input: {} as TransactionContext,
    events: {} as TransactionEvent,
  },
  actions: {
    report: (_, _note: { readonly note: TransactionNote }) => {},
    /** The Begin inside opens a level. */
    openSavepoint: performed,
    /** The Begin inside counts as a failing action. */
    refuseBegin: performed,
    /** The level around this one is doomed, if there is one. */
    passDoom: performed,
    keep: performed,
    restore: performed,
  },
  guards: {
    opensSavepoints: ({ context }) => context.nested === 'savepoint',
    refusesAndDooms: ({ context }) => context.nested === 'error' && context.dooms,
    refuses: ({ context }) => context.nested === 'error',
    dooms: ({ context }) => context.dooms,
    commitsDoomed: ({ context }) => context.onDoomedCommit === 'commit',
    keepsOnFailure: ({ context }) => context.onFailure === 'commit',
    keepsOnCancel: ({ context }) => context.onCancel === 'commit',
  },
});

const told = (note: TransactionNote) => ({ type: 'report', params: { note } }) as const;

const onFailure = [
  { guard: 'keepsOnFailure', target: '#transaction.committed' },
  { target: '#transaction.rolled_back' },
] as const;

/** A commit of a doomed transaction, after what else is to be told. */
const doomedCommit = (...first: readonly ReturnType<typeof told>[]) =>
  [
    {
      guard: 'commitsDoomed',
      target: '#transaction.committed',
      actions: [...first, told('doomed_commit'), 'passDoom'],
    },
    { target: '#transaction.rolled_back', actions: [...first, told('doomed_commit')] },
  ] as const;

/** The life of one transaction, for its stepper, for actors and for diagrams. Its actions are names. */
export const transactionMachine = table.createMachine({
  id: 'transaction',
  context: ({ input }) => ({
    nested: input.nested,
    onDoomedCommit: input.onDoomedCommit,
    onFailure: input.onFailure,
    onCancel: input.onCancel,
    dooms: input.dooms,
  }),
  initial: 'open',
  states: {
    open: {
      initial: 'sound',
      on: {
        rollback: 'rolled_back',
        finish_failed: onFailure,
        input_ended: onFailure,
        host_cancel: [{ guard: 'keepsOnCancel', target: 'committed' }, { target: 'rolled_back' }],
        // provisional until the end, which is all there is to say
        action_applied: {},
      },
      states: {
        sound: {
          on: {
            begin: [
              { guard: 'opensSavepoints', actions: [told('nested_begin'), 'openSavepoint'] },
              { guard: 'refusesAndDooms', target: 'doomed', actions: [told('nested_begin'), 'refuseBegin'] },
              { guard: 'refuses', actions: [told('nested_begin'), 'refuseBegin'] },
              { actions: told('nested_begin') },
            ],
            action_failed: { guard: 'dooms', target: 'doomed' },
            doom_inherited: { guard: 'dooms', target: 'doomed' },
            commit: '#transaction.committed',
            finish_done: { target: '#transaction.committed', actions: told('unclosed_transaction') },
            split: { target: '#transaction.committed', actions: told('split_in_transaction') },
          },
        },
        doomed: {
          on: {
            begin: [
              { guard: 'opensSavepoints', actions: [told('nested_begin'), 'openSavepoint'] },
              { guard: 'refuses', actions: [told('nested_begin'), 'refuseBegin'] },
              { actions: told('nested_begin') },
            ],
            commit: doomedCommit(),
            finish_done: doomedCommit(told('unclosed_transaction')),
            split: doomedCommit(told('split_in_transaction')),
          },
        },
      },
    },
    committed: { type: 'final', entry: 'keep' },
    rolled_back: { type: 'final', entry: 'restore' },
  },
});
