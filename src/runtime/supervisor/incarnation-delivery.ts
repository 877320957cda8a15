/**
 * What one incarnation of a supervised session reports into: the buffer of the
 * supervised session, which all incarnations share, as long as this one lives.
 *
 * Invariants kept here:
 *
 * I1. What an incarnation reports after its end goes nowhere, and its end is not
 *     the end of the buffer: only the supervised session's is.
 * I2. There is one buffer, so one bound and one order of reading.
 */
import type { Observable } from 'rxjs';
import type { BidiTurnEvent } from '../../contract/turn-event.js';
import { Delivery, type DeliveryCounter, type Unread } from '../delivery.js';
import type { ReportIds } from '../far-event.js';

/** Whose incarnation it is. */
export interface Outlet {
  readonly delivery: Delivery;
  /** Nothing comes of this incarnation any more; its end has begun. */
  outputEnded(): void;
  /** The incarnation ends by the host. */
  discardUnread(): void;
  threw(thrown: unknown): void;
}

export class IncarnationDelivery extends Delivery {
  readonly #outlet: Outlet;
  readonly #counter: DeliveryCounter | undefined;
  #hasEnded = false;

  constructor(ids: ReportIds, outlet: Outlet, counter: DeliveryCounter | undefined) {
    super(ids, 0, outlet);
    this.#outlet = outlet;
    this.#counter = counter;
  }

  override get room(): number {
    return this.#outlet.delivery.room;
  }

  override get unreadAudio(): number {
    return this.#outlet.delivery.unreadAudio;
  }

  override push(unread: Unread): void {
    if (this.#hasEnded) return;
    // the buffer is another's, and knows no ids of this incarnation
    const event = this.eventOf(unread);
    this.#counter?.delivered(event.type);
    if (this.tap !== undefined) this.tap(event);
    this.#outlet.delivery.push(event);
  }

  override dropAudio(): number {
    return this.#outlet.delivery.dropAudio();
  }

  override discard(): void {
    this.#outlet.discardUnread();
  }

  override end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#outlet.outputEnded();
  }

  override get events$(): Observable<BidiTurnEvent> {
    return this.#outlet.delivery.events$;
  }

  override [Symbol.asyncIterator](): AsyncIterator<BidiTurnEvent, undefined> {
    return this.#outlet.delivery[Symbol.asyncIterator]();
  }
}
