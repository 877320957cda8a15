/**
 * A list that is never changed: what "changes" it gives another list that
 * shares all but one path with it. A trie of 32 ways, and its last leaf apart,
 * so that the end, where almost everything happens, is one small array.
 *
 * V1. `push` and `set` cost one path (at most seven arrays of 32), whatever the
 *     length; lists made before stay as they were.
 * V2. Two lists of one descent are compared in the size of their difference:
 *     a shared part is skipped as a whole.
 */

const bits = 5;
const width = 1 << bits;
const mask = width - 1;

/** An inner node holds nodes, a leaf holds values; which it is follows from its depth. */
type Node = readonly unknown[];

const none: Node = [];

export class Vector<Value> {
  static readonly #empty = new Vector<never>(0, bits, none, none);

  /** The list without values. */
  static empty<Value>(): Vector<Value> {
    return Vector.#empty;
  }

  static from<Value>(values: readonly Value[]): Vector<Value> {
    let vector = Vector.empty<Value>();
    for (const value of values) vector = vector.push(value);
    return vector;
  }

  /** How many values there are. */
  readonly size: number;
  /** Bits of an index above the root's children: 5 where they are leaves. */
  readonly #shift: number;
  readonly #root: Node;
  /** The values that no full leaf holds yet: 1 to 32 of them, none in an empty list. */
  readonly #tail: Node;

  private constructor(size: number, shift: number, root: Node, tail: Node) {
    this.size = size;
    this.#shift = shift;
    this.#root = root;
    this.#tail = tail;
  }

  /** How many values stand in the trie, not in the tail. */
  get #inTrie(): number {
    return this.size - this.#tail.length;
  }

  /** The value at an index from 0; `undefined` outside. */
  at(index: number): Value | undefined {
    if (index < 0 || index >= this.size) return undefined;
    return this.#leafOf(index)[index & mask] as Value;
  }

  #leafOf(index: number): Node {
    if (index >= this.#inTrie) return this.#tail;
    let node = this.#root;
    for (let shift = this.#shift; shift > 0; shift -= bits) node = node[(index >>> shift) & mask] as Node;
    return node;
  }

  push(value: Value): Vector<Value> {
    if (this.#tail.length < width) {
      const tail = this.#tail.slice();
      tail.push(value);
      return new Vector(this.size + 1, this.#shift, this.#root, tail);
    }
    const full = this.#inTrie === 1 << (this.#shift + bits);
    const shift = full ? this.#shift + bits : this.#shift;
    const root = full
      ? [this.#root, pathTo(this.#shift, this.#tail)]
      : withLeaf(this.#root, shift, this.#inTrie, this.#tail);
    return new Vector<Value>(this.size + 1, shift, root, [value]);
  }

  /** Another value at an index that there is; outside, and for the same value, the very same list. */
  set(index: number, value: Value): Vector<Value> {
    if (index < 0 || index >= this.size || this.at(index) === value) return this;
    if (index >= this.#inTrie) {
      const tail = this.#tail.slice();
      tail[index & mask] = value;
      return new Vector(this.size, this.#shift, this.#root, tail);
    }
    return new Vector(this.size, this.#shift, withValue(this.#root, this.#shift, index, value), this.#tail);
  }

  *[Symbol.iterator](): IterableIterator<Value> {
    for (const leaf of this.leaves()) yield* leaf;
  }

  /** The values, in arrays of at most 32 that lists of one descent share; not to be changed. */
  *leaves(): IterableIterator<readonly Value[]> {
    for (let index = 0; index < this.size; index += width) yield this.#leafOf(index) as readonly Value[];
  }

  /**
   * Visits every index at which two lists differ, in order; a value that one of
   * them has not is `undefined`.
   */
  static differences<Value>(
    before: Vector<Value>,
    after: Vector<Value>,
    visit: (index: number, before: Value | undefined, after: Value | undefined) => void,
  ): void {
    if (before === after) return;
    const both = Math.min(before.#inTrie, after.#inTrie);
    if (both > 0) {
      const shift = Math.min(before.#shift, after.#shift);
      compare(before.#down(shift), after.#down(shift), shift, 0, both, visit as Visit);
    }
    const end = Math.max(before.size, after.size);
    for (let index = both; index < end; index++) {
      const [one, other] = [before.at(index), after.at(index)];
      if (one !== other) visit(index, one, other);
    }
  }

  /** The first node whose children stand `shift` bits up. */
  #down(shift: number): Node {
    let node = this.#root;
    for (let at = this.#shift; at > shift; at -= bits) node = node[0] as Node;
    return node;
  }
}

type Visit = (index: number, before: unknown, after: unknown) => void;

/** Nodes above a leaf, each with one child, up to a root whose children stand `shift` bits up. */
function pathTo(shift: number, leaf: Node): Node {
  let node = leaf;
  for (let at = shift; at > 0; at -= bits) node = [node];
  return node;
}

function withLeaf(node: Node, shift: number, index: number, leaf: Node): Node {
  const copy = node.slice();
  const slot = (index >>> shift) & mask;
  const child = node[slot] as Node | undefined;
  if (shift === bits) copy[slot] = leaf;
  else if (child === undefined) copy[slot] = pathTo(shift - bits, leaf);
  else copy[slot] = withLeaf(child, shift - bits, index, leaf);
  return copy;
}

function withValue(node: Node, shift: number, index: number, value: unknown): Node {
  const copy = node.slice();
  const slot = (index >>> shift) & mask;
  copy[slot] = shift === 0 ? value : withValue(node[slot] as Node, shift - bits, index, value);
  return copy;
}

/** Compares the values from `start` on, before `end`, that two nodes of one depth hold. */
function compare(before: Node, after: Node, shift: number, start: number, end: number, visit: Visit): void {
  if (before === after) return;
  for (let slot = 0; slot < width; slot++) {
    const index = start + (slot << shift);
    if (index >= end) return;
    if (before[slot] === after[slot]) continue;
    if (shift === 0) visit(index, before[slot], after[slot]);
    else compare(before[slot] as Node, after[slot] as Node, shift - bits, index, end, visit);
  }
}
