/**
 * The judge of one session and its calls: takes groups of steps, whoever made
 * them, and says which invariants they break.
 *
 * J1. It reads steps and keeps facts; what the machines would have done it does
 *     not ask. A fault of the machines is found like one of a journal.
 * J2. A group is taken in one go: what breaks an invariant is told with the
 *     step that shows it, and the judge goes on as the steps have it.
 */
import { type Breach, Breaches, noBreaches } from './breach.js';
import * as call from './call-facts.js';
import { D6, D7, D15 } from './delivery.js';
import { D9, D10, D11 } from './ends.js';
import { D12, D13 } from './input.js';
import { K2, T7, T8 } from './intents.js';
import { D3, D4, D5, D16 } from './interruptions.js';
import { D1, D2 } from './outcomes.js';
import { callNamed, type SessionInvariant } from './rule.js';
import { connecting, SessionFacts, sessionStateNumbered } from './session-facts.js';
import type { SessionGroup, SessionRules, Step } from './steps.js';

/** The invariants of sessions and calls that a journal shows. */
export const sessionInvariants: readonly SessionInvariant[] = [
  D1,
  D2,
  D3,
  D4,
  D5,
  D6,
  D7,
  D9,
  D10,
  D11,
  D12,
  D13,
  D15,
  D16,
  T7,
  T8,
  K2,
];

const atBeginnings = sessionInvariants.filter((invariant) => invariant.begin !== undefined);
const atSteps = sessionInvariants.filter((invariant) => invariant.step !== undefined);
const atEnds = sessionInvariants.filter((invariant) => invariant.end !== undefined);
const breaches = new Breaches();

export class SessionJudge {
  readonly facts: SessionFacts;

  constructor(rules: SessionRules | SessionFacts) {
    this.facts = rules instanceof SessionFacts ? rules : new SessionFacts(rules);
  }

  /** Takes a group, and gives what it breaks. */
  take(group: SessionGroup): readonly Breach[] {
    const { facts } = this;
    const { steps } = group;
    facts.begin(group);
    if (!isFromOutside(group)) {
      const event = group.type || 'the beginning of a call';
      breaches.add('structure', `${event} follows from what happens to the session, and nothing did`);
    }
    for (const invariant of atBeginnings) invariant.begin?.(facts, group, breaches);
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as Step;
      breaches.step = index;
      if (!hangsTogether(facts, step)) continue;
      for (const invariant of atSteps) invariant.step?.(facts, step, group, breaches);
      facts.take(step, group);
    }
    breaches.isOfWhole = true;
    for (const invariant of atEnds) invariant.end?.(facts, group, breaches);
    return breaches.take();
  }

  /** The same judge, to go another way with. */
  clone(): SessionJudge {
    return new SessionJudge(this.facts.clone());
  }

  /** What it knows, in a word: judges with equal keys will say the same of equal groups. */
  key(): string {
    return this.facts.key();
  }
}

/** What the coordination makes of what happens: nothing from outside is called so. */
const neverFromOutside: ReadonlySet<string> = new Set([
  'approved',
  'denied',
  'placed',
  'interrupted',
  'withdrawn',
  'session_ended',
  '',
]);

/** Whether what a group says that happened can come from outside. */
function isFromOutside({ type, call: id }: SessionGroup): boolean {
  return id === undefined ? type !== 'repeated_call' && type !== 'overflow' : !neverFromOutside.has(type);
}

/** Whether a step can be of this session at all. */
function hangsTogether(facts: SessionFacts, step: Step): boolean {
  const { call: id, event, from, to } = step;
  if (id === undefined) {
    if (sessionStateNumbered(to) === 0) {
      breaches.add('structure', `a session has no state ${JSON.stringify(to)}`);
      return false;
    }
    if ((event === '') !== (facts.state === 0)) {
      breaches.add('structure', event === '' ? 'the session begins a second time' : 'the session has not begun');
      return event !== '';
    }
    if (event === '' && sessionStateNumbered(to) !== connecting) {
      breaches.add('structure', `the session begins ${to}`);
    }
    if (from !== facts.stateName) misplaced('the session', from, facts.stateName);
    return true;
  }
  if (call.callStateNumbered(to) === 0) {
    breaches.add('structure', `a call has no state ${JSON.stringify(to)}`);
    return false;
  }
  if (event === '') {
    if (to !== 'admitted' || from !== '') breaches.add('structure', `${callNamed(id)} begins ${to}`);
    return true;
  }
  const known = facts.call(id);
  if (known === 0) {
    breaches.add('structure', `${callNamed(id)} was never admitted`);
    return false;
  }
  if (from !== call.callStateName(known)) misplaced(callNamed(id), from, call.callStateName(known));
  return true;
}

function misplaced(whose: string, from: string, known: string): void {
  breaches.add('structure', `${whose} is said to have been ${from || 'nowhere'}, and was ${known || 'nowhere'}`);
}

export { noBreaches };
