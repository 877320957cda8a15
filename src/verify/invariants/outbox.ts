/** What becomes of the effects of a host: C7. */
import type { Breaches, Stated } from './breach.js';
import type { ConversationFacts, HeldEffect } from './conversation-facts.js';
import type { ConversationStep } from './conversation-steps.js';
import type { Act } from './steps.js';

export const C7: Stated = {
  number: 'C7',
  sentence: 'effects of a rolled-back transaction never run; effects of a committed one run once, in order',
  reads: 'did (holdEffect, releaseEffect, dropEffect, runEffect) of the conversation and its transactions',
};

/** An effect as it stands in the facts: places are those of one stream. */
function placeOf({ detail = '' }: Act, stream: number): string {
  return stream === 0 ? detail : `${detail} of stream ${stream}`;
}

/**
 * What the conversation itself says of an effect of the host. `isWhole`: no record of a transaction's begin or end can be missing
 * behind it.
 */
export function takeEffect(
  facts: ConversationFacts,
  act: Act,
  stream: number,
  isWhole: boolean,
  breaches: Breaches,
): void {
  const place = placeOf(act, stream);
  switch (act.effect) {
    case 'holdEffect':
      if (facts.levels.length === 0)
        breaches.addOfWhole('C7', `effect ${place} waits for a commit, and no transaction is open`, isWhole);
      facts.held = [...facts.held, { place, level: facts.levels.length }];
      break;
    case 'releaseEffect':
      if (facts.levels.length > 0)
        breaches.addOfWhole('C7', `effect ${place} is released while a transaction is open`, isWhole);
      facts.released = [...facts.released, place];
      break;
    case 'dropEffect':
      breaches.add('C7', `effect ${place} is dropped, and no transaction is rolled back`);
      break;
    case 'runEffect':
      run(facts, place, breaches);
      break;
  }
}

function run(facts: ConversationFacts, place: string, breaches: Breaches): void {
  const at = facts.released.indexOf(place);
  if (at === -1) {
    const why = facts.held.some((held) => held.place === place) ? 'it waits for a commit' : 'nothing has released it';
    breaches.add('C7', `effect ${place} runs, and ${why}: it was dropped, or has run, or is still provisional`);
    return;
  }
  if (at > 0) breaches.add('C7', `effect ${place} runs before effect ${facts.released[0]}, which was released first`);
  facts.released = facts.released.filter((_, index) => index !== at);
}

const ofTheHost: ReadonlySet<string> = new Set(['holdEffect', 'releaseEffect', 'dropEffect', 'runEffect']);

/** A transaction speaks of effects where it ends, and there alone, and runs none itself. */
export function checkEffects({ transaction, did }: ConversationStep, isEnd: boolean, breaches: Breaches): void {
  for (const { effect, detail } of did) {
    if (!ofTheHost.has(effect) || (isEnd && effect !== 'holdEffect' && effect !== 'runEffect')) continue;
    breaches.add('C7', `transaction ${transaction} asks for ${effect} of effect ${detail}, which is not its to do`);
  }
}

/**
 * What a transaction that ends does about the effects that wait in it. `level`:
 * how many transactions were open, itself included.
 */
export function endEffects(facts: ConversationFacts, step: ConversationStep, level: number, breaches: Breaches): void {
  const inside = facts.held.filter((held) => held.level >= level);
  const outside = facts.held.filter((held) => held.level < level);
  const isKept = step.to === 'committed';
  const due = isKept && level > 1 ? [] : inside;
  const expected = isKept ? 'releaseEffect' : 'dropEffect';
  const found = step.did.filter(({ effect }) => effect === 'releaseEffect' || effect === 'dropEffect');
  for (let index = 0; index < Math.max(due.length, found.length); index++) {
    const act = found[index];
    const place = act && placeOf(act, step.stream);
    const waits = due[index]?.place;
    if (act?.effect === expected && place === waits) continue;
    const says = act === undefined ? 'nothing' : `${act.effect} ${place}`;
    const wants = waits === undefined ? 'nothing more' : `${expected} ${waits}`;
    breaches.add('C7', `transaction ${step.transaction} is ${step.to}: expected ${wants}, found ${says}`);
    break;
  }
  const released = found.flatMap((act) => (act.effect === 'releaseEffect' ? placeOf(act, step.stream) : []));
  if (released.length > 0) facts.released = [...facts.released, ...released];
  facts.held = isKept && level > 1 ? [...outside, ...inside.map((held) => outward(held, level - 1))] : outside;
}

const outward = ({ place }: HeldEffect, level: number): HeldEffect => ({ place, level });
