import type { ClientAction } from '../../../proto/index.js';
import { InvalidInputError } from '../../contract/errors.js';
import type { InspectionObserver } from '../../contract/inspector.js';
import {
  type ConversationMode,
  type ConversationPolicies,
  type ConversationState,
  createFold,
  type Fold,
} from '../../conversation/index.js';

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
  /** Looks on from the first event. `conversation.inspect` attaches one later. */
  readonly inspect?: InspectionObserver;
  /** Aborting it closes the conversation, as `conversation.close()` does. */
  readonly signal?: AbortSignal;
}

/** The options of a conversation, checked, defaults filled in. */
export interface ConversationSettings {
  readonly fold: Fold;
  readonly effects: ConversationOptions['effects'];
  readonly maxDiagnostics: number;
  readonly inspect: InspectionObserver | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws {InvalidInputError} for an option that is none */
export function settingsOf(options: ConversationOptions): ConversationSettings {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
  const { mode = 'tolerant', policies = {}, effects, maxDiagnostics = 1000, inspect, signal } = options;
  if (typeof policies !== 'object' || policies === null) throw new InvalidInputError('policies', 'an object', policies);
  if (effects !== undefined && typeof effects !== 'function')
    throw new InvalidInputError('effects', 'a function', effects);
  const isInspector = typeof inspect === 'function' || (typeof inspect === 'object' && inspect !== null);
  if (inspect !== undefined && !isInspector) throw new InvalidInputError('inspect', 'an observer', inspect);
  assertSignal(signal);
  const fold = createFold({ mode, policies, maxDiagnostics, traceActions: effects !== undefined });
  return { fold, effects, maxDiagnostics, inspect, signal };
}

/** @throws {InvalidInputError} */
export function assertSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined) return;
  const { addEventListener, removeEventListener } = Object(signal) as Partial<Record<string, unknown>>;
  if (typeof addEventListener === 'function' && typeof removeEventListener === 'function') return;
  throw new InvalidInputError('signal', 'an AbortSignal', signal);
}
