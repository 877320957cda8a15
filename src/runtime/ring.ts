/** A queue over a ring that grows: taking costs the same however much waits. Holds no memory while nothing waits. */
export class Ring<Item> {
  #slots: (Item | undefined)[] = empty;
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Item): void {
    if (this.#size === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#size) & (this.#slots.length - 1)] = item;
    this.#size++;
  }

  /** The oldest, or `undefined` when nothing waits. */
  shift(): Item | undefined {
    if (this.#size === 0) return undefined;
    const slots = this.#slots;
    const item = slots[this.#head];
    slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (slots.length - 1);
    this.#size--;
    if (this.#size === 0 && slots.length > keptSlots) this.clear();
    return item;
  }

  /** Takes out what `drop` names and gives how many that were; the order of the rest stays. */
  remove(drop: (item: Item) => boolean): number {
    const before = this.#size;
    for (let left = before; left > 0; left--) {
      const item = this.shift() as Item;
      if (!drop(item)) this.push(item);
    }
    return before - this.#size;
  }

  clear(): void {
    this.#slots = empty;
    this.#head = 0;
    this.#size = 0;
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Array<Item | undefined>(Math.max(firstSlots, old.length * 2));
    for (let i = 0; i < this.#size; i++) slots[i] = old[(this.#head + i) & (old.length - 1)];
    this.#slots = slots;
    this.#head = 0;
  }
}

/** Shared by all rings that hold nothing; never written, since a push grows first. */
const empty: never[] = [];
const firstSlots = 16;
/** A ring that grew beyond this gives its memory back when it runs empty. */
const keptSlots = 1024;
