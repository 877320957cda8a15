/**
 * Tells what living sessions take, step by step, and feeds the same to the pure
 * composition. What the runtime takes on its fast lane, past the coordination,
 * is told all the same.
 */
import { isDeepStrictEqual } from 'node:util';
import { vi } from 'vitest';
import {
  type Asked,
  type BareCall,
  type CallEntry,
  type Composition,
  Coordination,
  createComposition,
  type Limits,
  type Occurrence,
  type SessionEventType,
  type SessionSnapshot,
} from '../../machines/index.js';
import type { Session } from '../../src/runtime/session.js';
import { SessionRuntime } from '../../src/runtime/session-runtime.js';

/** What a living session took: what happened, and what is performed for it next. */
export interface Taken {
  readonly occurrence: Occurrence<CallEntry>;
  readonly room: number;
  readonly unreadAudio: number;
  readonly asked: readonly Asked<CallEntry>[];
  /** The coordination was not asked. */
  readonly onTheFastLane: boolean;
}

const aDelivery: Asked<CallEntry> = { type: 'deliver', params: undefined, call: undefined, detail: undefined };

/** Tells of every step that any session takes, until the function that it gives is called. What `tell` steps itself is not told. */
export function tapSteps(tell: (taken: Taken) => void): () => void {
  const { take } = Coordination.prototype as Coordination<CallEntry>;
  const { advanceSession } = SessionRuntime.prototype;
  // a step advances what it likes; only what is advanced outside of one was taken on the fast lane
  let isInside = false;
  const inside = <Result>(body: () => Result): Result => {
    isInside = true;
    try {
      return body();
    } finally {
      isInside = false;
    }
  };
  const spies = [
    vi.spyOn(Coordination.prototype, 'take').mockImplementation(function (
      this: Coordination<CallEntry>,
      occurrence: Occurrence<CallEntry>,
      room: number,
      unreadAudio: number,
    ) {
      if (isInside) return take.call(this, occurrence, room, unreadAudio);
      const asked = inside(() => take.call(this, occurrence, room, unreadAudio));
      inside(() => tell({ occurrence, room, unreadAudio, asked, onTheFastLane: false }));
      return asked;
    }),
    vi.spyOn(SessionRuntime.prototype, 'advanceSession').mockImplementation(function (
      this: SessionRuntime,
      type: SessionEventType,
      next: SessionSnapshot,
      asked: number,
    ) {
      advanceSession.call(this, type, next, asked);
      if (isInside) return;
      const { room, unreadAudio } = this.delivery;
      const occurrence = { at: 'session', type } as Occurrence<CallEntry>;
      inside(() => tell({ occurrence, room, unreadAudio, asked: [aDelivery], onTheFastLane: true }));
    }),
  ];
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** What there is to say of a snapshot. */
function seen({ value, context, status }: { value: unknown; context: unknown; status: string }): unknown {
  // the actor of an abandoned call has stopped; for the machine its state is not final
  return { value, context, status: status === 'stopped' ? 'active' : status };
}

function told({ type, params, call, detail }: Asked<CallEntry>): unknown {
  return { type, params, call: call?.id, detail };
}

/** The same session twice: the one that lives and the one that is only stepped. */
export class Twin {
  readonly differences: string[] = [];
  readonly #session: Session;
  readonly #pure: Composition;
  /** Every call that was admitted, in both. */
  readonly #calls = new Map<string, { readonly living: CallEntry; readonly bare: BareCall }>();

  constructor(session: Session, limits: Limits) {
    this.#session = session;
    this.#pure = createComposition(limits);
    this.#pure.coordination.begin();
  }

  /** The living one has taken a step: takes the same, and notes every difference. */
  takes({ occurrence, room, unreadAudio, asked }: Taken): void {
    const { type } = occurrence;
    const same = (what: string, living: unknown, pure: unknown) => {
      if (isDeepStrictEqual(living, pure)) return;
      this.differences.push(`after ${type}, ${what}: living ${JSON.stringify(living)}, pure ${JSON.stringify(pure)}`);
    };
    const bareOccurrence = this.#bareOf(occurrence);
    if (bareOccurrence === undefined) return;
    const { coordination } = this.#pure;
    const pure = coordination.take(bareOccurrence, room, unreadAudio);
    same('asks', asked.map(told), pure.map(told));
    for (const [index, { type, call }] of asked.entries()) {
      const bare = pure[index]?.call;
      if (type === 'reportStarted' && call !== undefined && bare !== undefined) {
        this.#calls.set(call.id, { living: call, bare });
      }
    }
    same('session', seen(this.#session.actor.getSnapshot()), seen(this.#pure.session));
    same('calls', this.#session.calls(), [...coordination.calls()]);
    for (const [id, { living, bare }] of this.#calls) same(`call ${id}`, seen(living.snapshot), seen(bare.snapshot));
  }

  #bareOf(occurrence: Occurrence<CallEntry>): Occurrence<BareCall> | undefined {
    if (occurrence.at === 'session') return occurrence;
    const { call, type } = occurrence;
    const known = this.#calls.get(call.id);
    if (known?.living === call) return { at: 'call', type, call: known.bare };
    this.differences.push(`${type} of call ${call.id}, which was never admitted`);
    return undefined;
  }
}
