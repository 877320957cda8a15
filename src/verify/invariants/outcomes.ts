/** What becomes of a call: D1, D2. */
import * as call from './call-facts.js';
import { asksFor, callNamed, type SessionInvariant, timesAsked } from './rule.js';

/** The state that each report of an outcome belongs to. */
const reportOf: Readonly<Record<string, number>> = {
  reportCompleted: call.completed,
  reportRejected: call.rejected,
  reportUnconfirmed: call.unconfirmed,
  reportAbandoned: 0,
};

export const D1: SessionInvariant = {
  number: 'D1',
  sentence:
    'every admitted id reaches exactly one outcome (completed, rejected, unconfirmed, abandoned, cancelled); no transition leaves it',
  reads: 'from, to and did of calls; to of the session',
  step(facts, step, _group, breaches) {
    const { call: id, from, to, event, did } = step;
    if (id === undefined || event === '') return;
    const before = facts.call(id);
    const state = call.callStateIn(before);
    const next = call.callStateNumbered(to);
    if (call.isOutcome(state) && next !== state && !(state === call.draining && next === call.settled)) {
      breaches.add('D1', `${callNamed(id)} leaves its outcome: it was ${call.callStateName(before)}, and is now ${to}`);
      return;
    }
    let hasReport = false;
    for (let index = 0; index < did.length; index++) {
      const effect = did[index]?.effect as string;
      if (!call.isOutcomeReport(effect)) continue;
      if (hasReport || (before & call.reported) !== 0) {
        breaches.add('D1', `the host is told of a second outcome of ${callNamed(id)}: ${effect}`);
      } else if (
        effect === 'reportAbandoned' ? next !== call.draining && next !== call.settled : reportOf[effect] !== next
      ) {
        breaches.add('D1', `the host is told ${effect} of ${callNamed(id)}, which went from ${from} to ${to}`);
      }
      hasReport = true;
    }
    const isAnswered = next !== state && (next === call.completed || next === call.rejected);
    if (isAnswered && !hasReport && facts.shown.reports < _group.room) {
      breaches.add('D1', `the host is not told that ${callNamed(id)} is ${to}, though its buffer has room`);
    }
  },
  end(facts, _group, breaches) {
    if (!facts.hasJustEnded) return;
    for (const [id, known] of facts.live()) {
      if (call.isOutcome(call.callStateIn(known))) continue;
      breaches.add('D1', `the session has ended, and ${callNamed(id)} is left ${call.callStateName(known)}`);
    }
  },
};

export const D2: SessionInvariant = {
  number: 'D2',
  sentence:
    'at most one execution and at most one sendToolResult per id; none after abandonment, after closed, or after a local close began',
  reads: 'did, from and to of calls; to of the session',
  step(facts, step, _group, breaches) {
    const { call: id } = step;
    if (id === undefined) return;
    for (const [effect, flag, state, words] of once) {
      if (!asksFor(step, effect)) continue;
      const known = facts.call(id);
      if ((known & flag) !== 0 || timesAsked(step, effect) > 1) {
        breaches.add('D2', `${callNamed(id)} is ${words} twice`);
      } else if (call.isOutcome(call.callStateIn(known))) {
        breaches.add('D2', `${callNamed(id)} is ${words} though it is ${call.callStateName(known)}`);
      } else if (facts.isFenced) {
        breaches.add('D2', `${callNamed(id)} is ${words} though the session is ${facts.stateName}`);
      } else if (call.callStateNumbered(step.to) !== state) {
        breaches.add('D2', `${callNamed(id)} is ${words} and is ${step.to}`);
      }
    }
  },
};

const once = [
  ['execute', call.executed, call.executing, 'executed'],
  ['publish', call.published, call.publishing, 'published'],
] as const;
