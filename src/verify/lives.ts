/**
 * Lives by their ids: those that are under way, and for a while those that have
 * ended and of which something may still come.
 */

export class Lives<Case> {
  readonly #live = new Map<string, Case>();
  readonly #lingering = new Map<string, Case>();
  readonly #most: number;
  readonly #gone: ((id: string, one: Case) => void) | undefined;
  /** Whether one was let go of which something may still have come. */
  hasForgotten = false;

  /** `most`: how many of the second kind are kept; the oldest go. `gone`: is told of each that is let go. */
  constructor(most: number, gone?: (id: string, one: Case) => void) {
    this.#most = most;
    this.#gone = gone;
  }

  find(id: string): Case | undefined {
    return this.#live.get(id) ?? this.#lingering.get(id);
  }

  /** Those under way, in order of their beginning. */
  get live(): Iterable<[id: string, one: Case]> {
    return this.#live;
  }

  /** All that are known. */
  *all(): Iterable<[id: string, one: Case]> {
    yield* this.#lingering;
    yield* this.#live;
  }

  /** A life begins. Gives the one that had its id, and has not ended. */
  begin(id: string, one: Case): Case | undefined {
    const before = this.#live.get(id);
    const earlier = before ?? this.#lingering.get(id);
    if (earlier !== undefined) this.#gone?.(id, earlier);
    this.#live.delete(id);
    this.#lingering.delete(id);
    this.#live.set(id, one);
    return before;
  }

  /** It is under way again. */
  wake(id: string, one: Case): void {
    if (this.#lingering.delete(id)) this.#live.set(id, one);
  }

  /** It has ended; something may still come. Gives whether it was under way. */
  linger(id: string, one: Case): boolean {
    if (!this.#live.delete(id)) return false;
    this.#lingering.set(id, one);
    if (this.#lingering.size > this.#most) this.#forgetOldest();
    return true;
  }

  /** Nothing can come of it any more. */
  drop(id: string, one: Case): void {
    if (this.#live.delete(id) || this.#lingering.delete(id)) this.#gone?.(id, one);
  }

  #forgetOldest(): void {
    for (const [id, oldest] of this.#lingering) {
      this.drop(id, oldest);
      this.hasForgotten = true;
      return;
    }
  }
}
