/**
 * A session and its calls as bare snapshots, moved by the shipped coordination:
 * what tests hold the living actors against, and what a replay or an explorer
 * steps.
 */
import { type CallEventType, type CallSnapshot, callStepper } from '../tool-invocation/index.js';
import { type CallEntry, type Candidate, type Cast, Coordination, type Limits } from './coordination.js';
import type { SessionEventType } from './session.events.js';
import { type SessionSnapshot, sessionStepper } from './session.stepper.js';

/** A call as a bare snapshot. */
export interface BareCall extends CallEntry {
  snapshot: CallSnapshot;
}

class BareCast implements Cast<BareCall> {
  session: SessionSnapshot = sessionStepper.initial(undefined as never).snapshot;

  advanceSession(_type: SessionEventType, next: SessionSnapshot): void {
    this.session = next;
  }

  admit({ id, name, digest, rules }: Candidate, refused: boolean): BareCall {
    return { id, name, digest, refused, snapshot: callStepper.initial(rules).snapshot };
  }

  advanceCall(call: BareCall, _type: CallEventType, next: CallSnapshot): void {
    call.snapshot = next;
  }

  release(): void {}
}

/** A session that nobody lives in. */
export interface Composition {
  readonly coordination: Coordination<BareCall>;
  readonly session: SessionSnapshot;
}

/** Makes one, connecting and without calls. */
export function createComposition(limits: Limits): Composition {
  const cast = new BareCast();
  return {
    coordination: new Coordination(cast, limits),
    get session() {
      return cast.session;
    },
  };
}
