/**
 * The fold: events of a response stream, and what becomes of its input, make a
 * conversation. Pure: a state and an input give the next state, what to tell
 * subscribers, and which steps the machines took, for living actors to mirror.
 */
import { responseStreamStepper } from '../../machines/index.js';
import { InvalidInputError } from '../contract/errors.js';
import { DiagnosticLog } from './diagnostics.js';
import { type FoldInput, readInput } from './input.js';
import { ConversationNames } from './names.js';
import { type ConversationMode, type ConversationPolicies, policiesOf, transactionRules } from './policies.js';
import { type FoldParts, FoldState, nothingInterrupted, type StreamState, streamOf } from './state.js';
import { emptyTree } from './tree.js';
import { Folded, Turn } from './turn.js';

/** How to fold. */
export interface FoldOptions {
  /** Default `tolerant`. */
  readonly mode?: ConversationMode;
  /** Single policies instead of those of the mode. */
  readonly policies?: Partial<ConversationPolicies>;
  /** How many diagnostics are kept; those beyond are counted. Default 1,000. */
  readonly maxDiagnostics?: number;
  /** Give the actions that changed something as steps too, for who attaches effects to them. Default `false`. */
  readonly traceActions?: boolean;
  /** Trace all that a journal tells, too. Default `false`. @internal */
  readonly traceRecords?: boolean;
}

/** A way to fold. */
export interface Fold {
  readonly mode: ConversationMode;
  readonly policies: ConversationPolicies;
  /** A conversation of which nothing is known, with one stream, number 0. */
  readonly initial: FoldState;
  /**
   * One step.
   *
   * @param stream which stream of the conversation the input comes from; default 0
   * @throws {InvalidInputError} for an input that is neither an event nor an end, and for a stream that there is not;
   *   the state stays as it was
   */
  take(state: FoldState, input: FoldInput, stream?: number): Folded;
  /** With one more stream, awaiting its init. `stream` must be a number above 0 that is not in use. @throws {InvalidInputError} */
  open(state: FoldState, stream: number): FoldState;
  /** Without a further stream that has ended. @throws {InvalidInputError} for one that has not, and for the first */
  drop(state: FoldState, stream: number): FoldState;
}

/** Makes a fold. @throws {InvalidInputError} for an option that there is not, or a value that it cannot have */
export function createFold(options: FoldOptions = {}): Fold {
  const { mode = 'tolerant', policies: single, maxDiagnostics = 1000 } = options;
  const { traceActions = false, traceRecords = false } = options;
  if (!Number.isInteger(maxDiagnostics) || maxDiagnostics < 0) {
    throw new InvalidInputError('maxDiagnostics', 'an integer from 0', maxDiagnostics);
  }
  const policies = policiesOf(mode, single);
  const config = { mode, rules: transactionRules(mode, policies), maxDiagnostics, traceActions, traceRecords };
  return {
    mode,
    policies,
    initial: new FoldState({
      tree: emptyTree,
      levels: [],
      bases: [],
      owner: 0,
      names: ConversationNames.empty,
      diverged: false,
      log: DiagnosticLog.empty,
      first: newStream(0),
      others: new Map(),
    }),
    take(state, input, stream = 0) {
      const parts = partsOf(state);
      const own = streamOf(parts, stream);
      if (own === undefined) throw new InvalidInputError('stream', 'the number of a stream that is open', stream);
      const received = readInput(input, traceActions);
      if (own.isHalted) return new Folded(state, undefined, undefined);
      return new Turn(config, state, stream, own, received).take();
    },
    open(state, stream) {
      const parts = partsOf(state);
      if (!Number.isInteger(stream) || stream < 1 || parts.others.has(stream)) {
        throw new InvalidInputError('stream', 'an integer from 1 that is not in use', stream);
      }
      return withOthers(parts, new Map(parts.others).set(stream, newStream(parts.log.count)));
    },
    drop(state, stream) {
      const parts = partsOf(state);
      const phase = parts.others.get(stream)?.snapshot.value;
      if (phase === undefined || phase === 'awaiting_init' || phase === 'streaming') {
        throw new InvalidInputError('stream', 'a further stream that has ended', stream);
      }
      const others = new Map(parts.others);
      others.delete(stream);
      return withOthers(parts, others);
    },
  };
}

function newStream(diagnosticsBefore: number): StreamState {
  return {
    snapshot: responseStreamStepper.initial(undefined as never).snapshot,
    init: undefined,
    events: 0,
    finished: null,
    interrupted: nothingInterrupted,
    diagnosticsBefore,
    isHalted: false,
  };
}

function withOthers(parts: FoldParts, others: ReadonlyMap<number, StreamState>): FoldState {
  const { tree, levels, bases, owner, names, diverged, log, first } = parts;
  return new FoldState({ tree, levels, bases, owner, names, diverged, log, first, others });
}

function partsOf(state: unknown): FoldParts {
  if (!(state instanceof FoldState)) throw new InvalidInputError('state', 'a state that a fold gave', state);
  return state.parts;
}
