/**
 * What a supervisor counts.
 *
 * Invariants kept here:
 *
 * T1. `stats$` gives one value for each turn of the event loop in which
 *     something changed, however much, and nothing is scheduled while nobody
 *     looks. The last value is that of the stopped supervisor.
 */
import type { Observable } from 'rxjs';
import type { Clock } from '../../contract/clock.js';
import { GuardedObservable, type OnThrow } from '../guarded-observable.js';
import { Multicast } from '../multicast.js';
import { PlacePool } from '../place-pool.js';

/** Counts of a supervisor. */
export interface SupervisorStats {
  /** That live now, those between two incarnations included. */
  readonly sessions: number;
  readonly conversations: number;
  /** Sessions that wait for their next incarnation. */
  readonly restarting: number;
  /** Calls that have one of the places of `maxConcurrentTools`. */
  readonly toolsRunning: number;
  /** Calls that wait for one. */
  readonly toolsWaiting: number;
  /** Of all that follows: since the beginning. Children that were started. */
  readonly started: number;
  /** Children that ended, for good. */
  readonly ended: number;
  /** Incarnations that were begun after another one. */
  readonly restarts: number;
  /** Sessions that were given up, since they were restarted too often. */
  readonly failures: number;
  /** Starts that were refused: beyond a limit, or at a shutdown. */
  readonly refused: number;
  /** What observers of the supervisor itself threw, and what was sent to its actor from outside. */
  readonly strays: number;
}

/** Counts as they change. */
export class Counters {
  sessions = 0;
  conversations = 0;
  restarting = 0;
  started = 0;
  ended = 0;
  restarts = 0;
  failures = 0;
  refused = 0;
  strays = 0;
}

/** A pool that tells when something changes in it. */
export class WatchedPool extends PlacePool {
  onChange: (() => void) | undefined;

  override exchange(held: number, free: number): void {
    super.exchange(held, free);
    this.onChange?.();
  }

  override enqueue(ticket: Parameters<PlacePool['enqueue']>[0]): void {
    super.enqueue(ticket);
    this.onChange?.();
  }

  override dequeue(ticket: Parameters<PlacePool['dequeue']>[0]): void {
    super.dequeue(ticket);
    this.onChange?.();
  }
}

export class StatsFeed {
  readonly stats$: Observable<SupervisorStats>;
  readonly #read: () => SupervisorStats;
  readonly #clock: Clock;
  readonly #values: Multicast<SupervisorStats>;
  #timer: unknown;

  constructor(read: () => SupervisorStats, clock: Clock, onThrow: OnThrow) {
    this.#read = read;
    this.#clock = clock;
    this.#values = new Multicast(onThrow);
    this.stats$ = new GuardedObservable(
      () => onThrow,
      (subscriber) => {
        subscriber.next(this.#read());
        return this.#values.subscribe(subscriber);
      },
    );
  }

  /** Something was counted. */
  changed(): void {
    if (this.#timer !== undefined || !this.#values.observed) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.#values.next(this.#read());
    }, 0);
  }

  complete(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#values.next(this.#read());
    this.#values.complete();
  }
}
