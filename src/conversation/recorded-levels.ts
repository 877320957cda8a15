/**
 * How the transactions of a conversation moved, read off the records of the
 * conversation alone: what its actions were, in order, and what ended them. The
 * records of the transactions need not be there; a crash may have cut them off.
 */
import {
  beginTransaction,
  closeTransaction,
  endTransactions,
  failAction,
  type LevelsStepped,
  type TransactionContext,
  type TransactionEnd,
  type TransactionSnapshot,
} from '../../machines/index.js';
import type { RecordedEffect } from '../contract/journal.js';
import type { Numbers } from './step-recorder.js';

export class RecordedLevels {
  /** Of the transactional part as it is shown. */
  version: number;
  /** The greatest that any had. */
  lastVersion: number;
  /** How many transactions were begun. */
  lastTransaction: number;
  readonly #rules: TransactionContext;
  #levels: readonly TransactionSnapshot[] = [];
  /** The version that each open level restores, and the number of its transaction. */
  #bases: { readonly version: number; readonly transaction: number }[] = [];
  #owner = 0;

  /** `rules`: those under which transactions are opened. `start`: where the life begins. */
  constructor(rules: TransactionContext, start: Numbers) {
    this.#rules = rules;
    this.version = start.version;
    this.lastVersion = start.lastVersion;
    this.lastTransaction = start.lastTransaction;
  }

  /** Of what is committed. */
  get committedVersion(): number {
    return this.#bases[0]?.version ?? this.version;
  }

  /** The numbers of the transactions that are open, the outermost first. */
  get open(): readonly number[] {
    return this.#bases.map(({ transaction }) => transaction);
  }

  /** Takes what a record of a conversation did, in a step of this stream. */
  take(did: readonly RecordedEffect[], stream: number): void {
    for (const { effect, detail = '', version } of did) {
      const isOwn = this.#levels.length === 0 || this.#owner === stream;
      switch (effect) {
        case 'apply':
          if (isOwn) this.#applied(detail, stream);
          break;
        case 'fail':
          if (isOwn) this.#failed(detail);
          break;
        case 'closeTransactions':
          if (isOwn) this.#move(endTransactions(this.#levels, this.#rules, detail as TransactionEnd));
          break;
        default:
          continue;
      }
      this.version = version ?? this.version;
      this.lastVersion = Math.max(this.lastVersion, this.version);
    }
  }

  #applied(action: string, stream: number): void {
    switch (action) {
      case 'beginTransaction':
        this.#owner = stream;
        this.#move(beginTransaction(this.#levels, this.#rules));
        break;
      case 'commitTransaction':
        this.#move(closeTransaction(this.#levels, this.#rules, 'commit'));
        break;
      case 'rollbackTransaction':
        this.#move(closeTransaction(this.#levels, this.#rules, 'rollback'));
        break;
    }
  }

  #failed(code: string): void {
    // a Begin that was refused is the one action that fails by a note of the levels themselves
    if (code === 'nested_begin') this.#move(beginTransaction(this.#levels, this.#rules));
    else this.#move(failAction(this.#levels, this.#rules));
  }

  #move({ levels, asked }: LevelsStepped): void {
    this.#levels = levels;
    for (const effect of asked) {
      if (effect.type === 'opened') {
        this.lastTransaction++;
        this.#bases.push({ version: this.version, transaction: this.lastTransaction });
      } else if (effect.type === 'keep' || effect.type === 'restore') {
        if (effect.type === 'restore') this.version = this.#bases[effect.level]?.version ?? this.version;
        this.#bases.length = effect.level;
      }
    }
  }
}
