/**
 * What a life did in a step, as it is recorded: its effects by name, each with
 * what tells it apart.
 *
 * Invariants kept here:
 *
 * Q1. Lists and effects that say the same are the same frozen objects, wherever
 *     nothing of a payload is in them: a store writes them in one piece, and a
 *     journal in memory holds them once.
 * Q2. What is kept for that is bounded by what the machines can do: nothing that
 *     a far side or a host made up is in it.
 */
import type { AbortCause, Asked, Transition } from '../../machines/index.js';
import type { PayloadPolicy, RecordedEffect } from '../contract/journal.js';
import type { BidiEvent } from '../contract/provider.js';
import { digestOf } from '../journal/digest.js';
import type { Call } from './call.js';
import type { Payload } from './session-life.js';

/** The effects of a step, and what they are about. */
interface Doing {
  readonly asked: readonly Asked<Call>[];
  readonly payload: Payload;
  readonly unreadAudio: number;
  /** What is kept of payloads. */
  readonly payloads: PayloadPolicy;
}

/**
 * What the life in the place `owner` did, by its transition. `owners`: whose each effect is (`MoveLog.whose`); `undefined` where all
 * are this life's.
 */
export function didBy(
  transition: Transition,
  owner: number,
  owners: readonly number[] | undefined,
  doing: Doing,
): readonly RecordedEffect[] {
  const known = done.get(transition);
  if (known !== undefined) {
    for (let at = 0; at < known.length; at++) {
      const did = known[at] as readonly RecordedEffect[];
      if (isSame(did, owner, owners, doing.asked)) return did;
    }
  }
  const { asked } = doing;
  const did: RecordedEffect[] = [];
  let isShared = !speaks.has(transition.event);
  for (let index = 0; index < asked.length; index++) {
    const effect = asked[index] as Asked<Call>;
    if (!isOf(effect, owner, owners?.[index])) continue;
    if (varies.has(effect.type)) isShared = false;
    did.push(recorded(effect, doing));
  }
  if (did.length === 0) return nothingDone;
  if (isShared) keep(transition, did, known);
  return did;
}

/** What was done without a transition. */
export function didStanding(doing: Doing): readonly RecordedEffect[] {
  const did: RecordedEffect[] = [];
  for (const effect of doing.asked) if (effect.type !== 'callChanged') did.push(recorded(effect, doing));
  return did.length === 0 ? nothingDone : did;
}

function isOf({ type }: Asked<Call>, owner: number, own: number | undefined): boolean {
  return own === undefined ? type !== 'callChanged' : own === owner;
}

const nothingDone: readonly RecordedEffect[] = Object.freeze([]);

/** What was done by transitions that were taken before: a few lists each, for results that are errors and such that are none. */
const done = new WeakMap<Transition, (readonly RecordedEffect[])[]>();
const mostLists = 4;

function keep(
  transition: Transition,
  did: readonly RecordedEffect[],
  known: (readonly RecordedEffect[])[] | undefined,
): void {
  Object.freeze(did);
  if (known === undefined) done.set(transition, [did]);
  else if (known.length < mostLists) known.push(did);
}

/** Effects that are recorded with more than what their machine, or the result, says of them. */
const varies: ReadonlySet<string> = new Set(['noteOverflow', 'dropUnreadAudio', 'publish']);
/** Events that say something in words. */
const speaks: ReadonlySet<string> = new Set(['error', 'closed']);

/** Whether the list is what would be made of these effects, none of which varies. */
function isSame(
  did: readonly RecordedEffect[],
  owner: number,
  owners: readonly number[] | undefined,
  asked: readonly Asked<Call>[],
): boolean {
  let at = 0;
  for (let index = 0; index < asked.length; index++) {
    const effect = asked[index] as Asked<Call>;
    if (owners === undefined ? effect.type === 'callChanged' : owners[index] !== owner) continue;
    const known = did[at];
    if (known === undefined || known.effect !== effect.type) return false;
    if (effect.type === 'reportCompleted' && known !== plainOrError(effect.type, effect.call)) return false;
    at++;
  }
  return at === did.length;
}

function recorded({ type, params, call }: Asked<Call>, doing: Doing): RecordedEffect {
  switch (type) {
    case 'flush':
      return effectOf(type, (params as { of: string }).of);
    case 'abortSignal':
      return effectOf(type, (params as { because: AbortCause }).because);
    case 'noteOverflow':
      return Object.freeze({ effect: type, detail: String(params) });
    case 'dropUnreadAudio':
      return Object.freeze({ effect: type, detail: String(doing.unreadAudio) });
    case 'publish':
      return withPayload(plainOrError(type, call), call?.result.output, doing.payloads);
    case 'reportCompleted':
      return plainOrError(type, call);
    case 'deliver':
    case 'reportEnd':
      return withPayload(effectOf(type), saidBy(doing.payload.event), doing.payloads);
    default:
      return effectOf(type);
  }
}

/** Named one by one: older engines spread slowly. */
function withPayload(known: RecordedEffect, text: string | undefined, payloads: PayloadPolicy): RecordedEffect {
  if (text === undefined) return known;
  const { effect, detail } = known;
  switch (payloads) {
    case 'hash': {
      const digest = digestOf(text);
      return detail === undefined ? { effect, digest } : { effect, detail, digest };
    }
    case 'keep': {
      const payload = utf8.encode(text);
      return detail === undefined ? { effect, payload } : { effect, detail, payload };
    }
    case 'omit':
      return known;
  }
}

const utf8 = new TextEncoder();

const plain = new Map<string, RecordedEffect>();
const detailed = new Map<string, Map<string, RecordedEffect>>();

function effectOf(effect: string, detail?: string): RecordedEffect {
  if (detail === undefined) {
    let known = plain.get(effect);
    if (known === undefined) {
      known = Object.freeze({ effect });
      plain.set(effect, known);
    }
    return known;
  }
  let ofEffect = detailed.get(effect);
  if (ofEffect === undefined) {
    ofEffect = new Map();
    detailed.set(effect, ofEffect);
  }
  let known = ofEffect.get(detail);
  if (known === undefined) {
    known = Object.freeze({ effect, detail });
    ofEffect.set(detail, known);
  }
  return known;
}

function plainOrError(effect: string, call: Call | undefined): RecordedEffect {
  return call?.result.isError ? effectOf(effect, 'error') : effectOf(effect);
}

/** What an event of the far side says in words, but for the words of the conversation. */
function saidBy(event: BidiEvent | undefined): string | undefined {
  switch (event?.type) {
    case 'error':
      return event.message;
    case 'closed':
      return event.reason;
    default:
      return undefined;
  }
}
