/**
 * Places that many sessions share: one bound on how many of their calls run at
 * once. Each session gives its places to its own calls (K2 of the
 * coordination); the pool says how many it may give.
 *
 * Invariants kept here, numbered on from those of the coordination:
 *
 * K6. Places that are held, lent and free are together `places`, at every
 *     moment: the pool is never overdrawn.
 * K7. While anybody waits, no place is free. Places go in the order in which
 *     they were asked for, over all sessions; so nobody waits for ever while
 *     others come and go.
 * K8. A session that wants fewer places than it asked for gives up the newest of
 *     what it asked for, and then what it was lent: that goes to whoever waits
 *     next, at once. One that has ended wants none.
 * K9. A session is told of what it was lent in a microtask of its own: no
 *     session steps inside a step of another one.
 */
import { InvalidInputError } from '../contract/errors.js';
import { fresh } from './options.js';

/** A wish for one place, in the queue of the pool and in that of its session. */
interface Ticket {
  readonly lease: Lease;
  before: Ticket | undefined;
  behind: Ticket | undefined;
  olderOfLease: Ticket | undefined;
  newerOfLease: Ticket | undefined;
}

/** So many places, lent to sessions that ask. */
export class PlacePool {
  /** How many there are. */
  readonly places: number;
  /** By what name journals know it; generated when absent. */
  readonly id: string;
  #free: number;
  #held = 0;
  #first: Ticket | undefined;
  #last: Ticket | undefined;
  #waiting = 0;

  /** @throws {InvalidInputError} when `places` is no integer from 1 */
  constructor(places: number, id = fresh('pool_')) {
    if (!Number.isInteger(places) || places < 1 || places > mostPlaces) {
      throw new InvalidInputError('places', `an integer of 1 … ${mostPlaces}`, places);
    }
    this.places = places;
    this.id = id;
    this.#free = places;
  }

  /** How many nobody has. */
  get free(): number {
    return this.#free;
  }

  /** How many are held by calls; the others are free, or lent and not taken yet. */
  get held(): number {
    return this.#held;
  }

  /** How many are waited for. */
  get waiting(): number {
    return this.#waiting;
  }

  /** For one session. `lent` is called when it was lent places that it had to wait for. */
  join(lent: () => void): Lease {
    return new Lease(this, lent);
  }

  /** @internal Places change hands: `held` more are held, out of `free` free ones. */
  exchange(held: number, free: number): void {
    this.#held += held;
    this.#free -= free;
  }

  /** @internal Somebody asks for a place. */
  enqueue(ticket: Ticket): void {
    const last = this.#last;
    ticket.before = last;
    if (last === undefined) this.#first = ticket;
    else last.behind = ticket;
    this.#last = ticket;
    this.#waiting++;
  }

  /** @internal Somebody has a place, or wants none any more. */
  dequeue(ticket: Ticket): void {
    const { before, behind } = ticket;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    this.#waiting--;
  }

  /** @internal Lends what is free to those who wait. */
  lend(): void {
    for (let first = this.#first; first !== undefined && this.#free > 0; first = this.#first) {
      this.#free--;
      first.lease.receive();
    }
  }
}

const mostPlaces = 0x3fffffff;

/** What one session has of a pool. */
export class Lease {
  readonly #pool: PlacePool;
  readonly #tell: () => void;
  #held = 0;
  #lent = 0;
  #oldest: Ticket | undefined;
  #newest: Ticket | undefined;
  #waiting = 0;
  #isTold = false;

  /** Made by {@link PlacePool.join}. */
  constructor(pool: PlacePool, tell: () => void) {
    this.#pool = pool;
    this.#tell = tell;
  }

  get pool(): PlacePool {
    return this.#pool;
  }

  /** How many places the session may give to its calls now. */
  get places(): number {
    // by K7 none is free that somebody else waits for
    return this.#lent + this.#pool.free;
  }

  /**
   * The session has taken a step, and `taken` of its {@link places}: `held` of its calls hold one now, and `wanted` more
   * would take one. What it has given back goes to whoever waits longest, be it another one.
   */
  settle(taken: number, held: number, wanted: number): void {
    if (taken === 0 && held === this.#held && wanted === this.#lent + this.#waiting) return;
    const ofLent = Math.min(this.#lent, taken);
    const givenBack = this.#held + taken - held;
    this.#held = held;
    this.#lent -= ofLent;
    this.#pool.exchange(taken - givenBack, taken - ofLent - givenBack);
    while (this.#waiting > 0 && this.#lent + this.#waiting > wanted) this.#withdraw(this.#newest as Ticket);
    const surplus = this.#lent - wanted;
    if (surplus > 0) {
      this.#lent = wanted;
      this.#pool.exchange(0, -surplus);
    }
    while (this.#lent + this.#waiting < wanted) this.#ask();
    this.#pool.lend();
  }

  /** @internal The oldest wish is met. */
  receive(): void {
    this.#withdraw(this.#oldest as Ticket);
    this.#lent++;
    if (this.#isTold) return;
    this.#isTold = true;
    queueMicrotask(() => {
      this.#isTold = false;
      // it may have taken them, or given them up, by itself
      if (this.#lent > 0) this.#tell();
    });
  }

  #ask(): void {
    const newest = this.#newest;
    const ticket: Ticket = {
      lease: this,
      before: undefined,
      behind: undefined,
      olderOfLease: newest,
      newerOfLease: undefined,
    };
    if (newest === undefined) this.#oldest = ticket;
    else newest.newerOfLease = ticket;
    this.#newest = ticket;
    this.#waiting++;
    this.#pool.enqueue(ticket);
  }

  #withdraw(ticket: Ticket): void {
    const { olderOfLease, newerOfLease } = ticket;
    if (olderOfLease === undefined) this.#oldest = newerOfLease;
    else olderOfLease.newerOfLease = newerOfLease;
    if (newerOfLease === undefined) this.#newest = olderOfLease;
    else newerOfLease.olderOfLease = olderOfLease;
    this.#waiting--;
    this.#pool.dequeue(ticket);
  }
}
