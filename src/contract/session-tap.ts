import type { CloseReport, LifecycleEvent } from './lifecycle.js';
import type { BidiInput } from './provider.js';
import type { BidiTurnEvent } from './turn-event.js';

/** What the host asked of the far side, as it was passed on. */
export type PassedAct =
  | { readonly type: 'send'; readonly input: BidiInput }
  | { readonly type: 'interrupt'; readonly playedMs: number | undefined }
  | { readonly type: 'played'; readonly ms: number };

/** A change of a call as a tap sees it: with what belongs to it, of which `lifecycle$` says nothing. */
export type TappedCall = Extract<LifecycleEvent, { type: 'call' }> & {
  /** At the admission: as the model wrote them. */
  readonly arguments?: string;
  /** At the commit point, the entry into `publishing`: what is sent. */
  readonly result?: { readonly output: string; readonly isError: boolean };
};

/** What goes on beside the conversation, as a tap sees it. */
export type TappedNote = Exclude<LifecycleEvent, { type: 'call' }> | TappedCall;

/**
 * Sees all that a session reports, in the one order in which it happens, within
 * the step, and takes nothing from the host's readers: unlike a subscriber it
 * does not count as somebody who reads. One that throws is told of, as host code
 * is, and is called no more.
 */
export interface SessionTap {
  /** An event was reported to the host, whether or not the host has read it. */
  reported?(event: BidiTurnEvent): void;
  noted?(event: TappedNote): void;
  acted?(act: PassedAct): void;
  /** The last thing that happens. */
  ended?(report: CloseReport): void;
}

/**
 * Under this name a session lets recorders and inspectors tap it. Gives what detaches the tap. One that has ended tells
 * the tap so, and nothing else.
 */
export const tapped: unique symbol = Symbol('tapped');

/** What can be tapped: a session, or one that goes on across incarnations. */
export interface Tappable {
  [tapped](tap: SessionTap): () => void;
}
