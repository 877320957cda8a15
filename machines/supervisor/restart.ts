/**
 * When a session that has ended is begun again, in the words of Erlang/OTP.
 *
 * Invariants kept here:
 *
 * R1. What the host has ended itself is begun again by `permanent` alone; so is
 *     what would only happen again: a far side that breaks the protocol, a
 *     journal that takes no more.
 * R2. No more than `intensity` restarts fall into any `periodMs`. Of times no
 *     more than `intensity` are remembered.
 */
import type { EndReason } from '../session/index.js';

/** `temporary`: never. `transient`: after an end that was nobody's wish. `permanent`: after every end but the host's close of the whole. */
export type RestartType = 'temporary' | 'transient' | 'permanent';

const mishaps: ReadonlySet<EndReason> = new Set([
  'stream_ended',
  'stream_failed',
  'overflow',
  'far_side',
  'connect_failed',
]);

/** Whether an incarnation that ended for `reason` is followed by another. */
export function restartsAfter(type: RestartType, reason: EndReason): boolean {
  return type === 'permanent' || (type === 'transient' && mishaps.has(reason));
}

/** The restarts of one session that still count. */
export class RestartWindow {
  readonly #intensity: number;
  readonly #periodMs: number;
  /** In order. */
  #times: number[] = [];

  constructor(intensity: number, periodMs: number) {
    this.#intensity = intensity;
    this.#periodMs = periodMs;
  }

  /** Takes one more restart at `now` (milliseconds). Gives how many fall into the period with it, or nothing: it is one too many. */
  take(now: number): number | undefined {
    const since = now - this.#periodMs;
    this.#times = this.#times.filter((time) => time > since);
    if (this.#times.length >= this.#intensity) return undefined;
    this.#times.push(now);
    return this.#times.length;
  }
}
