/** What transactions hold: C1, C2, C3. */
import type { Breaches, Stated } from './breach.js';
import type { ConversationFacts, OpenLevel } from './conversation-facts.js';
import type { ConversationStep } from './conversation-steps.js';
import type { Act } from './steps.js';

export const C1: Stated = {
  number: 'C1',
  sentence: 'after a rollback the transactional part is the very object it was at Begin',
  reads: 'folded.version of transactions, and the version of each effect of the conversation',
};

export const C2: Stated = {
  number: 'C2',
  sentence: 'nothing after a commit undoes it',
  reads: 'from and to of transactions, and the version of each effect of the conversation',
};

export const C3: Stated = {
  number: 'C3',
  sentence: 'a failing action changes nothing, and no action ever loses a task or a message it does not name',
  reads: 'did (apply, fail) of the conversation with their versions',
};

/** A step of a transaction; `facts` are brought up to it. */
export function takeTransaction(facts: ConversationFacts, step: ConversationStep, breaches: Breaches): void {
  const { transaction: number = 0, event, from, to, version } = step;
  const name = `transaction ${number}`;
  if (event === '') {
    if (version !== facts.version) {
      const stands = `and version ${facts.version} stands there`;
      breaches.add('C3', `${name} begins with version ${version}, ${stands}: the Begin has changed something`);
    }
    if (number <= facts.lastTransaction) breaches.add('structure', `${name} begins a second time`);
    facts.lastTransaction = Math.max(facts.lastTransaction, number);
    facts.levels = [...facts.levels, { number, base: version, stream: step.stream }];
    moveTo(facts, version);
    return;
  }
  const at = facts.levels.findIndex((level) => level.number === number);
  const level = facts.levels[at];
  if (level === undefined) {
    breaches.add('C2', `${name} has ended, or never began, and goes from ${from} to ${to} at ${event}`);
    return;
  }
  if (to === 'committed' || to === 'rolled_back') endLevel(facts, step, level, at, breaches);
  else if (version !== facts.version) {
    breaches.add('C3', `${event} in ${name} changes version ${facts.version} to ${version}, and no action was applied`);
    moveTo(facts, version);
  }
}

function endLevel(
  facts: ConversationFacts,
  { event, to, version, did }: ConversationStep,
  { number, base }: OpenLevel,
  at: number,
  breaches: Breaches,
): void {
  const name = `transaction ${number}`;
  const restores = did.some(({ effect }) => effect === 'restore');
  if (at !== facts.levels.length - 1) breaches.add('structure', `${name} ends, and one inside it is open`);
  if (to === 'rolled_back') {
    if (version !== base) {
      breaches.add('C1', `${name} began with version ${base}, and its rollback brings back version ${version}`);
    } else if (!restores) breaches.add('C1', `${name} is rolled back, and nothing is restored`);
  } else {
    if (version !== facts.version) {
      breaches.add('C2', `${name} is committed at version ${facts.version}, and version ${version} stands then`);
    } else if (restores) breaches.add('C2', `${name} is committed by ${event}, and what it did is taken back`);
  }
  facts.levels = facts.levels.slice(0, at);
  moveTo(facts, version);
}

/** What an effect of the conversation says of the version. `stood`: before it, and before the transactions that it moved. `isWhole`: no record is missing behind it. */
export function takeVersion(
  facts: ConversationFacts,
  act: Act,
  stood: number,
  isWhole: boolean,
  breaches: Breaches,
): void {
  const { effect, detail = '', version } = act;
  if (version === undefined || version === facts.version) return;
  if (effect === 'fail') {
    breaches.add('C3', `an action fails with ${detail}, and version ${facts.version} becomes ${version}`);
  } else if (changesNothing(act)) {
    const what = `${detail}: version ${version} stands after it, not ${facts.version}`;
    const of = detail === 'rollbackTransaction' ? 'C1' : detail === 'beginTransaction' ? 'C3' : 'C2';
    // what its transactions did about it they say themselves, behind it
    breaches.addOfWhole(of, what, isWhole);
  } else if (version <= facts.lastVersion) {
    const what = `version ${stood} becomes version ${version}, which was there before, and no transaction is rolled back`;
    breaches.add('C2', `${detail || effect}: ${what}`);
  } else if (facts.versionsFollow && version !== facts.lastVersion + 1) {
    const what = `version ${version} follows version ${facts.lastVersion}, the last one that was given`;
    breaches.add('structure', `${detail || effect}: ${what}; what came between is not recorded`);
  }
  moveTo(facts, version);
}

/** Whether it moves transactions alone: what they did about the version they say themselves. */
function changesNothing({ effect, detail }: Act): boolean {
  return (
    effect === 'closeTransactions' ||
    detail === 'beginTransaction' ||
    detail === 'commitTransaction' ||
    detail === 'rollbackTransaction'
  );
}

function moveTo(facts: ConversationFacts, version: number): void {
  facts.version = version;
  if (version > facts.lastVersion) facts.lastVersion = version;
}
