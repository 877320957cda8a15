/** Limits of time that run while a scenario is played: a clock held in the hand. */
import type { Happening } from './happening.js';

/** A limit runs out. */
export type Timeout = Extract<Happening, { of: 'timeout' }>;

interface Limit {
  readonly happening: Timeout;
  readonly due: number;
}

export class Limits {
  /** In the order in which they were armed. */
  #running: readonly Limit[] = [];
  #now = 0;

  get now(): number {
    return this.#now;
  }

  /** 0 ms: no limit. */
  arm(happening: Timeout, ms: number): void {
    if (ms > 0) this.#running = [...this.#running, { happening, due: this.#now + ms }];
  }

  disarm(what: Timeout['what'], call: number): void {
    this.#running = this.#running.filter(({ happening }) => {
      return happening.what !== what || ('call' in happening && happening.call !== call);
    });
  }

  /** Time moves on to the next limit that runs out up to then, by due time, then by order of arming; where there is none, to then. */
  runOut(until: number): Timeout | undefined {
    let next: Limit | undefined;
    for (const limit of this.#running) {
      if (limit.due <= until && (next === undefined || limit.due < next.due)) next = limit;
    }
    this.#now = Math.max(this.#now, next?.due ?? until);
    this.#running = this.#running.filter((limit) => limit !== next);
    return next?.happening;
  }
}
