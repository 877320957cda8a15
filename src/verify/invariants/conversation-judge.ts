/**
 * The judge of one conversation and its transactions: takes groups of steps,
 * and says which invariants they break.
 *
 * The conversation's own step says what its actions were and which version
 * each left; the steps of transactions stand behind it. Here they are put back
 * into the order in which they happened: each effect of the conversation has
 * the transactions move that it speaks of.
 */
import { type Breach, Breaches, type Stated } from './breach.js';
import { ConversationFacts } from './conversation-facts.js';
import type { ConversationGroup, ConversationStart, ConversationStep } from './conversation-steps.js';
import { C7, checkEffects, endEffects, takeEffect } from './outbox.js';
import { checkActs } from './recorded-acts.js';
import { C4, C8, takeRequest } from './requests.js';
import type { Act } from './steps.js';
import { C1, C2, C3, takeTransaction, takeVersion } from './transactions.js';

/** The invariants of conversations that a journal shows. */
export const conversationInvariants: readonly Stated[] = [C1, C2, C3, C4, C7, C8];

const breaches = new Breaches();

export class ConversationJudge {
  readonly facts: ConversationFacts;

  constructor(start: ConversationStart | ConversationFacts) {
    this.facts = start instanceof ConversationFacts ? start : new ConversationFacts(start);
  }

  /** Takes a group, and gives what it breaks. */
  take({ steps }: ConversationGroup): readonly Breach[] {
    const isHalted = steps.some(({ transaction, event }) => transaction === undefined && event === 'halted');
    let owns = 0;
    for (let index = 0; index < steps.length; ) {
      let next = index + 1;
      while (steps[next]?.transaction !== undefined) next++;
      const first = steps[index] as ConversationStep;
      breaches.step = index;
      if (index > 0 && first.transaction === undefined && !(first.event === 'halted' && owns++ === 0)) {
        breaches.add('structure', `${first.event} stands in the group of another input`);
      }
      if (first.transaction !== undefined) {
        // of a group whose first record is missing: there is nothing to hold them against
        breaches.step = index;
        breaches.add('structure', `transaction ${first.transaction} moves, and its conversation has taken nothing`);
      } else new Turn(this.facts, steps, index, next, isHalted).take(next < steps.length);
      index = next;
    }
    return breaches.take();
  }

  clone(): ConversationJudge {
    return new ConversationJudge(this.facts.clone());
  }

  /** What it knows, in a word: judges with equal keys will say the same of groups that are equal but for versions and places. */
  key(): string {
    return this.facts.key();
  }
}

/** The events that move transactions from outside. */
const closings: ReadonlySet<string> = new Set(['commit', 'doom_inherited']);

/** One step of the conversation, with those of its transactions. */
class Turn {
  readonly #facts: ConversationFacts;
  readonly #steps: readonly ConversationStep[];
  readonly #own: ConversationStep;
  readonly #place: number;
  readonly #until: number;
  readonly #isHalted: boolean;
  #next: number;

  constructor(
    facts: ConversationFacts,
    steps: readonly ConversationStep[],
    place: number,
    until: number,
    isHalted: boolean,
  ) {
    this.#isHalted = isHalted;
    this.#facts = facts;
    this.#steps = steps;
    this.#own = steps[place] as ConversationStep;
    this.#place = place;
    this.#until = until;
    this.#next = place + 1;
  }

  /** `isWhole`: no record can be missing behind it, since another one of the conversation follows in its group. */
  take(isWhole: boolean): void {
    const own = this.#own;
    const facts = this.#facts;
    breaches.step = this.#place;
    checkActs(own, facts, breaches);
    for (const act of own.did) {
      const stood = facts.version;
      this.#moveBy(act);
      breaches.step = this.#place;
      takeVersion(facts, act, stood, isWhole, breaches);
      takeEffect(facts, act, own.stream, isWhole, breaches);
    }
    while (this.#next < this.#until) this.#move();
    breaches.step = this.#place;
    if (own.event === 'effect') return;
    if (own.version !== facts.version) {
      const what = `version ${own.version} is said to stand, and its steps lead to ${facts.version}`;
      breaches.addOfWhole('structure', what, isWhole);
    }
    // what a strict stream fails of has moved it nowhere
    takeRequest(facts, own, isWhole, this.#isHalted && own.event !== 'halted', breaches);
  }

  /** Moves the transactions that an effect of the conversation speaks of. */
  #moveBy({ effect, detail = '' }: Act): void {
    if (effect === 'fail') this.#moveAt('action_failed') || (detail === 'nested_begin' && this.#moveAt('begin'));
    else if (effect === 'closeTransactions') {
      while (this.#facts.levels.length > 0 && (this.#isNext(detail) || closings.has(this.#nextEvent ?? ''))) {
        this.#move();
      }
    } else if (effect === 'apply') {
      switch (detail) {
        case 'beginTransaction':
          this.#moveAt('begin');
          this.#moveAt('');
          break;
        case 'commitTransaction':
          if (this.#moveAt('commit')) this.#moveAt('doom_inherited');
          break;
        case 'rollbackTransaction':
          this.#moveAt('rollback');
          break;
      }
    }
  }

  get #nextEvent(): string | undefined {
    return this.#next < this.#until ? this.#steps[this.#next]?.event : undefined;
  }

  #isNext(event: string): boolean {
    return this.#nextEvent === event;
  }

  #moveAt(event: string): boolean {
    if (!this.#isNext(event)) return false;
    this.#move();
    return true;
  }

  #move(): void {
    const step = this.#steps[this.#next] as ConversationStep;
    breaches.step = this.#next++;
    const level = this.#facts.levels.length;
    const isEnd = step.to === 'committed' || step.to === 'rolled_back';
    const isKnown = this.#facts.levels.some(({ number }) => number === step.transaction);
    takeTransaction(this.#facts, step, breaches);
    checkEffects(step, isEnd, breaches);
    if (isEnd && isKnown) endEffects(this.#facts, step, level, breaches);
  }
}
