import type { CloseReport } from '../contract/lifecycle.js';
import type { PassedAct, SessionTap, TappedNote } from '../contract/session-tap.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';

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

  noted(event: TappedNote): void {
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
