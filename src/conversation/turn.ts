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
import { type FoldParts, FoldState, nothingInterrupted, type StreamState } from './state.js';
import { type FoldStep, isFoldStep, type TracedStep } from './step.js';
import type { Tree } from './tree.js';
import { unknownFieldsIn, wordsOf } from './words.js';

/** What a step of the fold gives. */
export class Folded {
  readonly state: FoldState;
  /** Under `strict`: the diagnostic that has failed the stream. */
  readonly error: ConversationError | undefined;
  /** With `traceRecords`: {@link steps}, and what a journal tells beside, in order. @internal */
  readonly trace: readonly (FoldStep | TracedStep)[];
  readonly #turn: Turn | undefined;
  #change: ConversationChange | undefined;

  /** @internal */
  constructor(state: FoldState, turn: Turn | undefined, error: ConversationError | undefined) {
    this.state = state;
    this.error = error;
    this.trace = turn?.steps ?? noSteps;
    this.#turn = turn;
  }

  /** The steps that the machines took, and with `traceActions` the actions that changed something. */
  get steps(): readonly FoldStep[] {
    // without `traceRecords` there are no others
    const [first] = this.trace;
    return first?.of === 'input' ? this.trace.filter(isFoldStep) : (this.trace as readonly FoldStep[]);
  }

  /** What to tell subscribers; `undefined` where nothing happened: an end after the end, anything after a strict failure. */
  get change(): ConversationChange | undefined {
    this.#change ??= this.#turn?.change();
    return this.#change;
  }

  /** What was taken, as it was read; `undefined` where nothing happened. @internal */
  get received(): Received | undefined {
    return this.#turn?.received;
  }
}

/** What a turn needs to know of its fold. */
export interface TurnConfig {
  readonly mode: ConversationMode;
  readonly rules: TransactionContext;
  readonly maxDiagnostics: number;
  readonly traceActions: boolean;
  readonly traceRecords: boolean;
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
type Moving = Pick<
  Turn,
  | 'tree'
  | 'levels'
  | 'bases'
  | 'owner'
  | 'names'
  | 'diverged'
  | 'snapshot'
  | 'init'
  | 'finished'
  | 'interrupted'
  | 'diagnosticsBefore'
  | 'kind'
  | 'hasEnded'
>;

export class Turn implements Teller {
  readonly #config: TurnConfig;
  readonly #state: FoldState;
  readonly #stream: number;
  readonly #own: StreamState;
  readonly #received: Received;
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
  kind: ChangeKind = 'applied';
  hasEnded = false;
  #log: DiagnosticLog;
  /** The action at hand; `undefined` for what is about the event as a whole. */
  #action: number | undefined;
  #told: ConversationDiagnostic[] | undefined;
  #steps: (FoldStep | TracedStep)[] | undefined;
  /** What the last rollback has put back. */
  #restored: Tree | undefined;
  /** Under `strict`: how it stood before the action at hand. */
  #before: { readonly moving: Moving; readonly steps: number } | undefined;
  /** With `traceRecords`: what the action at hand came to. */
  #hasChanged = false;
  #failedWith: ConversationDiagnosticCode | undefined;

  constructor(config: TurnConfig, state: FoldState, stream: number, own: StreamState, received: Received) {
    const { parts } = state;
    this.#config = config;
    this.#state = state;
    this.#stream = stream;
    this.#own = own;
    this.#received = received;
    this.tree = parts.tree;
    this.levels = parts.levels;
    this.bases = parts.bases;
    this.owner = parts.owner;
    this.names = parts.names;
    this.diverged = parts.diverged;
    this.snapshot = own.snapshot;
    this.init = own.init;
    this.finished = own.finished;
    this.interrupted = own.interrupted;
    this.diagnosticsBefore = own.diagnosticsBefore;
    this.#log = parts.log;
  }

  get received(): Received {
    return this.#received;
  }

  get steps(): readonly (FoldStep | TracedStep)[] {
    return this.#steps ?? noSteps;
  }

  take(): Folded {
    const error = this.#config.mode === 'strict' ? this.#runStrictly() : this.#run();
    if (!countsAsEvent(this.#received) && !this.hasEnded) return new Folded(this.#state, undefined, undefined);
    return new Folded(this.#stateNow(error !== undefined), this, error);
  }

  #run(): undefined {
    this.#stepStream(typeOf(this.#received, this.names, this.init));
    return undefined;
  }

  #runStrictly(): ConversationError | undefined {
    this.#remember();
    try {
      return this.#run();
    } catch (halt) {
      if (!(halt instanceof Halt)) throw halt;
      const { moving, steps } = this.#before as { readonly moving: Moving; readonly steps: number };
      Object.assign(this, moving);
      this.#steps?.splice(steps);
      if (steps === 0) this.#traceInput(typeOf(this.#received, this.names, this.init), this.snapshot);
      this.#action = undefined;
      this.#note(halt.diagnostic);
      this.#stepStream('halted');
      return new ConversationError(halt.diagnostic);
    }
  }

  #remember(): void {
    const { tree, levels, bases, owner, names, diverged, snapshot, init, finished, interrupted } = this;
    const { diagnosticsBefore, kind, hasEnded } = this;
    const stream = { snapshot, init, finished, interrupted, diagnosticsBefore };
    const moving = { tree, levels, bases, owner, names, diverged, ...stream, kind, hasEnded };
    this.#before = { moving, steps: this.#steps?.length ?? 0 };
  }

  #stepStream(type: ResponseStreamEventType): void {
    const { snapshot, effects } = responseStreamStepper.step(this.snapshot, type);
    if (this.#config.traceRecords) this.#traceInput(type, snapshot);
    if (snapshot !== this.snapshot) {
      this.snapshot = snapshot;
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
          this.interrupted = nothingInterrupted;
          break;
        case 'nameConversation':
          this.#nameConversation();
          break;
        case 'applyActions':
          this.#applyActions();
          break;
        case 'recordFinish':
          if (this.#received.type === 'finished') this.finished = this.#received.report;
          break;
        case 'closeTransactions':
          this.#close((effect.params as { readonly as: TransactionEnd }).as);
          break;
        case 'endRequest':
          this.hasEnded = true;
          this.#weigh('ended');
          break;
      }
      if (this.#config.traceRecords && effect.type !== 'report' && effect.type !== 'applyActions') {
        this.#step({
          of: 'asked',
          stream: this.#stream,
          effect: effect.type,
          ...(effect.params as object | undefined),
        });
      }
    }
  }

  #traceInput(type: ResponseStreamEventType, after: ResponseStreamSnapshot): void {
    if (!this.#config.traceRecords) return;
    this.#step({ of: 'input', stream: this.#stream, type, from: this.snapshot.value, to: after.value });
  }

  #report(note: ResponseStreamNote): void {
    const received = this.#received;
    this.#tell(note, wordsOf(note, received), received.type === 'untyped' ? received.event : undefined);
  }

  #startRequest(): void {
    if (this.#received.type !== 'init') return;
    const { conversationId, requestId } = this.#received;
    this.init = { conversationId, requestId };
    this.finished = null;
    this.interrupted = nothingInterrupted;
    this.diagnosticsBefore = this.#log.count;
    this.#nameConversation();
  }

  #nameConversation(): void {
    if (this.#received.type === 'init') this.names = this.names.named(this.#received.conversationId);
  }

  #applyActions(): void {
    if (this.#received.type !== 'actions') return;
    const { actions } = this.#received;
    const { mode, traceRecords } = this.#config;
    for (let index = 0; index < actions.length; index++) {
      this.#action = index;
      if (mode === 'strict') this.#remember();
      const hasFailed = !this.#apply(actions[index] as ReceivedAction);
      if (traceRecords) this.#traceOutcome(actions[index] as ReceivedAction, index);
      if (hasFailed && mode === 'warp') break;
    }
    this.#action = undefined;
  }

  #traceOutcome({ type }: ReceivedAction, index: number): void {
    const name = type === 'none' ? '' : type;
    const failed = this.#failedWith === undefined ? undefined : { failed: this.#failedWith };
    this.#step({ of: 'acted', stream: this.#stream, index, name, changed: this.#hasChanged, ...failed });
    this.#hasChanged = false;
    this.#failedWith = undefined;
  }

  /** Whether the action did not fail. */
  #apply(action: ReceivedAction): boolean {
    const { rules, mode } = this.#config;
    const isOthers = this.levels.length > 0 && this.owner !== this.#stream;
    switch (action.type) {
      case 'none':
        return this.#tellOfNothing(action.action);
      case 'commitTransaction':
      case 'rollbackTransaction': {
        const how = action.type === 'commitTransaction' ? 'commit' : 'rollback';
        if (isOthers) return this.#perform(closeTransaction([], rules, how));
        return this.#move(closeTransaction(this.levels, rules, how));
      }
    }
    if (isOthers) return this.#fail(new Failed('transaction_busy', 'another stream has a transaction open'));
    switch (action.type) {
      case 'beginTransaction':
        this.owner = this.#stream;
        return this.#move(beginTransaction(this.levels, rules));
      case 'startNewConversation':
        return this.#settle(this.#split(action.from));
      default:
        return this.#settle(applyAction(this.tree, action, mode === 'warp' ? 'warp' : 'whole', this));
    }
  }

  #tellOfNothing(action: ClientAction): true {
    const numbers = unknownFieldsIn(action);
    if (numbers === undefined) this.#tell('empty_action', 'an action without a case', undefined);
    else {
      this.#tell('unknown_action', `field ${numbers}`, action);
      this.diverged = true;
    }
    return true;
  }

  #split(from: string): Outcome {
    const failed = new Failed('unknown_message', `a new conversation from message ${quoted(from)}`);
    if (this.tree.placeOf(from) === undefined) return failed;
    this.#close('split');
    if (this.#config.traceRecords)
      this.#step({ of: 'asked', stream: this.#stream, effect: 'closeTransactions', as: 'split' });
    // a doomed transaction was rolled back, and the message may have gone with it
    const at = this.tree.placeOf(from);
    if (at === undefined) return failed;
    this.names = this.names.splitOff();
    return splitOff(this.tree, from, at);
  }

  #settle(outcome: Outcome): boolean {
    if (outcome instanceof Failed) return this.#fail(outcome);
    if (outcome === this.tree) return true;
    this.tree = outcome;
    if (this.#config.traceRecords) this.#hasChanged = true;
    if (this.#config.traceActions) this.#traceAction();
    return true;
  }

  /** A failing action dooms the stream's own transaction; without one the conversation diverges. */
  #fail({ code, detail }: Failed): false {
    this.tell(code, detail);
    this.#failedWith = code;
    if (this.levels.length === 0 || this.owner !== this.#stream) this.diverged = true;
    else this.#move(failAction(this.levels, this.#config.rules));
    return false;
  }

  /** The stream's own transactions end. */
  #close(end: TransactionEnd): void {
    const [base] = this.bases;
    if (base === undefined || this.owner !== this.#stream) return;
    this.#move(endTransactions(this.levels, this.#config.rules, end));
    if (end === 'host_cancel') this.interrupted = touchedMessages(base, this.tree);
  }

  #move(stepped: LevelsStepped): boolean {
    this.levels = stepped.levels;
    for (const { level, type, snapshot } of stepped.steps) {
      this.#step({ of: 'transaction', stream: this.#stream, level, type, snapshot });
    }
    return this.#perform(stepped);
  }

  /** Does what the levels ask for. Gives whether no Begin was refused by it. */
  #perform({ asked }: LevelsStepped): boolean {
    let succeeded = true;
    for (const effect of asked) {
      switch (effect.type) {
        case 'report':
          this.tell(effect.note, wordsOf(effect.note, this.#received));
          if (effect.note === 'doomed_commit') this.diverged = true;
          break;
        case 'opened':
          this.bases = [...this.bases, this.tree];
          this.#weigh('begun');
          break;
        case 'refuseBegin':
          succeeded = false;
          this.#failedWith = 'nested_begin';
          break;
        case 'keep':
          this.bases = this.bases.slice(0, effect.level);
          this.#weigh('committed');
          break;
        case 'restore':
          this.tree = this.bases[effect.level] as Tree;
          this.#restored = this.tree;
          this.bases = this.bases.slice(0, effect.level);
          this.#weigh('rolled_back');
          break;
      }
    }
    return succeeded;
  }

  #weigh(kind: ChangeKind): void {
    if (weights[kind] > weights[this.kind]) this.kind = kind;
  }

  #step(step: FoldStep | TracedStep): void {
    if (this.#steps === undefined) this.#steps = [step];
    else this.#steps.push(step);
  }

  #traceAction(): void {
    if (this.#received.type !== 'actions' || this.#action === undefined) return;
    const action = this.#received.sources[this.#action] as ClientAction;
    const state = this.#stateNow(false);
    const index = this.#action;
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
    if (this.#config.traceRecords) this.#step({ of: 'told', stream: this.#stream, code: diagnostic.code });
    if (this.#told === undefined) this.#told = [diagnostic];
    else this.#told.push(diagnostic);
  }

  #stateNow(isHalted: boolean): FoldState {
    const { tree, levels, bases, owner, names, diverged } = this;
    const { snapshot, init, finished, interrupted, diagnosticsBefore } = this;
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

  /** What to tell subscribers of it. */
  change(): ConversationChange {
    const { kind, hasEnded, tree } = this;
    const told = this.#told === undefined ? noDiagnostics : Object.freeze(this.#told);
    const end = hasEnded ? this.#end() : undefined;
    const before = this.#state.parts.tree;
    return new ConversationChange(this.#own.events, kind, told, end, before, tree, this.#restored);
  }

  #end(): RequestEnd {
    const { snapshot, names, init, finished, interrupted, diagnosticsBefore, tree } = this;
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
