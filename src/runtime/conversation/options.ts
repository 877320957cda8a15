import type { ClientAction } from '../../../proto/index.js';
import type { Clock } from '../../contract/clock.js';
import { InvalidIdError, InvalidInputError } from '../../contract/errors.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import type { Journal } from '../../contract/journal.js';
import { platformClock } from '../../contract/platform-clock.js';
import {
  type ConversationMode,
  type ConversationPolicies,
  type ConversationState,
  createFold,
  type Fold,
  FoldState,
  type RecoveredConversation,
  restoreCommitted,
} from '../../conversation/index.js';
import { fresh } from '../options.js';

/**
 * Something to do once what it belongs to is committed: run a tool, publish an artifact. Effects run one after another; what one
 * throws or rejects with is the diagnostic `effect_failed`, and stops none.
 */
export type ConversationEffect = () => void | Promise<void>;

/** What `createConversation` takes. */
export interface ConversationOptions {
  /** Default `tolerant`. */
  readonly mode?: ConversationMode;
  /** Single policies instead of those of the mode. */
  readonly policies?: Partial<ConversationPolicies>;
  /**
   * Asked for each action that changed something, in order, what is to be done about it; `state` is the conversation right after the
   * action. While a transaction is open the effects wait for its commit, and a rollback drops them; else they run when the event is
   * complete.
   */
  readonly effects?: (action: ClientAction, state: ConversationState) => readonly ConversationEffect[];
  /** How many diagnostics are kept; those beyond are counted, by code. Default 1,000. */
  readonly maxDiagnostics?: number;
  /**
   * Where every step is recorded; any number of conversations and sessions may share one. With a durable one a commit is told of
   * ({@link Conversation.changes$}, `ended`) and its effects run when its record is durable, and everything after it waits its turn;
   * `state` moves at once. When it can be written no more the conversation fails for good.
   */
  readonly journal?: Journal;
  /** The actor id in the journal: 1 to 200 characters of A-Z a-z 0-9 _ -. Generated (`con_…`) when absent. */
  readonly id?: string;
  /**
   * Goes on where another process left a conversation, as `recover` gives it from a journal with `payloads: 'keep'`: under its id,
   * and by its rules where none are given.
   */
  readonly from?: RecoveredConversation;
  /** For the times in the journal. Default: the platform's. */
  readonly clock?: Clock;
  /** Looks on from the first event. `conversation.inspect` attaches one later. */
  readonly inspect?: InspectionObserver;
  /** Aborting it closes the conversation, as `conversation.close()` does. */
  readonly signal?: AbortSignal;
}

/** The options of a conversation, checked, defaults filled in. */
export interface ConversationSettings {
  readonly fold: Fold;
  readonly initial: FoldState;
  readonly effects: ConversationOptions['effects'];
  readonly maxDiagnostics: number;
  readonly journal: Journal | undefined;
  /** Generated when somebody asks for it, where nothing is written. */
  readonly id: string | undefined;
  readonly from: RecoveredConversation | undefined;
  readonly clock: Clock;
  readonly inspect: InspectionObserver | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws {InvalidInputError} for an option that is none, @throws {InvalidIdError} for an id that is none */
export function settingsOf(options: ConversationOptions): ConversationSettings {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
  const { effects, journal, from, clock = platformClock, inspect, signal } = options;
  const restored = from === undefined ? undefined : restoredFrom(from);
  const { mode, policies, maxDiagnostics } = rulesOf(options);
  if (effects !== undefined && typeof effects !== 'function')
    throw new InvalidInputError('effects', 'a function', effects);
  const isInspector = typeof inspect === 'function' || (typeof inspect === 'object' && inspect !== null);
  if (inspect !== undefined && !isInspector) throw new InvalidInputError('inspect', 'an observer', inspect);
  if (journal !== undefined) assertPart('journal', journal, ['append', 'flush']);
  assertPart('clock', clock, ['now']);
  assertSignal(signal);
  const traces = { traceActions: effects !== undefined, traceRecords: journal !== undefined };
  const fold = createFold({ mode, policies, maxDiagnostics, ...traces });
  const id = idOf(options);
  return {
    fold,
    initial: restored ?? fold.initial,
    effects,
    maxDiagnostics,
    journal,
    id,
    from,
    clock,
    inspect,
    signal,
  };
}

/** Those that are given, else those that a recovered conversation lived by. */
function rulesOf({ mode, policies, maxDiagnostics, from }: ConversationOptions) {
  if (policies !== undefined && (typeof policies !== 'object' || policies === null))
    throw new InvalidInputError('policies', 'an object', policies);
  const began = mode === undefined ? from?.began : undefined;
  return {
    mode: mode ?? (began?.mode as ConversationMode | undefined) ?? 'tolerant',
    policies: { ...(began?.policies as Partial<ConversationPolicies> | undefined), ...policies },
    maxDiagnostics: maxDiagnostics ?? from?.began.maxDiagnostics ?? 1000,
  };
}

function restoredFrom(from: RecoveredConversation): FoldState {
  const expected = 'a recovered conversation';
  if (typeof from !== 'object' || from === null || typeof from.began !== 'object')
    throw new InvalidInputError('from', expected, from);
  const { state } = from;
  if (!(state instanceof FoldState)) {
    throw new InvalidInputError(
      'from',
      `${expected} with its state, which a journal has with \`payloads: 'keep'\``,
      state,
    );
  }
  return restoreCommitted(state);
}

const idShape = /^[A-Za-z0-9_-]{1,200}$/;

function idOf({ id, from, journal }: ConversationOptions): string | undefined {
  if (id === undefined) return from?.id ?? (journal === undefined ? undefined : fresh('con_'));
  if (typeof id !== 'string' || !idShape.test(id))
    throw new InvalidIdError('1 to 200 characters of A-Z a-z 0-9 _ -', id);
  if (from !== undefined && from.id !== id) throw new InvalidInputError('id', `that of \`from\`, ${from.id}`, id);
  return id;
}

function assertPart(what: string, part: unknown, methods: readonly string[]): void {
  const found = Object(part) as Partial<Record<string, unknown>>;
  for (const method of methods) {
    if (typeof found[method] !== 'function')
      throw new InvalidInputError(what, `an object with a method ${method}`, part);
  }
}

/** @throws {InvalidInputError} */
export function assertSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined) return;
  const { addEventListener, removeEventListener } = Object(signal) as Partial<Record<string, unknown>>;
  if (typeof addEventListener === 'function' && typeof removeEventListener === 'function') return;
  throw new InvalidInputError('signal', 'an AbortSignal', signal);
}
