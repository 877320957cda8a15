/**
 * One input on its way into a state.
 *
 * Invariants kept here:
 *
 * F1. The machines decide: what an event is for its stream, whether a
 *     transaction keeps or restores, what is told of it. A turn holds the trees
 *     that they speak of, and applies actions.
 * F2. An input was read whole before anything of it is applied, and applying
 *     never throws: an event that cannot be read leaves no trace (C12).
 * F3. An action applies whole or changes nothing (C3), and after a failing one
 *     the rest of its event still runs, but for `warp`.
 * F4. While a transaction is open nobody but its own stream changes the
 *     conversation: else a rollback would take back what it did not do, or not
 *     give back the very same object (C1, C2).
 * F5. Under `strict` the first diagnostic ends the stream, and what the action
 *     did that it is about is undone, steps included.
 */
import {
  beginTransaction,
  closeTransaction,
  endTransactions,
  failAction,
  type LevelStep,
  type LevelsStepped,
  type ResponseStreamEventType,
  type ResponseStreamNote,
  type ResponseStreamSnapshot,
  responseStreamStepper,
  type TransactionContext,
  type TransactionEnd,
} from '../../machines/index.js';
import type { ClientAction, ResponseEvent } from '../../proto/index.js';
import { ConversationError } from '../contract/errors.js';
import { Failed, type Outcome, type Teller } from './actions/outcome.js';
import { splitOff } from './actions/split.js';
import { applyAction } from './apply.js';
import { type ChangeKind, ConversationChange, touchedMessages } from './change.js';
import {
  type ConversationDiagnostic,
  type ConversationDiagnosticCode,
  type DiagnosticLog,
  quoted,
} from './diagnostics.js';
import { countsAsEvent, type Received, typeOf } from './input.js';
import type { ConversationNames } from './names.js';
import type { ConversationMode } from './policies.js';
import type { ReceivedAction } from './received.js';
import { type FinalPhase, RequestEnd } from './request-end.js';
import { type ConversationState, type FoldParts, FoldState, nothingInterrupted, type StreamState } from './state.js';
import type { Tree } from './tree.js';
import { unknownFieldsIn, wordsOf } from './words.js';

/** A step of a machine, or an action that changed something, in the order in which they happened. */
export type FoldStep =
  | {
      readonly of: 'stream';
      readonly stream: number;
      readonly type: ResponseStreamEventType;
      readonly snapshot: ResponseStreamSnapshot;
    }
  /** `type` is `undefined` for the first snapshot of a level. */
  | ({ readonly of: 'transaction'; readonly stream: number } & LevelStep)
  | {
      readonly of: 'action';
      readonly stream: number;
      /** Its place in the event, from 0. */
      readonly index: number;
      /** As it was received. */
      readonly action: ClientAction;
      /** The conversation right after it. */
      readonly state: () => ConversationState;
    };

/** What a step of the fold gives. */
export interface Folded {
  readonly state: FoldState;
  /** What to tell subscribers; `undefined` where nothing happened: an end after the end, anything after a strict failure. */
  readonly change: ConversationChange | undefined;
  /** Under `strict`: the diagnostic that has failed the stream. */
  readonly error: ConversationError | undefined;
  readonly steps: readonly FoldStep[];
}

/** What a turn needs to know of its fold. */
export interface TurnConfig {
  readonly mode: ConversationMode;
  readonly rules: TransactionContext;
  readonly maxDiagnostics: number;
  readonly traceActions: boolean;
}

export const noSteps: readonly FoldStep[] = Object.freeze([]);
const noDiagnostics: readonly ConversationDiagnostic[] = Object.freeze([]);

/** Leaves a turn at the diagnostic that fails a strict stream. */
class Halt {
  constructor(readonly diagnostic: ConversationDiagnostic) {}
}

/** How weighty a kind of change is. */
const weights: Record<ChangeKind, number> = { applied: 0, begun: 1, committed: 2, rolled_back: 3, ended: 4 };

/** What a turn moves, and a strict failure puts back. */
interface Moving {
  tree: Tree;
  levels: FoldParts['levels'];
  bases: readonly Tree[];
  owner: number;
  names: ConversationNames;
  diverged: boolean;
  snapshot: ResponseStreamSnapshot;
  init: StreamState['init'];
  finished: StreamState['finished'];
  interrupted: readonly string[];
  diagnosticsBefore: number;
  kind: ChangeKind;
  hasEnded: boolean;
}

export class Turn implements Teller {
  readonly #config: TurnConfig;
  readonly #state: FoldState;
  readonly #stream: number;
  readonly #own: StreamState;
  readonly #received: Received;
  #now: Moving;
  #log: DiagnosticLog;
  /** The action at hand; `undefined` for what is about the event as a whole. */
  #action: number | undefined;
  #told: ConversationDiagnostic[] | undefined;
  #steps: FoldStep[] | undefined;
  /** What the last rollback has put back. */
  #restored: Tree | undefined;
  /** Under `strict`: how it stood before the action at hand. */
  #before: { readonly now: Moving; readonly steps: number } | undefined;

  constructor(config: TurnConfig, state: FoldState, stream: number, own: StreamState, received: Received) {
    const { tree, levels, bases, owner, names, diverged, log } = state.parts;
    const { snapshot, init, finished, interrupted, diagnosticsBefore } = own;
    this.#config = config;
    this.#state = state;
    this.#stream = stream;
    this.#own = own;
    this.#received = received;
    this.#log = log;
    this.#now = {
      tree,
      levels,
      bases,
      owner,
      names,
      diverged,
      snapshot,
      init,
      finished,
      interrupted,
      diagnosticsBefore,
      kind: 'applied',
      hasEnded: false,
    };
  }

  take(): Folded {
    const error = this.#config.mode === 'strict' ? this.#runStrictly() : this.#run();
    if (!countsAsEvent(this.#received) && !this.#now.hasEnded) {
      return { state: this.#state, change: undefined, error: undefined, steps: noSteps };
    }
    const state = this.#stateNow(error !== undefined);
    return { state, change: this.#change(), error, steps: this.#steps ?? noSteps };
  }

  #run(): undefined {
    this.#stepStream(typeOf(this.#received, this.#now.names, this.#now.init));
    return undefined;
  }

  #runStrictly(): ConversationError | undefined {
    this.#remember();
    try {
      return this.#run();
    } catch (halt) {
      if (!(halt instanceof Halt)) throw halt;
      const { now, steps } = this.#before as { readonly now: Moving; readonly steps: number };
      this.#now = now;
      this.#steps?.splice(steps);
      this.#action = undefined;
      this.#note(halt.diagnostic);
      this.#stepStream('halted');
      return new ConversationError(halt.diagnostic);
    }
  }

  #remember(): void {
    this.#before = { now: { ...this.#now }, steps: this.#steps?.length ?? 0 };
  }

  #stepStream(type: ResponseStreamEventType): void {
    const now = this.#now;
    const { snapshot, effects } = responseStreamStepper.step(now.snapshot, type);
    if (snapshot !== now.snapshot) {
      now.snapshot = snapshot;
      this.#step({ of: 'stream', stream: this.#stream, type, snapshot });
    }
    for (const effect of effects) {
      switch (effect.type) {
        case 'report':
          this.#report((effect.params as { readonly note: ResponseStreamNote }).note);
          break;
        case 'startRequest':
          this.#startRequest();
          break;
        case 'resumeRequest':
          now.interrupted = nothingInterrupted;
          break;
        case 'nameConversation':
          this.#nameConversation();
          break;
        case 'applyActions':
          this.#applyActions();
          break;
        case 'recordFinish':
          if (this.#received.type === 'finished') now.finished = this.#received.report;
          break;
        case 'closeTransactions':
          this.#close((effect.params as { readonly as: TransactionEnd }).as);
          break;
        case 'endRequest':
          now.hasEnded = true;
          this.#weigh('ended');
          break;
      }
    }
  }

  #report(note: ResponseStreamNote): void {
    const received = this.#received;
    this.#tell(note, wordsOf(note, received), received.type === 'untyped' ? received.event : undefined);
  }

  #startRequest(): void {
    if (this.#received.type !== 'init') return;
    const { conversationId, requestId } = this.#received;
    this.#now.init = { conversationId, requestId };
    this.#now.finished = null;
    this.#now.interrupted = nothingInterrupted;
    this.#now.diagnosticsBefore = this.#log.count;
    this.#nameConversation();
  }

  #nameConversation(): void {
    if (this.#received.type === 'init') this.#now.names = this.#now.names.named(this.#received.conversationId);
  }

  #applyActions(): void {
    if (this.#received.type !== 'actions') return;
    const { actions, sources } = this.#received;
    const { mode, traceActions } = this.#config;
    for (let index = 0; index < actions.length; index++) {
      this.#action = index;
      if (mode === 'strict') this.#remember();
      const before = this.#now.tree;
      const hasFailed = !this.#apply(actions[index] as ReceivedAction);
      if (traceActions && this.#now.tree !== before) this.#traceAction(index, sources[index] as ClientAction);
      if (hasFailed && mode === 'warp') break;
    }
    this.#action = undefined;
  }

  /** Whether the action did not fail. */
  #apply(action: ReceivedAction): boolean {
    const now = this.#now;
    const { rules, mode } = this.#config;
    const isOthers = now.levels.length > 0 && now.owner !== this.#stream;
    switch (action.type) {
      case 'none':
        return this.#tellOfNothing(action.action);
      case 'commitTransaction':
      case 'rollbackTransaction': {
        const how = action.type === 'commitTransaction' ? 'commit' : 'rollback';
        if (isOthers) return this.#perform(closeTransaction([], rules, how));
        return this.#move(closeTransaction(now.levels, rules, how));
      }
    }
    if (isOthers) return this.#fail(new Failed('transaction_busy', 'another stream has a transaction open'));
    switch (action.type) {
      case 'beginTransaction':
        now.owner = this.#stream;
        return this.#move(beginTransaction(now.levels, rules));
      case 'startNewConversation':
        return this.#settle(this.#split(action.from));
      default:
        return this.#settle(applyAction(now.tree, action, mode === 'warp' ? 'warp' : 'whole', this));
    }
  }

  #tellOfNothing(action: ClientAction): true {
    const numbers = unknownFieldsIn(action);
    if (numbers === undefined) this.#tell('empty_action', 'an action without a case', undefined);
    else {
      this.#tell('unknown_action', `field ${numbers}`, action);
      this.#now.diverged = true;
    }
    return true;
  }

  #split(from: string): Outcome {
    const now = this.#now;
    const failed = new Failed('unknown_message', `a new conversation from message ${quoted(from)}`);
    if (now.tree.placeOf(from) === undefined) return failed;
    this.#close('split');
    // a doomed transaction was rolled back, and the message may have gone with it
    const at = now.tree.placeOf(from);
    if (at === undefined) return failed;
    now.names = now.names.splitOff();
    return splitOff(now.tree, from, at);
  }

  #settle(outcome: Outcome): boolean {
    if (outcome instanceof Failed) return this.#fail(outcome);
    this.#now.tree = outcome;
    return true;
  }

  /** A failing action dooms the stream's own transaction; without one the conversation diverges. */
  #fail({ code, detail }: Failed): false {
    this.tell(code, detail);
    const now = this.#now;
    if (now.levels.length === 0 || now.owner !== this.#stream) now.diverged = true;
    else this.#move(failAction(now.levels, this.#config.rules));
    return false;
  }

  /** The stream's own transactions end. */
  #close(end: TransactionEnd): void {
    const now = this.#now;
    const [base] = now.bases;
    if (base === undefined || now.owner !== this.#stream) return;
    this.#move(endTransactions(now.levels, this.#config.rules, end));
    if (end === 'host_cancel') now.interrupted = touchedMessages(base, now.tree);
  }

  #move(stepped: LevelsStepped): boolean {
    this.#now.levels = stepped.levels;
    for (const { level, type, snapshot } of stepped.steps) {
      this.#step({ of: 'transaction', stream: this.#stream, level, type, snapshot });
    }
    return this.#perform(stepped);
  }

  /** Does what the levels ask for. Gives whether no Begin was refused by it. */
  #perform({ asked }: LevelsStepped): boolean {
    const now = this.#now;
    let succeeded = true;
    for (const effect of asked) {
      switch (effect.type) {
        case 'report':
          this.tell(effect.note, wordsOf(effect.note, this.#received));
          if (effect.note === 'doomed_commit') now.diverged = true;
          break;
        case 'opened':
          now.bases = [...now.bases, now.tree];
          this.#weigh('begun');
          break;
        case 'refuseBegin':
          succeeded = false;
          break;
        case 'keep':
          now.bases = now.bases.slice(0, effect.level);
          this.#weigh('committed');
          break;
        case 'restore':
          now.tree = now.bases[effect.level] as Tree;
          this.#restored = now.tree;
          now.bases = now.bases.slice(0, effect.level);
          this.#weigh('rolled_back');
          break;
      }
    }
    return succeeded;
  }

  #weigh(kind: ChangeKind): void {
    if (weights[kind] > weights[this.#now.kind]) this.#now.kind = kind;
  }

  #step(step: FoldStep): void {
    if (this.#steps === undefined) this.#steps = [step];
    else this.#steps.push(step);
  }

  #traceAction(index: number, action: ClientAction): void {
    const state = this.#stateNow(false);
    this.#step({ of: 'action', stream: this.#stream, index, action, state: () => state.conversation });
  }

  tell(code: ConversationDiagnosticCode, detail: string): void {
    this.#tell(code, detail, undefined);
  }

  #tell(code: ConversationDiagnosticCode, detail: string, received: ClientAction | ResponseEvent | undefined): void {
    const diagnostic: ConversationDiagnostic = Object.freeze({
      code,
      event: this.#own.events,
      ...(this.#action === undefined ? {} : { action: this.#action }),
      detail,
      ...(this.#stream === 0 ? {} : { stream: this.#stream }),
      ...(received === undefined ? {} : { received }),
    });
    if (this.#config.mode === 'strict') throw new Halt(diagnostic);
    this.#note(diagnostic);
  }

  #note(diagnostic: ConversationDiagnostic): void {
    this.#log = this.#log.with(diagnostic, this.#config.maxDiagnostics);
    if (this.#told === undefined) this.#told = [diagnostic];
    else this.#told.push(diagnostic);
  }

  #stateNow(isHalted: boolean): FoldState {
    const { tree, levels, bases, owner, names, diverged } = this.#now;
    const { snapshot, init, finished, interrupted, diagnosticsBefore } = this.#now;
    const log = this.#log;
    const events = this.#own.events + (countsAsEvent(this.#received) ? 1 : 0);
    const own = { snapshot, init, events, finished, interrupted, diagnosticsBefore, isHalted };
    const { first, others } = this.#state.parts;
    if (this.#stream === 0) {
      return new FoldState({ tree, levels, bases, owner, names, diverged, log, first: own, others });
    }
    const further = new Map(others).set(this.#stream, own);
    return new FoldState({ tree, levels, bases, owner, names, diverged, log, first, others: further });
  }

  #change(): ConversationChange {
    const { kind, hasEnded, tree } = this.#now;
    const told = this.#told === undefined ? noDiagnostics : Object.freeze(this.#told);
    const end = hasEnded ? this.#end() : undefined;
    const before = this.#state.parts.tree;
    return new ConversationChange(this.#own.events, kind, told, end, before, tree, this.#restored);
  }

  #end(): RequestEnd {
    const { snapshot, names, init, finished, interrupted, diagnosticsBefore, tree } = this.#now;
    const since = this.#log.list.slice(diagnosticsBefore);
    const facts = {
      phase: snapshot.value as FinalPhase,
      conversationId: names.current ?? '',
      requestId: init?.requestId ?? '',
      finished,
      message: this.#received.type === 'end' ? this.#received.message : '',
      interrupted,
      diagnostics: Object.freeze(since.filter(({ stream = 0 }) => stream === this.#stream)),
    };
    return new RequestEnd(facts, tree);
  }
}
