/**
 * What is kept of a call: one integer. Four bits say where it stands, two what
 * an interruption means for it, the others what has happened to it.
 */
import type { CallSeen, Step } from './steps.js';

/** Where a call stands, as a number. The order is that of its life: what is from `outcome` on has its outcome. */
export const admitted = 1;
export const awaitingApproval = 2;
export const queued = 3;
export const starting = 4;
export const executing = 5;
export const committing = 6;
export const publishing = 7;
export const completed = 8;
export const rejected = 9;
export const unconfirmed = 10;
export const draining = 11;
export const settled = 12;
export const cancelled = 13;

const states: ReadonlyMap<string, number> = new Map([
  ['admitted', admitted],
  ['awaiting_approval', awaitingApproval],
  ['queued', queued],
  ['starting', starting],
  ['executing', executing],
  ['committing', committing],
  ['publishing', publishing],
  ['completed', completed],
  ['rejected', rejected],
  ['unconfirmed', unconfirmed],
  ['abandoned.draining', draining],
  ['abandoned.settled', settled],
  ['cancelled', cancelled],
]);
const names = ['', ...states.keys()];

/** A state's number; 0 for a name that there is not. */
export function callStateNumbered(name: string): number {
  return states.get(name) ?? 0;
}

/** The state that a call's facts say it is in. */
export function callStateIn(facts: number): number {
  return facts & 15;
}

/** Its name, as a record has it. */
export function callStateName(facts: number): string {
  return names[facts & 15] ?? '';
}

/** Whether it has one of the outcomes. */
export function isOutcome(state: number): boolean {
  return state >= completed;
}

/** Whether the commit point is still ahead. */
export function isBeforeCommitPoint(state: number): boolean {
  return state > 0 && state < publishing;
}

export function holdsPlace(state: number): boolean {
  return state === starting || state === executing;
}

/** Whether it counts as open: it has no outcome, or abandoned code of it still runs. */
export function countsAsOpen(state: number): boolean {
  return state > 0 && (state < completed || state === draining);
}

const abandons = 0;
const cancels = 1 << 4;
const delivers = 2 << 4;
const policy = 3 << 4;

/** What an interruption means for it. */
export const isDeliver = (facts: number) => (facts & policy) === delivers;
export const isCancel = (facts: number) => (facts & policy) === cancels;

export const writesStart = 1 << 6;
export const writesPublish = 1 << 7;
/** It came when `maxOpenCalls` were open. */
export const beyondNumber = 1 << 8;
export const executed = 1 << 9;
export const published = 1 << 10;
/** Its code was started and has not settled. */
export const codeRuns = 1 << 11;
export const inputAccepted = 1 << 12;
export const inputRefused = 1 << 13;
/** The signal of its code was aborted. */
export const signalled = 1 << 14;
export const stubbed = 1 << 15;
export const toldLate = 1 << 16;
/** Its code has settled and what it gave waits to be published. */
export const holdsOutcome = 1 << 17;
/** The host was told of its outcome. */
export const reported = 1 << 18;

/** Whether anything can still happen to it. */
export function isLive(facts: number): boolean {
  return !isOutcome(facts & 15) || (facts & codeRuns) !== 0;
}

/** What is known of a call when it is admitted. */
export function firstFacts(seen: CallSeen | undefined, isBeyondNumber: boolean): number {
  let facts = admitted;
  if (seen !== undefined) {
    facts |= seen.policy === 'deliver' ? delivers : seen.policy === 'cancel' ? cancels : abandons;
    if (seen.writeStart) facts |= writesStart;
    if (seen.writePublish) facts |= writesPublish;
  }
  return isBeyondNumber ? facts | beyondNumber : facts;
}

/** The reports that tell a host what became of a call. */
export function isOutcomeReport(effect: string): boolean {
  return (
    effect === 'reportCompleted' ||
    effect === 'reportRejected' ||
    effect === 'reportUnconfirmed' ||
    effect === 'reportAbandoned'
  );
}

/** What is known of a call after a step of it. */
export function factsAfter(before: number, { event, to, did }: Step): number {
  let facts = before;
  const state = callStateNumbered(to);
  switch (event) {
    case 'input_accepted':
    case 'approval_required':
      facts |= inputAccepted;
      break;
    case 'input_refused':
      facts |= inputRefused;
      break;
    case 'code_resolved':
    case 'code_rejected':
      facts &= ~codeRuns;
      if ((facts & 15) === executing && state === committing) facts |= holdsOutcome;
      break;
    case 'flushed':
      if (state === publishing) facts &= ~holdsOutcome;
      break;
    case 'recovered':
      // how it ends nobody will know
      facts &= ~codeRuns;
      break;
  }
  for (let index = 0; index < did.length; index++) {
    const effect = did[index]?.effect as string;
    switch (effect) {
      case 'execute':
        facts |= executed | codeRuns;
        break;
      case 'publish':
        facts |= published;
        break;
      case 'abortSignal':
        facts |= signalled;
        break;
      case 'stub':
        facts |= stubbed;
        break;
      case 'tellLate':
        facts |= toldLate;
        break;
      default:
        if (isOutcomeReport(effect)) facts |= reported;
    }
  }
  return (facts & ~15) | state;
}
