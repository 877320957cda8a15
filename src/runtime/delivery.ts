/**
 * What the session has reported and the host has not read yet.
 *
 * Invariants kept here:
 *
 * B1. The order of reports is the order of reading (D7).
 * B2. At most `capacity` events wait, and one last event beside them (D15);
 *     whoever pushes asks {@link Delivery.room} first.
 * B3. After {@link Delivery.end} nothing is taken in; what waits is still given
 *     out, unless it was discarded.
 * B4. One loop at a time; leaving it loses nothing.
 */
import type { Observable, Subscriber, TeardownLogic } from 'rxjs';
import type { BidiTurnEvent } from '../contract/turn-event.js';
import type { ReportIds } from './far-event.js';
import { GuardedObservable, type OnThrow } from './guarded-observable.js';
import { Multicast } from './multicast.js';
import { Ring } from './ring.js';

type Result = IteratorResult<BidiTurnEvent, undefined>;

type Wake = (result: Result) => void;

/** More room than any step needs. A small integer, where `Infinity` would cost an allocation an event. */
export const endless = 0x3fffffff;

const done: Result = Object.freeze({ done: true, value: undefined });

/**
 * A report, or of a text its characters alone: the report is made when it is
 * given out, so that texts that wait for long weigh no more than they must.
 */
export type Unread = string | BidiTurnEvent;

/** Counts what was put into the buffer. */
export interface DeliveryCounter {
  delivered(type: BidiTurnEvent['type']): void;
}

/** Is told what a subscriber threw. */
export interface CallbackWatch {
  threw(thrown: unknown): void;
}

export class Delivery implements AsyncIterable<BidiTurnEvent> {
  readonly #ids: ReportIds;
  readonly #capacity: number;
  readonly #watch: CallbackWatch;
  readonly #counter: DeliveryCounter | undefined;
  #unread: Ring<Unread> | undefined;
  #unreadAudio = 0;
  /** Whoever waits for an event; more than one only where a host calls `next()` ahead. */
  #waiting: Wake | undefined;
  #waitingBehind: Ring<Wake> | undefined;
  #loop: Loop | undefined;
  #loopEverOpened = false;
  #ended = false;
  #readers: Multicast<BidiTurnEvent> | undefined;
  /** Whether the first subscriber is being given what waited. */
  #isReplaying = false;
  #events$: Observable<BidiTurnEvent> | undefined;
  /** Sees every report and counts as nobody who reads. */
  tap: ((event: BidiTurnEvent) => void) | undefined;

  constructor(ids: ReportIds, capacity: number, watch: CallbackWatch, counter?: DeliveryCounter) {
    this.#ids = ids;
    this.#capacity = capacity;
    this.#watch = watch;
    this.#counter = counter;
  }

  /** How many events can be pushed now; {@link endless} while the host reads, since they count as read at once. */
  get room(): number {
    return this.#isRead() ? endless : this.#capacity - (this.#unread?.size ?? 0);
  }

  /** How many of the events that wait are audio. */
  get unreadAudio(): number {
    return this.#unreadAudio;
  }

  push(unread: Unread): void {
    if (this.#ended) return;
    let report = unread;
    this.#counter?.delivered(typeof report === 'string' ? 'text' : report.type);
    if (this.tap !== undefined || this.#readers !== undefined) {
      // whoever sees it sees the same object
      const event = this.eventOf(unread);
      report = event;
      this.tap?.(event);
      if (this.#readers?.observed) {
        this.#readers.next(event);
        if (!this.#loopEverOpened && !this.#isReplaying) return;
      }
    }
    const wake = this.#waiting;
    if (wake !== undefined) {
      this.#waiting = this.#waitingBehind?.shift();
      wake({ done: false, value: this.eventOf(report) });
      return;
    }
    if (typeof report !== 'string' && report.type === 'audio') this.#unreadAudio++;
    this.#unread ??= new Ring();
    this.#unread.push(report);
  }

  /** Throws away the audio that waits, and gives how many events that were. */
  dropAudio(): number {
    this.#unreadAudio = 0;
    return this.#unread?.remove((report) => typeof report !== 'string' && report.type === 'audio') ?? 0;
  }

  /** Throws away all that waits. */
  discard(): void {
    this.#unreadAudio = 0;
    this.#unread = undefined;
  }

  /** Nothing will be pushed any more: loops end when they have read what waits, `events$` completes. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    // a loop that waits is over; one that is at its last event finds that out itself
    if (this.#waiting !== undefined) this.#loop = undefined;
    this.#wakeAll();
    this.#readers?.complete();
  }

  get events$(): Observable<BidiTurnEvent> {
    this.#events$ ??= new GuardedObservable<BidiTurnEvent>(
      () => this.#onThrow,
      (subscriber) => this.#subscribe(subscriber),
    );
    return this.#events$;
  }

  [Symbol.asyncIterator](): AsyncIterator<BidiTurnEvent, undefined> {
    if (this.#loop !== undefined) {
      throw new TypeError(
        'events() is being read by another loop; leave that one first, or use events$ for several readers',
      );
    }
    this.#loopEverOpened = true;
    this.#loop = new Loop(this);
    return this.#loop;
  }

  /** The next event for `loop`. */
  take(loop: Loop): Promise<Result> {
    if (this.#loop !== loop) return Promise.resolve(done);
    if (this.#hasUnread()) return Promise.resolve({ done: false, value: this.#shift() });
    if (this.#ended) {
      this.#loop = undefined;
      return Promise.resolve(done);
    }
    return new Promise((resolve) => {
      if (this.#waiting === undefined) this.#waiting = resolve;
      else {
        this.#waitingBehind ??= new Ring();
        this.#waitingBehind.push(resolve);
      }
    });
  }

  /** `loop` is left; another may begin. */
  leave(loop: Loop): void {
    if (this.#loop !== loop) return;
    this.#loop = undefined;
    this.#wakeAll();
  }

  get #onThrow(): OnThrow {
    return (thrown) => this.#watch.threw(thrown);
  }

  // methods, not accessors: the engine leaves compiled code for each private accessor

  #hasUnread(): boolean {
    return this.#unread !== undefined && this.#unread.size > 0;
  }

  #isRead(): boolean {
    if (this.#waiting !== undefined) return true;
    return !this.#loopEverOpened && this.#readers?.observed === true;
  }

  /** Tells all that wait that nothing comes. */
  #wakeAll(): void {
    for (let wake = this.#waiting; wake !== undefined; wake = this.#waitingBehind?.shift()) wake(done);
    this.#waiting = undefined;
  }

  #shift(): BidiTurnEvent {
    const report = this.#unread?.shift() as Unread;
    if (typeof report !== 'string' && report.type === 'audio') this.#unreadAudio--;
    return this.eventOf(report);
  }

  /** What is given out for it. */
  protected eventOf(report: Unread): BidiTurnEvent {
    if (typeof report !== 'string') return report;
    const { sessionId, turnId } = this.#ids;
    return { type: 'text', sessionId, turnId, text: report };
  }

  #subscribe(subscriber: Subscriber<BidiTurnEvent>): TeardownLogic {
    this.#readers ??= new Multicast(this.#onThrow);
    const isFirst = !this.#loopEverOpened && !this.#readers.observed && !this.#isReplaying;
    if (isFirst) this.#replay(subscriber);
    if (this.#ended) {
      subscriber.complete();
      return undefined;
    }
    return this.#readers.subscribe(subscriber);
  }

  /** Nothing is missed between `await startSession` and the first `subscribe`; what comes meanwhile waits its turn. */
  #replay(subscriber: Subscriber<BidiTurnEvent>): void {
    this.#isReplaying = true;
    try {
      while (!this.#loopEverOpened && this.#hasUnread() && !subscriber.closed) subscriber.next(this.#shift());
    } finally {
      this.#isReplaying = false;
    }
  }
}

class Loop implements AsyncIterableIterator<BidiTurnEvent, undefined> {
  readonly #delivery: Delivery;

  constructor(delivery: Delivery) {
    this.#delivery = delivery;
  }

  next(): Promise<Result> {
    return this.#delivery.take(this);
  }

  return(): Promise<Result> {
    this.#delivery.leave(this);
    return Promise.resolve(done);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
