/**
 * What a fold goes from and comes to. {@link FoldState} is all of it, and what
 * the fold steps; {@link ConversationState} is what of it a host sees.
 *
 * Z1. States are values: a step gives another one, and those before stay as
 *     they were.
 * Z2. The transactional part is one object, `tree`, so what a rollback puts
 *     back is the very object that stood at Begin, and nothing can be left out
 *     of it (C1).
 */
import type { ResponseStreamSnapshot, StreamPhase, TransactionSnapshot } from '../../machines/index.js';
import { transactionStateOf } from '../../machines/index.js';
import type { Suggestions } from '../../proto/index.js';
import { InvalidInputError } from '../contract/errors.js';
import type { ConversationDiagnostic, ConversationDiagnosticCode, DiagnosticLog } from './diagnostics.js';
import type { FinishReport } from './finish.js';
import type { ConversationNames } from './names.js';
import type { Cut, Tree } from './tree.js';
import { type EarlierConversation, remainderOf, type TaskMap, taskMapOf } from './views.js';

/** What a host sees of a conversation: a snapshot that never changes. */
export interface ConversationState {
  /** Where the current or last request of the conversation's first stream stands. */
  readonly phase: StreamPhase;
  /** The conversation that actions go to; empty before any init. */
  readonly conversationId: string;
  /** The current or last request of the first stream; empty before any init. */
  readonly requestId: string;
  readonly transaction: 'none' | 'open' | 'doomed';
  /** The server's view of the conversation may be another one: an action failed, or was not understood. It stays so. */
  readonly diverged: boolean;
  /** In the order in which they were made. The very same object for as long as nothing of it changes. */
  readonly tasks: TaskMap;
  /** `undefined` before the first CreateTask. */
  readonly rootTaskId: string | undefined;
  readonly suggestions: Suggestions | undefined;
  /** After a cancel that kept what was shown: the messages that the open transaction had touched, in linear order. */
  readonly interrupted: readonly string[];
  /** How the current or last request finished; `null` where it did not. */
  readonly finished: FinishReport | null;
  /** Those of every stream that were kept, in order. */
  readonly diagnostics: readonly ConversationDiagnostic[];
  /** How many came beyond `maxDiagnostics`, by code. */
  readonly diagnosticsBeyond: Readonly<Partial<Record<ConversationDiagnosticCode, number>>>;
  /** The ids of all conversations that splits made of this one, in order; the last is the one that actions go to. */
  readonly conversations: readonly string[];
  /** What splits have left behind, in order. */
  readonly earlier: readonly EarlierConversation[];
  /** How many events of the first stream were read: where it stands in a journal. */
  readonly position: number;
}

/** One stream of a conversation. */
export interface StreamState {
  readonly snapshot: ResponseStreamSnapshot;
  /** The ids of the init that began the request; `undefined` before any. */
  readonly init: { readonly conversationId: string; readonly requestId: string } | undefined;
  /** How many events were read. */
  readonly events: number;
  readonly finished: FinishReport | null;
  readonly interrupted: readonly string[];
  /** How many diagnostics there were when the request began. */
  readonly diagnosticsBefore: number;
  /** Under `strict`: a diagnostic has failed it, and nothing more is read. */
  readonly isHalted: boolean;
}

/** What `interrupted` is as long as no cancel has made it something. */
export const nothingInterrupted: readonly string[] = Object.freeze([]);

/** The parts of a fold's state. */
export interface FoldParts {
  readonly tree: Tree;
  /** Open transactions, the outermost first. */
  readonly levels: readonly TransactionSnapshot[];
  /** What each of them puts back. */
  readonly bases: readonly Tree[];
  /** The stream whose transactions they are. */
  readonly owner: number;
  readonly names: ConversationNames;
  readonly diverged: boolean;
  readonly log: DiagnosticLog;
  /** The first stream, number 0. */
  readonly first: StreamState;
  /** Further streams by their numbers. */
  readonly others: ReadonlyMap<number, StreamState>;
}

/** All that a fold steps. A value: keep any of them, and step on from it. */
export class FoldState {
  /** @internal */
  readonly parts: FoldParts;
  #conversation: ConversationState | undefined;

  /** @internal */
  constructor(parts: FoldParts) {
    this.parts = parts;
  }

  /** What a host sees of it. */
  get conversation(): ConversationState {
    this.#conversation ??= conversationOf(this.parts);
    return this.#conversation;
  }

  /** Where a stream stands, by its number (0 for the first); `undefined` for one that there is not. */
  phaseOf(stream: number): StreamPhase | undefined {
    return streamOf(this.parts, stream)?.snapshot.value;
  }

  /** Whether a diagnostic under `strict` has failed a stream, so that nothing more of it is read. */
  isHalted(stream: number): boolean {
    return streamOf(this.parts, stream)?.isHalted ?? false;
  }
}

/** The stream of this number. */
export function streamOf({ first, others }: FoldParts, stream: number): StreamState | undefined {
  return stream === 0 ? first : others.get(stream);
}

const known = new WeakMap<ConversationState, FoldParts>();

/** All that stands behind what a host holds. @throws {InvalidInputError} for what is no state of ours */
export function partsOf(state: ConversationState): FoldParts {
  const parts = typeof state === 'object' && state !== null ? known.get(state) : undefined;
  if (parts === undefined) throw new InvalidInputError('conversation state', 'a state that a conversation gave', state);
  return parts;
}

/** The transactional part behind what a host holds. @throws {InvalidInputError} for what is no state of ours */
export function treeOf(state: ConversationState): Tree {
  return partsOf(state).tree;
}

function conversationOf(parts: FoldParts): ConversationState {
  const { tree, levels, names, diverged, log, first } = parts;
  const { snapshot, init, finished, interrupted, events } = first;
  const state: ConversationState = Object.freeze({
    phase: snapshot.value,
    conversationId: names.current ?? '',
    requestId: init?.requestId ?? '',
    transaction: transactionStateOf(levels),
    diverged,
    tasks: taskMapOf(tree),
    rootTaskId: tree.tasks.at(0)?.task.id,
    suggestions: tree.suggestions,
    interrupted,
    finished,
    diagnostics: log.list,
    diagnosticsBeyond: Object.freeze(Object.fromEntries(log.beyond)),
    conversations: names.list,
    earlier: earlierOf(tree, names),
    position: events,
  });
  known.set(state, parts);
  return state;
}

const noneEarlier: readonly EarlierConversation[] = Object.freeze([]);
const earlierKnown = new WeakMap<Cut, readonly EarlierConversation[]>();

function earlierOf(tree: Tree, names: ConversationNames): readonly EarlierConversation[] {
  if (tree.cut === undefined) return noneEarlier;
  const known = earlierKnown.get(tree.cut);
  if (known !== undefined) return known;
  const earlier: EarlierConversation[] = [];
  for (let at = tree; at.cut !== undefined; at = at.cut.before) {
    const { cut, ordinal } = at;
    const id = names.at(ordinal - 1);
    earlier.push(Object.freeze({ id, tasks: remainderOf(cut), suggestions: cut.before.suggestions }));
  }
  const list = Object.freeze(earlier.reverse());
  earlierKnown.set(tree.cut, list);
  return list;
}
