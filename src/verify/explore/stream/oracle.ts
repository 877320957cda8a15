/**
 * What a transaction has to come to, read off conversation.md §2 and §3 and not
 * off the machine: which of its ends keep what was done in it, and which put
 * back what stood at its Begin.
 */
import type { FoldStep } from '../../../conversation/index.js';
import type { ConversationPolicies } from '../../../conversation/policies.js';
import type { Finding } from '../walk.js';

/** What is known of an open transaction: whether an action in it has failed. */
export type Doom = boolean;

type Moved = Extract<FoldStep, { readonly of: 'transaction' }>;

/** What is to be done at an end; `undefined`: it is none. */
function due(type: string, doomed: Doom, policies: ConversationPolicies): 'committed' | 'rolled_back' | undefined {
  const by = (policy: 'rollback' | 'commit') => (policy === 'commit' ? 'committed' : 'rolled_back');
  switch (type) {
    case 'rollback':
      return 'rolled_back';
    case 'commit':
    case 'finish_done':
    case 'split':
      return doomed ? by(policies.onDoomedCommit) : 'committed';
    case 'finish_failed':
    case 'input_ended':
      return by(policies.onFailure);
    case 'host_cancel':
      return by(policies.onCancel);
    default:
      return undefined;
  }
}

/** Follows the transactions of a step of the fold. */
export class Oracle {
  readonly dooms: Doom[];
  readonly findings: Finding[] = [];
  readonly #policies: ConversationPolicies;
  readonly #canDoom: boolean;

  /** `canDoom`: not under `warp`. */
  constructor(dooms: readonly Doom[], policies: ConversationPolicies, canDoom: boolean) {
    this.dooms = [...dooms];
    this.#policies = policies;
    this.#canDoom = canDoom;
  }

  take({ level, type, snapshot }: Moved): void {
    if (type === undefined) {
      this.dooms[level] = false;
      return;
    }
    if (
      type === 'action_failed' ||
      type === 'doom_inherited' ||
      (type === 'begin' && this.#policies.nested === 'error')
    ) {
      this.dooms[level] ||= this.#canDoom;
      return;
    }
    const doomed = this.dooms[level] ?? false;
    const outcome = due(type, doomed, this.#policies);
    if (outcome === undefined) return;
    const found = snapshot.value;
    const words = doomed ? 'a doomed transaction' : 'a transaction';
    if (found === 'committed' || found === 'rolled_back') this.dooms.length = level;
    if (found === outcome) return;
    if (found !== 'committed' && found !== 'rolled_back') {
      this.#find('C4', `${words} is still open after ${type}`);
    } else if (outcome === 'committed') this.#find('C2', `${words} is rolled back by ${type}, which commits it`);
    else this.#find('C1', `${words} is kept by ${type}, which rolls it back`);
  }

  #find(invariant: string, what: string): void {
    this.findings.push({ invariant, what });
  }
}
