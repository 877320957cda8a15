/** The judge of `verify`, sitting over every step of a walk: what it knows is part of the world. */
import type { BareCall, Move } from '../../../../machines/index.js';
import * as call from '../../invariants/call-facts.js';
import { firstGroupOf, groupOf, SessionJudge, type SessionRules } from '../../invariants/index.js';
import { SessionFacts } from '../../invariants/session-facts.js';
import type { Finding } from '../walk.js';
import type { SessionBounds } from './bounds.js';
import { idOf, type Taken } from './stage.js';
import type { World } from './world.js';

const nothing: readonly Finding[] = Object.freeze([]);

/** Judges the steps of worlds. */
export class Judging {
  readonly #rules: SessionRules;
  #judge: SessionJudge;
  #found: Finding[] | undefined;

  constructor({ maxConcurrentTools, maxOpenCalls, dropUnreadAudio }: SessionBounds) {
    this.#rules = { maxConcurrentTools, maxOpenCalls, dropUnreadAudio };
    this.#judge = new SessionJudge(this.#rules);
  }

  /** Knows what the world says that is known. */
  resume({ session, calls }: World): void {
    const known = new Map<string, number>();
    const live = new Set<string>();
    const facts = new SessionFacts(this.#rules, known, live);
    for (let place = 0; place < calls.length; place++) {
      const of = (calls[place] as World['calls'][number]).facts;
      const id = idOf(place);
      known.set(id, of);
      if (call.isLive(of)) live.add(id);
      count(facts, of);
    }
    unpack(facts, session.facts);
    this.#judge = new SessionJudge(facts);
    this.#found = undefined;
  }

  /** The session has begun. */
  begin(world: World, move: Move<BareCall>): readonly Finding[] {
    this.resume(world);
    this.#note(this.#judge.take(firstGroupOf(move)));
    return this.store(world);
  }

  take({ occurrence, room, unreadAudio, places, moves }: Taken): void {
    this.#note(this.#judge.take(groupOf(occurrence, room, unreadAudio, moves, places)));
  }

  /** Puts what is known into the world, and gives what was found since. */
  store({ session, calls }: World): readonly Finding[] {
    const { facts } = this.#judge;
    session.facts = packed(facts);
    for (let place = 0; place < calls.length; place++) {
      (calls[place] as World['calls'][number]).facts = facts.call(idOf(place));
    }
    return this.#found ?? nothing;
  }

  #note(breaches: ReturnType<SessionJudge['take']>): void {
    for (const { of, what } of breaches) {
      this.#found ??= [];
      this.#found.push({ invariant: of, what });
    }
  }
}

/** The counts follow from the calls. */
function count(facts: SessionFacts, of: number): void {
  const state = call.callStateIn(of);
  if (call.holdsPlace(state)) facts.places++;
  if (state === call.queued) facts.queued++;
  if ((of & call.beyondNumber) === 0) {
    if (call.countsAsOpen(state)) facts.open++;
  } else if (state === call.publishing) facts.refusedPublishing++;
  if ((of & call.codeRuns) !== 0) facts.running++;
}

function packed(facts: SessionFacts): number {
  let bits = facts.state;
  if (facts.isConnected) bits |= 1 << 3;
  if (facts.isConnectPending) bits |= 1 << 4;
  if (facts.isFarSideClosed) bits |= 1 << 5;
  return bits | (facts.closes << 6) | (facts.resolutions << 9);
}

function unpack(facts: SessionFacts, bits: number): void {
  facts.state = bits & 7;
  facts.isConnected = (bits & (1 << 3)) !== 0;
  facts.isConnectPending = (bits & (1 << 4)) !== 0;
  facts.isFarSideClosed = (bits & (1 << 5)) !== 0;
  facts.closes = (bits >> 6) & 7;
  facts.resolutions = (bits >> 9) & 7;
}
