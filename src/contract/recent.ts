/** Remembers what was set last under the last `limit` keys; older ones are forgotten, so that memory stays bounded. */
export class Recent<Value> {
  readonly #values = new Map<string, Value>();

  constructor(readonly limit: number) {}

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** Sets `key`, which becomes the newest, and gives up the oldest if there are too many. */
  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.limit) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }
}
