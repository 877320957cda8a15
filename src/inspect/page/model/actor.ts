/** An actor as the page knows it: its own steps, from which its state at any instant follows. */
import type { ActorKind } from '../../../contract/journal.js';
import type { Step } from '../../view/frames.js';
import { countUpTo } from './search-sorted.js';

/** Why a step was taken. */
export interface Reason {
  readonly n: number;
  readonly why: string;
  /** Whether the step led out of the outermost state: what came of the actor then has this reason, whatever follows. */
  readonly isDecisive: boolean;
}

export class Actor {
  readonly id: string;
  readonly kind: ActorKind;
  /** What people call it. */
  readonly label: string;
  readonly parent: Actor | undefined;
  readonly depth: number;
  /** The step that began it, whether that is still kept or not. */
  readonly first: number;
  /** In the order in which they began. */
  readonly children: Actor[] = [];
  /** Numbers of its steps, in order; those alone that are kept. */
  own: number[] = [];
  /** Its steps that say why. */
  whys: Reason[] = [];
  /** Its state before the first of its steps that is kept. */
  before = '';

  constructor(step: Step, parent: Actor | undefined) {
    this.id = step.actor;
    this.kind = step.kind;
    this.label = step.label ?? shortId(step.actor, parent?.id);
    this.parent = parent;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
    this.first = step.n;
    this.before = step.from;
  }

  /** The number of its last step at that instant; 0 where it had none, or none that is kept. */
  lastStep(n: number): number {
    const count = countUpTo(this.own, n);
    return count === 0 ? 0 : (this.own[count - 1] as number);
  }

  /** The last reason that decided what became of it, up to that instant; where none did, the last one. */
  why(n: number): Reason | undefined {
    return this.#reason(n, true) ?? this.#reason(n, false);
  }

  /** A reason that came after the one that decided. */
  whyLater(n: number): Reason | undefined {
    const last = this.#reason(n, false);
    return last === this.why(n) ? undefined : last;
  }

  /** Lets go of what was before a step. The reasons of what it came to outlive their steps: it is what people ask for. */
  trim(first: number, before: string): void {
    this.before = before;
    this.own = this.own.slice(countUpTo(this.own, first - 1));
    const kept = new Set([this.#reason(first - 1, true), this.#reason(first - 1, false)]);
    this.whys = this.whys.filter((reason) => reason.n >= first || kept.has(reason));
  }

  #reason(n: number, isDecisive: boolean): Reason | undefined {
    for (let at = this.whys.length - 1; at >= 0; at--) {
      const reason = this.whys[at] as Reason;
      if (reason.n <= n && (reason.isDecisive || !isDecisive)) return reason;
    }
    return undefined;
  }

  /** What is left of its id when its parent's is known. */
  get short(): string {
    return shortId(this.id, this.parent?.id);
  }
}

function shortId(id: string, parent: string | undefined): string {
  return parent !== undefined && id.startsWith(`${parent}/`) ? id.slice(parent.length + 1) : id;
}
