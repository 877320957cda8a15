import type { CloseReport, LifecycleEvent } from '../contract/lifecycle.js';
import type { BidiInput } from '../contract/provider.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';

/** What the host asked of the far side, as it was passed on. */
export type PassedAct =
  | { readonly type: 'send'; readonly input: BidiInput }
  | { readonly type: 'interrupt'; readonly playedMs: number | undefined }
  | { readonly type: 'played'; readonly ms: number };

/**
 * Sees all that a session reports, in the one order in which it happens, within
 * the step, and takes nothing from the host's readers: unlike a subscriber it
 * does not count as somebody who reads. One that throws is told of, as host code
 * is, and is called no more.
 */
export interface SessionTap {
  /** An event was reported to the host, whether or not the host has read it. */
  reported?(event: BidiTurnEvent): void;
  noted?(event: LifecycleEvent): void;
  acted?(act: PassedAct): void;
  /** The last thing that happens. */
  ended?(report: CloseReport): void;
}

/** Under this name a session lets parts of the runtime tap it. Gives what detaches the tap. */
export const tapped: unique symbol = Symbol('tapped');

/** What can be tapped: a session, or one that goes on across incarnations. */
export interface Tappable {
  [tapped](tap: SessionTap): () => void;
}

/** The taps of one session. */
export class Taps {
  readonly #taps = new Set<SessionTap>();
  readonly #onThrow: (thrown: unknown) => void;

  constructor(onThrow: (thrown: unknown) => void) {
    this.#onThrow = onThrow;
  }

  add(tap: SessionTap): () => void {
    this.#taps.add(tap);
    return () => this.#taps.delete(tap);
  }

  get size(): number {
    return this.#taps.size;
  }

  reported(event: BidiTurnEvent): void {
    this.#each((tap) => tap.reported?.(event));
  }

  noted(event: LifecycleEvent): void {
    this.#each((tap) => tap.noted?.(event));
  }

  acted(act: PassedAct): void {
    this.#each((tap) => tap.acted?.(act));
  }

  ended(report: CloseReport): void {
    this.#each((tap) => tap.ended?.(report));
    this.#taps.clear();
  }

  #each(call: (tap: SessionTap) => void): void {
    for (const tap of this.#taps) {
      try {
        call(tap);
      } catch (thrown) {
        // the note of the throw comes to the taps itself: a second one would never end
        this.#taps.delete(tap);
        this.#onThrow(thrown);
      }
    }
  }
}
