/** Things that are the same are one, and have a number: from 1, in the order in which they were met. */
export class Pool<Item> {
  readonly #numbers = new Map<string, number>();
  readonly #items: Item[] = [];

  /** The number of what has this key; `make` gives the thing where it was not met before. */
  numberOf(key: string, make: () => Item): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#items.push(make());
      this.#numbers.set(key, number);
    }
    return number;
  }

  at(number: number): Item {
    return this.#items[number - 1] as Item;
  }

  get size(): number {
    return this.#items.length;
  }
}
