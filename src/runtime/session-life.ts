import type { CallEventType, Occurrence, SessionEventType, SessionSnapshot } from '../../machines/index.js';
import type { DiagnosticCode, LifecycleEvent } from '../contract/lifecycle.js';
import type { BidiEvent, BidiSession } from '../contract/provider.js';
import type { TappedNote } from '../contract/session-tap.js';
import type { LateOutcome } from '../contract/tool.js';
import type { CallResult } from './arguments.js';
import type { Call } from './call.js';
import type { Delivery } from './delivery.js';
import type { PendingAct, PendingActs } from './host-acts.js';
import type { SessionSettings } from './options.js';
import type { SessionEnd } from './session-end.js';

/** What came with an occurrence, for the effects of its step. */
export interface Payload {
  readonly event?: BidiEvent;
  /** What is wrong with a far-side event. */
  readonly problem?: string;
  readonly arguments?: string;
  readonly driver?: BidiSession;
  readonly error?: unknown;
  readonly act?: PendingAct;
  readonly result?: CallResult;
  readonly input?: { readonly value: unknown };
  readonly late?: LateOutcome;
}

/** One step's input. */
export interface Input {
  readonly occurrence: Occurrence<Call>;
  readonly payload: Payload;
}

/** Events of a session that need no more than a payload. */
export type PlainSessionEvent = Exclude<SessionEventType, 'tool_call' | 'tool_call_cancelled' | 'host_act'>;

/** A living session, as those see it who perform its effects: they report what becomes of them as further events. */
export interface SessionLife {
  readonly settings: SessionSettings;
  readonly session: SessionSnapshot;
  readonly delivery: Delivery;
  readonly acts: PendingActs;
  readonly end: SessionEnd;
  /** Set from the connection on. */
  readonly driver: BidiSession;
  /** Why a host call is refused, and what signals are aborted with, once the end has begun. */
  readonly endError: unknown;

  happens(type: PlainSessionEvent, payload?: Payload): void;
  callHappens(call: Call, type: CallEventType, payload?: Payload): void;

  /** Whether anybody looks at `lifecycle$`. */
  readonly isNoted: boolean;
  /** `tapped`: the same with what only taps are told. */
  note(event: LifecycleEvent, tapped?: TappedNote): void;
  diagnose(code: DiagnosticCode, detail: string): void;
  /** Host code threw. */
  threw(thrown: unknown): void;
}
