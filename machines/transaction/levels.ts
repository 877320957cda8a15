/**
 * How the transactions of one conversation move together: a stack of levels,
 * the outermost first, of which only savepoints make more than one. Pure; who
 * holds what a level keeps or restores is told which level it was.
 *
 * Invariants kept here:
 *
 * L1. Every level on the stack is open, and only the top one is given what the
 *     stream says.
 * L2. An end closes every level, from the top outward (C4), and is told of once
 *     however many there are: the top one is given the end itself; the levels
 *     around it are given a commit where the end counts as one, else the same.
 * L3. The doom of a level that is committed all the same passes to the level
 *     around it, before that is given anything else.
 */
import type { TransactionEventType } from './transaction.events.js';
import type { TransactionContext, TransactionNote } from './transaction.machine.js';
import { type TransactionSnapshot, transactionStepper } from './transaction.stepper.js';

/** What ends every level from outside. */
export type TransactionEnd = 'finish_done' | 'finish_failed' | 'input_ended' | 'split' | 'host_cancel';

/** What a step of the levels asks for, in order. */
export type LevelsAsked =
  /** To tell of something. */
  | { readonly type: 'report'; readonly note: TransactionNote | 'commit_without_begin' | 'rollback_without_begin' }
  /** The level has begun: what stands now is what it restores. */
  | { readonly type: 'opened'; readonly level: number }
  /** The Begin counts as a failing action. */
  | { readonly type: 'refuseBegin' }
  /** The level has ended and what was done in it stays. */
  | { readonly type: 'keep'; readonly level: number }
  /** The level has ended: what stood at its Begin is put back. */
  | { readonly type: 'restore'; readonly level: number };

/** One step of one level; `type` is `undefined` for its first snapshot. */
export interface LevelStep {
  /** Its place in the stack, 0 for the outermost. */
  readonly level: number;
  readonly type: TransactionEventType | undefined;
  readonly snapshot: TransactionSnapshot;
}

/** What a step of the levels gives. */
export interface LevelsStepped {
  /** The levels that are open now. */
  readonly levels: readonly TransactionSnapshot[];
  readonly asked: readonly LevelsAsked[];
  /** What living actors mirror. */
  readonly steps: readonly LevelStep[];
}

class Moving {
  levels: TransactionSnapshot[];
  asked: LevelsAsked[] = none;
  steps: LevelStep[] = none;
  readonly #rules: TransactionContext;

  constructor(levels: readonly TransactionSnapshot[], rules: TransactionContext) {
    this.levels = levels.length === 0 ? none : levels.slice();
    this.#rules = rules;
  }

  ask(effect: LevelsAsked): void {
    this.asked = withOneMore(this.asked, effect);
  }

  open(): void {
    const level = this.levels.length;
    const { snapshot } = transactionStepper.initial(this.#rules);
    this.levels = withOneMore(this.levels, snapshot);
    this.steps = withOneMore(this.steps, { level, type: undefined, snapshot });
    this.ask({ type: 'opened', level });
  }

  stepTop(type: TransactionEventType): void {
    const level = this.levels.length - 1;
    const top = this.levels[level];
    if (top === undefined) return;
    const { snapshot, effects } = transactionStepper.step(top, type);
    this.steps = withOneMore(this.steps, { level, type, snapshot });
    if (snapshot.status === 'active') this.levels[level] = snapshot;
    else this.levels.pop();
    for (const effect of effects) {
      switch (effect.type) {
        case 'report':
          this.ask({ type: 'report', note: (effect.params as { readonly note: TransactionNote }).note });
          break;
        case 'openSavepoint':
          this.open();
          break;
        case 'passDoom':
          this.stepTop('doom_inherited');
          break;
        case 'refuseBegin':
          this.ask({ type: 'refuseBegin' });
          break;
        case 'keep':
          this.ask({ type: 'keep', level });
          break;
        case 'restore':
          this.ask({ type: 'restore', level });
          break;
      }
    }
  }
}

const none = Object.freeze([]) as unknown as never[];

/** There is one, mostly, and a list that is made with it takes a tenth of one that it is pushed to. */
function withOneMore<Item>(list: Item[], item: Item): Item[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

/** A Begin of the stream: opens the outermost level, or is put to the top one. `rules`: those of a level that opens. */
export function beginTransaction(levels: readonly TransactionSnapshot[], rules: TransactionContext): LevelsStepped {
  const moving = new Moving(levels, rules);
  if (levels.length === 0) moving.open();
  else moving.stepTop('begin');
  return moving;
}

/** A Commit or a Rollback of the stream; with no level open it is only told of. */
export function closeTransaction(
  levels: readonly TransactionSnapshot[],
  rules: TransactionContext,
  how: 'commit' | 'rollback',
): LevelsStepped {
  const moving = new Moving(levels, rules);
  if (levels.length === 0) moving.ask({ type: 'report', note: `${how}_without_begin` });
  else moving.stepTop(how);
  return moving;
}

/**
 * An action of the stream has failed. (One that was applied changes no level:
 * there is nothing to step.)
 */
export function failAction(levels: readonly TransactionSnapshot[], rules: TransactionContext): LevelsStepped {
  const moving = new Moving(levels, rules);
  moving.stepTop('action_failed');
  return moving;
}

/** What ends every level from outside; with none open nothing happens. */
export function endTransactions(
  levels: readonly TransactionSnapshot[],
  rules: TransactionContext,
  end: TransactionEnd,
): LevelsStepped {
  const moving = new Moving(levels, rules);
  const around = end === 'finish_done' || end === 'split' ? 'commit' : end;
  for (let type: TransactionEventType = end; moving.levels.length > 0; type = around) moving.stepTop(type);
  return moving;
}

/** What is shown of the levels: how the top one stands. */
export function transactionStateOf(levels: readonly TransactionSnapshot[]): 'none' | 'open' | 'doomed' {
  const top = levels.at(-1);
  if (top === undefined) return 'none';
  const { value } = top;
  return typeof value !== 'string' && value.open === 'doomed' ? 'doomed' : 'open';
}
