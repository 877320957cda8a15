/**
 * Pools of places that the sessions of a journal share (K6): however many sessions
 * there are, no more of their calls run at once than the pool has places.
 * Sessions that share a pool and write elsewhere are not seen: what is found is
 * wrong, and what is not found may be.
 */
import type { SessionBegan } from '../contract/journal.js';

interface Pool {
  readonly places: number;
  sessions: number;
  held: number;
}

/** What one session holds of a pool. */
export class PoolShare {
  readonly #pools: Pools;
  readonly #id: string;
  readonly #pool: Pool;
  #held = 0;

  constructor(pools: Pools, id: string, pool: Pool) {
    this.#pools = pools;
    this.#id = id;
    this.#pool = pool;
    pool.sessions++;
  }

  /** So many of its calls hold a place now. Gives what is wrong with that. */
  holds(held: number): string | undefined {
    const more = held - this.#held;
    this.#held = held;
    this.#pool.held += more;
    const { held: all, places } = this.#pool;
    if (more <= 0 || all <= places) return undefined;
    return `${all} calls hold a place of the pool ${JSON.stringify(this.#id)}, and it has ${places}`;
  }

  /** Nothing can come of the session any more. */
  leave(): void {
    this.#pool.held -= this.#held;
    this.#held = 0;
    this.#pool.sessions--;
    if (this.#pool.sessions === 0) this.#pools.forget(this.#id);
  }
}

export class Pools {
  readonly #pools = new Map<string, Pool>();

  /** `undefined` where a session has its places for itself. */
  shareOf({ pool: id, poolPlaces }: SessionBegan): PoolShare | undefined {
    if (id === undefined) return undefined;
    let pool = this.#pools.get(id);
    if (pool === undefined) {
      pool = { places: poolPlaces ?? 0, sessions: 0, held: 0 };
      this.#pools.set(id, pool);
    }
    return new PoolShare(this, id, pool);
  }

  forget(id: string): void {
    this.#pools.delete(id);
  }
}
