/** How requests end, and what they cost: C4, C8. */
import type { Breaches, Stated } from './breach.js';
import { type ConversationFacts, isFinalPhase } from './conversation-facts.js';
import type { ConversationStep } from './conversation-steps.js';

export const C4: Stated = {
  number: 'C4',
  sentence:
    'for every event sequence followed by any end: no transaction is open, the phase is final, ended has resolved once',
  reads: 'event, from, to and did (endRequest) of the conversation; from and to of transactions',
};

export const C8: Stated = {
  number: 'C8',
  sentence: 'usage and cost are counted once per request',
  reads: 'did (startRequest, recordFinish) of the conversation',
};

const ends: ReadonlySet<string> = new Set([
  'finished_done',
  'finished_failed',
  'end_of_input',
  'transport_error',
  'bad_frame',
  'host_cancel',
  'halted',
]);

/** A step of a conversation, its transactions taken. `isUndone`: a strict stream failed of it, and it moved nothing. */
export function takeRequest(
  facts: ConversationFacts,
  step: ConversationStep,
  isWhole: boolean,
  isUndone: boolean,
  breaches: Breaches,
): void {
  const { event, from, to, did, stream: number } = step;
  const stream = facts.stream(number, from);
  const hadEnded = isFinalPhase(stream.phase);
  const hasEnded = isFinalPhase(to);
  let endings = 0;
  let starts = false;
  for (const { effect } of did) {
    if (effect === 'endRequest') endings++;
    else if (effect === 'startRequest' || effect === 'resumeRequest') {
      starts = true;
      if (effect === 'startRequest') stream.hasFinish = false;
    } else if (effect === 'recordFinish') {
      if (stream.hasFinish) breaches.add('C8', 'the usage and cost of one request are counted twice');
      else if (event !== 'finished_done' && event !== 'finished_failed') {
        breaches.add('C8', `usage and cost are counted at ${event}, which is no finish`);
      }
      stream.hasFinish = true;
    }
  }
  if (from !== stream.phase) {
    breaches.add('structure', `the stream is said to have been ${from || 'nowhere'}, and was ${stream.phase}`);
  }
  const isFinish = event === 'finished_done' || event === 'finished_failed';
  if (isFinish && hasEnded && !hadEnded && !did.some(({ effect }) => effect === 'recordFinish')) {
    breaches.add('C8', `a finish is ${to}, and its usage and cost are not counted`);
  }
  if (ends.has(event) && !hasEnded && !isUndone) {
    // unless a strict stream fails of it, in a record behind this one
    breaches.addOfWhole('C4', `${event} leaves the request ${to}`, isWhole || from !== to);
  }
  if (hadEnded && !hasEnded && !starts)
    breaches.add('C4', `a request that is ${from} is ${to} again, and no init began it`);
  const due = hasEnded && !hadEnded ? 1 : 0;
  if (endings !== due) {
    const what = due === 1 ? `the request is ${to}` : `the request was ${from} and is ${to}`;
    breaches.add('C4', `${what}, and ended resolves ${endings} times`);
  }
  if (hasEnded) {
    for (const level of facts.levels) {
      if (level.stream !== number) continue;
      breaches.addOfWhole('C4', `the request is ${to}, and transaction ${level.number} is open`, isWhole);
    }
  }
  stream.phase = to;
}
