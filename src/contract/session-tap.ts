import type { CloseReport, LifecycleEvent } from './lifecycle.js';
import type { BidiInput } from './provider.js';
import type { BidiTurnEvent } from './turn-event.js';

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

/** Under this name a session lets recorders and inspectors tap it. Gives what detaches the tap. */
export const tapped: unique symbol = Symbol('tapped');

/** What can be tapped: a session, or one that goes on across incarnations. */
export interface Tappable {
  [tapped](tap: SessionTap): () => void;
}
