/**
 * A session and its calls as bare snapshots, moved by the shipped coordination:
 * what tests hold the living actors against, and what a replay or an explorer
 * steps.
 */
import { type CallEventType, type CallSnapshot, callStepper } from '../tool-invocation/index.js';
import {
  type CallEntry,
  type Candidate,
  type Cast,
  Coordination,
  type Counts,
  type EndedCall,
  type Limits,
  type Occurrence,
} from './coordination.js';
import { type Move, MoveLog } from './moves.js';
import type { SessionEventType } from './session.events.js';
import { type SessionSnapshot, sessionStepper } from './session.stepper.js';

/** A call as a bare snapshot. */
export interface BareCall extends CallEntry {
  snapshot: CallSnapshot;
}

class BareCast implements Cast<BareCall> {
  session: SessionSnapshot = sessionStepper.initial(undefined as never).snapshot;
  readonly log = new MoveLog<BareCall>();
  /** Whether somebody takes the moves of the step at hand; else nothing would ever empty the log. */
  isLogging = false;

  advanceSession(type: SessionEventType, next: SessionSnapshot, asked: number): void {
    if (this.isLogging) this.log.session(type, this.session, next, asked);
    this.session = next;
  }

  admit({ id, name, digest, rules }: Candidate, refused: boolean, asked: number): BareCall {
    const { snapshot } = callStepper.initial(rules);
    const call = { id, name, digest, refused, snapshot };
    if (this.isLogging) this.log.admitted(call, snapshot, asked);
    return call;
  }

  advanceCall(call: BareCall, type: CallEventType, next: CallSnapshot, asked: number): void {
    if (this.isLogging) this.log.call(call, type, call.snapshot, next, asked);
    call.snapshot = next;
  }

  release(): void {}
}

/** A session that nobody lives in. */
export interface Composition {
  readonly coordination: Coordination<BareCall>;
  readonly session: SessionSnapshot;
  /** The move with which it begins. */
  begin(): Move<BareCall>;
  /** As {@link Coordination.take}, and gives the step as moves. */
  take(occurrence: Occurrence<BareCall>, room: number, unreadAudio: number, places?: number): readonly Move<BareCall>[];
  /** Stands from now on where another one stood; see {@link Coordination.resume}. */
  resume(session: SessionSnapshot, calls: Iterable<BareCall | EndedCall>, counts: Counts): void;
}

/** Makes one, connecting and without calls. */
export function createComposition(limits: Limits): Composition {
  const cast = new BareCast();
  const coordination = new Coordination(cast, limits);
  return {
    coordination,
    get session() {
      return cast.session;
    },
    begin: () => cast.log.begin(cast.session, coordination.begin()),
    take(occurrence, room, unreadAudio, places) {
      cast.isLogging = true;
      const asked = coordination.take(occurrence, room, unreadAudio, places);
      cast.isLogging = false;
      return cast.log.take(occurrence, cast.session, asked);
    },
    resume(session, calls, counts) {
      cast.session = session;
      coordination.resume(calls, counts);
    },
  };
}
