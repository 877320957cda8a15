/** What the machines and the coordination promise beside the table: T7, T8, K2. */
import * as call from './call-facts.js';
import { asksFor, callNamed, type SessionInvariant, timesAsked } from './rule.js';

export const T7: SessionInvariant = {
  number: 'T7',
  sentence:
    'with a durable journal the start of code that does more than read, and every publish, waits until the record of the intent is durable',
  reads: 'event, from and did (execute, publish, flush) of calls; candidate.writeStart, candidate.writePublish',
  step(facts, step, _group, breaches) {
    const { call: id } = step;
    if (id === undefined) return;
    const known = facts.call(id);
    const state = call.callStateIn(known);
    for (const [effect, flag, before, intent, words] of intents) {
      if ((known & flag) === 0) continue;
      if (asksFor(step, effect) && !(state === before && step.event === 'flushed')) {
        breaches.add('T7', `${callNamed(id)} ${words} before the record of that intent is durable`);
      }
      if (call.callStateNumbered(step.to) === before && state !== before && !asksFor(step, 'flush', intent)) {
        breaches.add('T7', `${callNamed(id)} is ${step.to}, and its record is not made durable`);
      }
    }
  },
};

const intents = [
  ['execute', call.writesStart, call.starting, 'start', 'starts its code'],
  ['publish', call.writesPublish, call.committing, 'publish', 'publishes its result'],
] as const;

export const T8: SessionInvariant = {
  number: 'T8',
  sentence: 'where code was started and what it gave is not published, onLate is told once, and otherwise never',
  reads: 'event, from, to and did (tellLate) of calls',
  step(facts, step, _group, breaches) {
    const { call: id, event } = step;
    if (id === undefined) return;
    const known = facts.call(id);
    const state = call.callStateIn(known);
    const next = call.callStateNumbered(step.to);
    const settles = event === 'code_resolved' || event === 'code_rejected';
    const times = timesAsked(step, 'tellLate');
    const isDropped =
      (known & call.holdsOutcome) !== 0 && next !== state && (next === call.settled || next === call.cancelled);
    const isDue = isDropped || (settles && state !== call.executing);
    if (times === 0) {
      if (isDue && (known & call.toldLate) === 0) {
        breaches.add(
          'T8',
          `the code of ${callNamed(id)} has settled, its outcome is not published, and nobody is told`,
        );
      }
      return;
    }
    const mayHaveRun = (known & call.codeRuns) !== 0 || state === call.starting;
    if (times > 1 || (known & call.toldLate) !== 0) breaches.add('T8', `onLate is told of ${callNamed(id)} twice`);
    else if (event === 'recovered' ? !mayHaveRun : !isDue || (known & call.executed) === 0) {
      breaches.add('T8', `onLate is told of ${callNamed(id)}, of which there is nothing late`);
    }
  },
};

export const K2: SessionInvariant = {
  number: 'K2',
  sentence:
    'places are held exactly while starting or executing, never more than maxConcurrentTools, and none is free while a call is queued; of a pool no more are taken than it lends',
  reads: 'event, from and to of calls; maxConcurrentTools; places',
  step(facts, { event, call: id }, { places }, breaches) {
    if (event !== 'placed' || facts.shown.placed < places) return;
    breaches.add('K2', `${callNamed(id)} is given a place, and the pool lent no more than ${places}`);
  },
  end(facts, { places }, breaches) {
    const { maxConcurrentTools } = facts.rules;
    if (facts.places > maxConcurrentTools) {
      breaches.add('K2', `${facts.places} calls hold a place, and there are ${maxConcurrentTools}`);
    } else if (facts.isOpen && facts.queued > 0 && facts.places < maxConcurrentTools && facts.shown.placed < places) {
      const free = maxConcurrentTools - facts.places;
      breaches.add('K2', `${facts.queued} calls are queued, and ${free} of ${maxConcurrentTools} places are free`);
    }
  },
};
