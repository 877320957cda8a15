import type { BidiEvent } from './provider.js';

/**
 * The port between the frames of one service and the contract: a state machine
 * of its own, without socket, clock or promise. A driver feeds it what arrives,
 * a recording is played through it, and both get the same events.
 *
 * What every mapping keeps:
 *
 * - W1 every turn ends in exactly one of `turn_complete` | `interrupted` (or in the end of the input)
 * - W2 after that nothing more of the turn is given: no output, no call, no second terminal
 * - W3 every call id is given once, however often the wire repeats it
 * - W4 no frame makes it throw: what cannot be read is a `diagnostic` fact and changes nothing
 * - W5 the same frames and releases give the same steps
 */
export interface WireMapping {
  /**
   * Whether the service acknowledges tool results on the wire, as `acknowledged`
   * facts. Where it does not, a driver has to take a written result for accepted.
   */
  readonly acknowledges: boolean;
  /** Takes one decoded frame of the far side (any JSON value) and says what it means. Never throws. */
  frame(data: unknown): WireStep;
  /**
   * Gives the `turn_complete` that is held back, if one is. Call it with the
   * hold's `id` when its time has passed (a hold that was resolved meanwhile
   * gives nothing, so a timer need not be taken back), and without one when the
   * input ends, before its `closed`.
   */
  release(hold?: number): WireStep;
}

/** What one frame means: contract events in order, and what stands beside them for the driver. */
export interface WireStep {
  readonly events: readonly BidiEvent[];
  readonly facts: readonly WireFact[];
  /** Set by the frame that begins a hold; see {@link WireMapping.release}. */
  readonly hold?: WireHold;
}

/** A `turn_complete` may be the end of a turn or only of its first half: it is given after `ms` milliseconds in which nothing resolved it. */
export interface WireHold {
  readonly id: number;
  readonly ms: number;
}

/** What a frame tells the driver that the contract has no event for. Which of them come depends on the service. */
export type WireFact =
  /** The service took the connection and shows its defaults; the set-up may be sent. */
  | { readonly type: 'opened'; readonly expiresAtMs?: number }
  /** The set-up stands: the session can be used. `expiresAtMs`: when the service will end it, milliseconds since the epoch. */
  | { readonly type: 'ready'; readonly expiresAtMs?: number }
  /** An item is part of the conversation now; `callId` where it is the result of that call. May come more than once for one item. */
  | { readonly type: 'acknowledged'; readonly itemId?: string; readonly callId?: string }
  | WireErrorFact
  /** A response began: `metadata` is what our request for it carried, if it was ours. */
  | { readonly type: 'response_opened'; readonly id: string; readonly metadata?: unknown }
  | { readonly type: 'response_closed'; readonly id: string; readonly status: string }
  /** The service heard the user begin to speak (with or without an `interrupted` beside it). */
  | { readonly type: 'speech_started' }
  /** A call of output that was cut: not given as an event. A service that waits for every call needs a stub answer. */
  | { readonly type: 'call_dropped'; readonly id: string; readonly name: string }
  /** The wire gave this call no id; ours stands in its place and must be left off the reply. */
  | { readonly type: 'id_synthesised'; readonly callId: string }
  /** The handle to resume with from now on; without `handle` there is none any more. */
  | { readonly type: 'resumption'; readonly handle?: string }
  | { readonly type: 'diagnostic'; readonly code: WireDiagnosticCode; readonly detail: string };

/** An error frame and what was made of it. */
export interface WireErrorFact {
  readonly type: 'error';
  readonly message: string;
  readonly code?: string;
  /** The id of the client event that it answers. */
  readonly eventId?: string;
  readonly treatment: WireErrorTreatment;
  /** The call whose result is refused, with `refused`. */
  readonly callId?: string;
}

/** What was made of an error frame. */
export type WireErrorTreatment =
  /** An `error` event stands beside this fact; the session goes on. */
  | 'surfaced'
  /** An `error` event stands beside this fact; the service will end the session, and a retry is of no use. */
  | 'fatal'
  /** Refusal of an advisory message of ours: of no interest to a host. */
  | 'swallowed'
  /** A response was asked for while another was active: ask again after the next `response_closed`. */
  | 'conflict'
  /** The result of `callId` was not taken: the call's `sendToolResult` has to reject, which tells the host. An `error` event stands beside this fact only if that call was never given. */
  | 'refused';

/** What a frame that changed nothing was. */
export type WireDiagnosticCode = 'malformed_frame' | 'unknown_frame' | 'repeated_call' | 'transcription_failed';

/** The `reason` of a `closed` event for a socket that was closed with `code` and, perhaps, a `reason`. */
export function closedReason(code: number, reason = ''): string {
  return reason === '' ? `close code ${code}` : `${reason} (close code ${code})`;
}
