/**
 * A step of the fold as the judge of conversations looks at it. Versions are
 * those of the very objects: two transactional parts have one version exactly
 * where they are one object.
 */

import { type TransactionSnapshot, transactionStepper } from '../../../../machines/index.js';
import type { Folded } from '../../../conversation/index.js';
import type { FoldParts } from '../../../conversation/state.js';
import type { Tree } from '../../../conversation/tree.js';
import type { Act, ConversationStep } from '../../invariants/index.js';
import type { Finding } from '../walk.js';

/** Numbers of transactional parts, in the order in which they came to be. */
export class Versions {
  readonly #numbers = new WeakMap<Tree, number>();
  #last = 0;

  of(tree: Tree): number {
    let number = this.#numbers.get(tree);
    if (number === undefined) {
      number = ++this.#last;
      this.#numbers.set(tree, number);
    }
    return number;
  }
}

/** What a step of the fold did, and what is wrong with it at first sight. */
export interface JudgedStep {
  readonly steps: readonly ConversationStep[];
  /** Effects that may run now, in order. */
  readonly released: readonly string[];
  /** One list for each open transaction: the places of the effects of a host that wait in it. An action that adds a message has one. */
  readonly held: readonly (readonly string[])[];
  /** Numbers of the transactions that are open. */
  readonly open: readonly number[];
  readonly findings: readonly Finding[];
}

/** What is known before a step. */
export interface Before {
  readonly parts: FoldParts;
  readonly held: readonly (readonly string[])[];
  readonly open: readonly number[];
  readonly lastTransaction: number;
  /** Where an effect belongs that an action of this step has. */
  readonly place: string;
}

type Own = { -readonly [Key in keyof ConversationStep]: ConversationStep[Key] } & { did: Act[] };

/** Reads a step. */
export function judgedStep({ trace }: Folded, before: Before, after: FoldParts, versions: Versions): JudgedStep {
  const { parts } = before;
  const steps: ConversationStep[] = [];
  const findings: Finding[] = [];
  let transactions: ConversationStep[] = [];
  let own: Own | undefined;
  let version = versions.of(parts.tree);
  let last = before.lastTransaction;
  let rolledBack = false;
  let failed = false;
  const bases = parts.bases.map((base) => versions.of(base));
  const snapshots: (TransactionSnapshot | undefined)[] = [...parts.levels];
  const open = [...before.open];
  const held = before.held.map((places) => [...places]);
  const released: string[] = [];
  /** An effect of the action at hand. */
  let effect: string | undefined;

  const complete = () => {
    if (own === undefined) return;
    own.version = version;
    steps.push(own, ...transactions);
    transactions = [];
  };
  for (const step of trace) {
    switch (step.of) {
      case 'input':
        complete();
        own = {
          transaction: undefined,
          event: step.type,
          from: step.from,
          to: step.to,
          did: [],
          stream: 0,
          version: 0,
        };
        break;
      case 'told':
        own?.did.push({ effect: 'report', detail: step.code });
        break;
      case 'asked':
        own?.did.push(
          step.as === undefined ? { effect: step.effect } : { effect: step.effect, detail: step.as, version },
        );
        break;
      case 'action':
        if (hasEffect(step.action)) effect = before.place;
        break;
      case 'acted': {
        // one action in an event: what stands at the end is what it made
        if (step.changed) version = versions.of(after.tree);
        failed ||= step.failed !== undefined;
        const detail = step.failed ?? step.name;
        own?.did.push({ effect: step.failed === undefined ? 'apply' : 'fail', detail, version });
        if (effect !== undefined) {
          const waits = held.at(-1);
          own?.did.push({ effect: waits === undefined ? 'releaseEffect' : 'holdEffect', detail: effect });
          (waits ?? released).push(effect);
          effect = undefined;
        }
        break;
      }
      case 'transaction': {
        const { level, type, snapshot } = step;
        const to = nameOf(snapshot);
        if (type === undefined) {
          last++;
          open[level] = last;
          bases[level] = version;
          held[level] = [];
          snapshots[level] = snapshot;
          transactions.push({ transaction: last, event: '', from: '', to, did: [], stream: 0, version });
          break;
        }
        const moving = snapshots[level] as TransactionSnapshot;
        const did: Act[] = [];
        for (const { type: effect } of transactionStepper.step(moving, type).effects) {
          did.push({ effect });
          if (effect === 'keep') {
            const kept = held.splice(level).flat();
            const around = held.at(-1);
            (around ?? released).push(...kept);
            if (around === undefined) for (const place of kept) did.push({ effect: 'releaseEffect', detail: place });
          } else if (effect === 'restore') {
            version = bases[level] as number;
            rolledBack = true;
            for (const place of held.splice(level).flat()) did.push({ effect: 'dropEffect', detail: place });
          }
        }
        const transaction = open[level] ?? 0;
        transactions.push({ transaction, event: type, from: nameOf(moving), to, did, stream: 0, version });
        snapshots[level] = snapshot;
        if (snapshot.status !== 'active') {
          snapshots.length = level;
          open.length = level;
          bases.length = level;
          held.length = Math.min(held.length, level);
        }
        break;
      }
    }
  }
  complete();
  const stands = versions.of(after.tree);
  if (stands !== version) findings.push(amiss(rolledBack, failed));
  return { steps, released, held, open, findings };
}

/** The transactional part is another one than the steps have led to. */
function amiss(rolledBack: boolean, failed: boolean): Finding {
  if (rolledBack)
    return { invariant: 'C1', what: 'what stands after the rollback is not the very object of the Begin' };
  if (failed) return { invariant: 'C3', what: 'an action has failed, and the transactional part is another one' };
  return { invariant: 'C2', what: 'the transactional part is another one, and no action has changed it' };
}

function hasEffect({ action }: { readonly action: { readonly case: string | undefined } }): boolean {
  return action.case === 'addMessagesToTask';
}

function nameOf({ value }: TransactionSnapshot): string {
  return typeof value === 'string' ? value : `open.${value.open}`;
}
