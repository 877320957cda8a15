/** How a conversation is folded where the page leaves a choice. */
import type { TransactionContext } from '../../machines/index.js';
import { InvalidInputError } from '../contract/errors.js';

/**
 * `tolerant`: what is out of place is told of, and the fold goes on. `strict`:
 * the first diagnostic fails the stream. `warp`: every end commits, a failing
 * action drops the rest of its event and dooms nothing, and masks do what the
 * client of that name does.
 */
export type ConversationMode = 'tolerant' | 'strict' | 'warp';

/** Single choices. Each has a default by the mode. */
export interface ConversationPolicies {
  /** A Begin inside a transaction: ignored, a savepoint, or a failing action. Default `ignore`. */
  readonly nested: 'ignore' | 'savepoint' | 'error';
  /** The Commit of a transaction in which an action failed. Default `rollback`; has no use under `warp`, where nothing dooms. */
  readonly onDoomedCommit: 'rollback' | 'commit';
  /** An open transaction at a failed finish, at the end of the input or at a transport error. Default `rollback`, under `warp` `commit`. */
  readonly onFailure: 'rollback' | 'commit';
  /** An open transaction when the host cancels. Default `commit`. */
  readonly onCancel: 'rollback' | 'commit';
}

/** The values that each policy can have. */
export const policyValues = {
  nested: ['ignore', 'savepoint', 'error'],
  onDoomedCommit: ['rollback', 'commit'],
  onFailure: ['rollback', 'commit'],
  onCancel: ['rollback', 'commit'],
} as const satisfies { readonly [Name in keyof ConversationPolicies]: readonly ConversationPolicies[Name][] };

/** The modes that there are. */
export const conversationModes = ['tolerant', 'strict', 'warp'] as const satisfies readonly ConversationMode[];

/** The policies of a mode, with single ones replaced. @throws {InvalidInputError} for one that there is not */
export function policiesOf(
  mode: ConversationMode,
  single: Partial<ConversationPolicies> | undefined,
): ConversationPolicies {
  if (!conversationModes.includes(mode)) {
    throw new InvalidInputError('mode', conversationModes.join(', '), mode);
  }
  const chosen: Partial<Record<keyof ConversationPolicies, unknown>> = {};
  for (const [name, value] of Object.entries(single ?? {})) {
    if (value === undefined) continue;
    if (!isPolicy(name)) throw new InvalidInputError('policy', Object.keys(policyValues).join(', '), name);
    const values: readonly unknown[] = policyValues[name];
    if (!values.includes(value)) throw new InvalidInputError(`policy ${name}`, values.join(' or '), value);
    chosen[name] = value;
  }
  const { nested, onDoomedCommit, onFailure, onCancel } = chosen as Partial<ConversationPolicies>;
  return Object.freeze({
    nested: nested ?? 'ignore',
    onDoomedCommit: onDoomedCommit ?? 'rollback',
    onFailure: onFailure ?? (mode === 'warp' ? 'commit' : 'rollback'),
    onCancel: onCancel ?? 'commit',
  });
}

function isPolicy(name: string): name is keyof ConversationPolicies {
  return Object.hasOwn(policyValues, name);
}

/** What the machine of a transaction is opened with. */
export function transactionRules(mode: ConversationMode, policies: ConversationPolicies): TransactionContext {
  const { nested, onDoomedCommit, onFailure, onCancel } = policies;
  return { nested, onDoomedCommit, onFailure, onCancel, dooms: mode !== 'warp' };
}
