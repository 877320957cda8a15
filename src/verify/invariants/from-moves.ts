/** Moves of a composition, as the judge looks at them. */
import type { Asked, CallEntry, Move, Occurrence } from '../../../machines/index.js';
import { type Act, notTold, type SessionGroup, type Step } from './steps.js';

/** A step of a composition as a group. `room`, `unreadAudio` and `places` are what the step was given. */
export function groupOf<Call extends CallEntry>(
  occurrence: Occurrence<Call>,
  room: number,
  unreadAudio: number,
  moves: readonly Move<Call>[],
  places: number = Number.POSITIVE_INFINITY,
): SessionGroup {
  const isOfCall = occurrence.at === 'call';
  return {
    type: occurrence.type,
    call: isOfCall ? occurrence.call.id : undefined,
    candidate: !isOfCall && occurrence.type === 'tool_call' ? seen(occurrence.candidate) : undefined,
    ids: !isOfCall && occurrence.type === 'tool_call_cancelled' ? occurrence.ids : undefined,
    room,
    unreadAudio,
    places,
    passed: undefined,
    steps: moves.map(stepOf),
  };
}

/** The beginning of a composition as a group. */
export function firstGroupOf<Call extends CallEntry>(move: Move<Call>): SessionGroup {
  return {
    type: '',
    call: undefined,
    candidate: undefined,
    ids: undefined,
    room: Number.POSITIVE_INFINITY,
    unreadAudio: 0,
    places: Number.POSITIVE_INFINITY,
    passed: undefined,
    steps: [stepOf(move)],
  };
}

function seen({ id, rules }: Extract<Occurrence<CallEntry>, { type: 'tool_call' }>['candidate']) {
  return { id, ...rules };
}

function stepOf<Call extends CallEntry>({ call, event, from, to, did }: Move<Call>): Step {
  return { call: call?.id, event, from, to, did: did.length === 0 ? nothing : did.map(actOf) };
}

const nothing: readonly Act[] = Object.freeze([]);
const acts = new Map<string, Act>();

function actOf<Call extends CallEntry>({ type, params }: Asked<Call>): Act {
  switch (type) {
    case 'abortSignal':
      return act(type, (params as { readonly because: string }).because);
    case 'flush':
      return act(type, (params as { readonly of: string }).of);
    case 'noteOverflow':
      return act(type, String(params));
    case 'publish':
      return act(type, notTold);
    default:
      return act(type, undefined);
  }
}

/** One object for all that are alike; there are few. */
function act(effect: string, detail: string | undefined): Act {
  const key = detail === undefined ? effect : `${effect} ${detail}`;
  let known = acts.get(key);
  if (known === undefined) {
    known = Object.freeze({ effect, detail });
    acts.set(key, known);
  }
  return known;
}
