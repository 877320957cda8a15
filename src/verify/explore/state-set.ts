/**
 * States that were met, each once, and how each was first reached. A state is a
 * row of integers; a million of four take about 40 MB.
 */

/** Rows of integers of one width, numbered from 0 in the order in which they were added. */
export class StateSet {
  readonly #width: number;
  #rows: Int32Array;
  #parents: Int32Array;
  #codes: Int32Array;
  /** Open addressing; number of the row plus one, 0 where nothing is. */
  #slots = new Int32Array(1 << 12);
  #size = 0;

  constructor(width: number) {
    this.#width = width;
    this.#rows = new Int32Array(width << 10);
    this.#parents = new Int32Array(1 << 10);
    this.#codes = new Int32Array(1 << 10);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that it holds on to. */
  get bytes(): number {
    return this.#rows.byteLength + this.#parents.byteLength + this.#codes.byteLength + this.#slots.byteLength;
  }

  /**
   * Adds a row, unless it is there.
   * @param parent the state that the event `code` led here from; a beginning has -1
   * @param most how many rows there may be
   * @returns whether the row is in the set now
   */
  add(row: ArrayLike<number>, parent: number, code: number, most: number): boolean {
    const slot = this.#slotOf(row);
    if (this.#slots[slot] !== 0) return true;
    if (this.#size >= most) return false;
    const index = this.#size++;
    if (index === this.#parents.length) this.#growRows();
    const at = index * this.#width;
    for (let i = 0; i < this.#width; i++) this.#rows[at + i] = row[i] as number;
    this.#parents[index] = parent;
    this.#codes[index] = code;
    this.#slots[slot] = index + 1;
    if (this.#size * 2 > this.#slots.length) this.#growSlots();
    return true;
  }

  /** Writes a row into `into`. */
  read(index: number, into: Int32Array): void {
    const at = index * this.#width;
    for (let i = 0; i < this.#width; i++) into[i] = this.#rows[at + i] as number;
  }

  /** The events that led to a state, from the beginning on. */
  pathTo(index: number): number[] {
    const path: number[] = [];
    for (let at = index; (this.#parents[at] as number) >= 0; at = this.#parents[at] as number) {
      path.push(this.#codes[at] as number);
    }
    return path.reverse();
  }

  #slotOf(row: ArrayLike<number>): number {
    const mask = this.#slots.length - 1;
    const width = this.#width;
    for (let slot = hashOf(row, width) & mask; ; slot = (slot + 1) & mask) {
      const taken = this.#slots[slot] as number;
      if (taken === 0) return slot;
      const at = (taken - 1) * width;
      let i = 0;
      while (i < width && this.#rows[at + i] === row[i]) i++;
      if (i === width) return slot;
    }
  }

  #growRows(): void {
    this.#rows = doubled(this.#rows);
    this.#parents = doubled(this.#parents);
    this.#codes = doubled(this.#codes);
  }

  #growSlots(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    const row = new Int32Array(this.#width);
    for (let index = 0; index < this.#size; index++) {
      this.read(index, row);
      let slot = hashOf(row, this.#width) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = index + 1;
    }
    this.#slots = slots;
  }
}

function doubled(array: Int32Array): Int32Array {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** Murmur's mixing: rows differ in few bits of small numbers. */
function hashOf(row: ArrayLike<number>, width: number): number {
  let hash = 0;
  for (let i = 0; i < width; i++) {
    let part = Math.imul(row[i] as number, 0xcc9e2d51);
    part = (part << 15) | (part >>> 17);
    hash ^= Math.imul(part, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
