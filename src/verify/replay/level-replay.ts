/** The transactions of a conversation, stepped again by what its own records say was done in it. */
import {
  beginTransaction,
  closeTransaction,
  endTransactions,
  failAction,
  type LevelsStepped,
  type TransactionContext,
  type TransactionEnd,
  type TransactionSnapshot,
  transactionStateOf,
  transactionStepper,
} from '../../../machines/index.js';
import type { RecordedEffect } from '../../contract/journal.js';

/** What the machines do with one transaction. */
export interface LevelMove {
  readonly transaction: number;
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly did: readonly { readonly effect: string; readonly detail: string | undefined }[];
}

interface Level {
  readonly transaction: number;
  snapshot: TransactionSnapshot;
}

export class LevelReplay {
  readonly #rules: TransactionContext;
  #levels: Level[] = [];
  #owner = 0;
  #last: number;

  constructor(rules: TransactionContext, lastTransaction: number) {
    this.#rules = rules;
    this.#last = lastTransaction;
  }

  /** How the innermost transaction stands. */
  get state(): 'none' | 'open' | 'doomed' {
    return transactionStateOf(this.#snapshots);
  }

  /** What the levels told of in the last step, in order. */
  notes: readonly string[] = [];

  /** What follows for the transactions from what a conversation did in a step of this stream. */
  take(did: readonly RecordedEffect[], stream: number): readonly LevelMove[] {
    const moves: LevelMove[] = [];
    const notes: string[] = [];
    for (const { effect, detail = '' } of did) {
      const stepped = this.#stepped(effect, detail, stream);
      if (stepped === undefined) continue;
      for (const asked of stepped.asked) if (asked.type === 'report') notes.push(asked.note);
      this.#move(stepped, moves);
    }
    this.notes = notes;
    return moves;
  }

  get #snapshots(): readonly TransactionSnapshot[] {
    return this.#levels.map(({ snapshot }) => snapshot);
  }

  #stepped(effect: string, detail: string, stream: number): LevelsStepped | undefined {
    // another stream has a transaction open: to this one there is none
    const isOthers = this.#levels.length > 0 && this.#owner !== stream;
    if (isOthers && !(effect === 'apply' && isClosing(detail))) return undefined;
    const levels = isOthers ? [] : this.#snapshots;
    switch (effect) {
      case 'fail':
        return detail === 'nested_begin' ? beginTransaction(levels, this.#rules) : failAction(levels, this.#rules);
      case 'closeTransactions':
        return endTransactions(levels, this.#rules, detail as TransactionEnd);
      case 'apply':
        switch (detail) {
          case 'beginTransaction':
            this.#owner = stream;
            return beginTransaction(levels, this.#rules);
          case 'commitTransaction':
            return closeTransaction(levels, this.#rules, 'commit');
          case 'rollbackTransaction':
            return closeTransaction(levels, this.#rules, 'rollback');
        }
    }
    return undefined;
  }

  #move({ steps }: LevelsStepped, moves: LevelMove[]): void {
    for (const { level, type, snapshot } of steps) {
      const to = nameOf(snapshot);
      if (type === undefined) {
        const transaction = ++this.#last;
        this.#levels[level] = { transaction, snapshot };
        moves.push({ transaction, event: '', from: '', to, did: [] });
        continue;
      }
      const moving = this.#levels[level];
      if (moving === undefined) continue;
      const from = nameOf(moving.snapshot);
      const { effects } = transactionStepper.step(moving.snapshot, type);
      moving.snapshot = snapshot;
      if (snapshot.status !== 'active') this.#levels.length = level;
      if (from === to && effects.length === 0) continue;
      const did = effects.map((effect) => {
        const { note } = (effect.params ?? {}) as { readonly note?: string };
        return { effect: effect.type, detail: note };
      });
      moves.push({ transaction: moving.transaction, event: type, from, to, did });
    }
  }
}

function isClosing(action: string): boolean {
  return action === 'commitTransaction' || action === 'rollbackTransaction';
}

function nameOf({ value }: TransactionSnapshot): string {
  return typeof value === 'string' ? value : `open.${value.open}`;
}
