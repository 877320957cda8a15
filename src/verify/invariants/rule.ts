import type { Breaches, Stated } from './breach.js';
import type { SessionFacts } from './session-facts.js';
import type { SessionGroup, Step } from './steps.js';

/** An invariant of a session and its calls. */
export interface SessionInvariant extends Stated {
  /** Looks at what went by before a group. `facts`: as they are then. */
  begin?(facts: SessionFacts, group: SessionGroup, breaches: Breaches): void;
  /** Looks at a step. `facts`: as they were before it. */
  step?(facts: SessionFacts, step: Step, group: SessionGroup, breaches: Breaches): void;
  /** Looks at a whole group. `facts`: as they are after it. */
  end?(facts: SessionFacts, group: SessionGroup, breaches: Breaches): void;
}

/** Whether a step asks for this, with this detail where one is given. */
export function asksFor({ did }: Step, effect: string, detail?: string): boolean {
  for (let index = 0; index < did.length; index++) {
    const act = did[index];
    if (act?.effect === effect && (detail === undefined || act.detail === detail)) return true;
  }
  return false;
}

/** How often a step asks for this. */
export function timesAsked({ did }: Step, effect: string): number {
  let times = 0;
  for (let index = 0; index < did.length; index++) if (did[index]?.effect === effect) times++;
  return times;
}

/** A call, as sentences name it. */
export function callNamed(id: string | undefined): string {
  return `call ${JSON.stringify(id)}`;
}
