/**
 * A map by text that is never changed: `set` gives another map that shares all
 * but one path with it. A B-tree, so that no choice of keys makes it slow: ids
 * come from outside, and whoever chooses them could make any hash collide.
 *
 * M1. `get` and `set` cost the logarithm of the size; maps made before stay as
 *     they were.
 * M2. Every node but the root holds at least 15 keys and at most 31, every leaf
 *     stands at the same depth.
 */

const most = 31;
const middle = most >>> 1;

interface Node<Value> {
  /** In order. */
  readonly keys: readonly string[];
  readonly values: readonly Value[];
  /** One more than keys; none in a leaf. */
  readonly children: readonly Node<Value>[] | undefined;
}

/** What became of a node: itself anew, or two with what stands between them. */
interface Grown<Value> {
  readonly node: Node<Value>;
  readonly split: { readonly key: string; readonly value: Value; readonly right: Node<Value> } | undefined;
}

export class OrderedMap<Value> {
  static readonly #empty = new OrderedMap<never>({ keys: [], values: [], children: undefined }, 0);

  /** The map without entries. */
  static empty<Value>(): OrderedMap<Value> {
    return OrderedMap.#empty;
  }

  /** How many entries there are. */
  readonly size: number;
  readonly #root: Node<Value>;
  // deltas of one message follow each other: what was found last is at hand
  #lastKey: string | undefined;
  #lastValue: Value | undefined;

  private constructor(root: Node<Value>, size: number) {
    this.#root = root;
    this.size = size;
  }

  get(key: string): Value | undefined {
    if (key === this.#lastKey) return this.#lastValue;
    const value = find(this.#root, key);
    if (value !== undefined) {
      this.#lastKey = key;
      this.#lastValue = value;
    }
    return value;
  }

  set(key: string, value: Value): OrderedMap<Value> {
    let added = 1;
    const setIn = (node: Node<Value>): Grown<Value> => {
      const at = placeOf(node.keys, key);
      if (node.keys[at] === key) {
        added = 0;
        return whole({ keys: node.keys, values: replaced(node.values, at, value), children: node.children });
      }
      const child = node.children?.[at];
      if (child === undefined) return withEntry(node, at, key, value, undefined);
      const { node: left, split } = setIn(child);
      const children = replaced(node.children as readonly Node<Value>[], at, left);
      const grown = { keys: node.keys, values: node.values, children };
      return split === undefined ? whole(grown) : withEntry(grown, at, split.key, split.value, split.right);
    };
    const { node, split } = setIn(this.#root);
    const root =
      split === undefined ? node : { keys: [split.key], values: [split.value], children: [node, split.right] };
    return new OrderedMap(root, this.size + added);
  }
}

function find<Value>(root: Node<Value>, key: string): Value | undefined {
  let node: Node<Value> | undefined = root;
  while (node !== undefined) {
    const at = placeOf(node.keys, key);
    if (node.keys[at] === key) return node.values[at];
    node = node.children?.[at];
  }
  return undefined;
}

/** The first place whose key is not before this one. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const at = (low + high) >>> 1;
    if ((keys[at] as string) < key) low = at + 1;
    else high = at;
  }
  return low;
}

function whole<Value>(node: Node<Value>): Grown<Value> {
  return { node, split: undefined };
}

/** A node with one entry more, and in an inner node the child behind it; two nodes if it was full. */
function withEntry<Value>(
  node: Node<Value>,
  at: number,
  key: string,
  value: Value,
  right: Node<Value> | undefined,
): Grown<Value> {
  const keys = inserted(node.keys, at, key);
  const values = inserted(node.values, at, value);
  const children = right && node.children ? inserted(node.children, at + 1, right) : undefined;
  if (keys.length <= most) return whole({ keys, values, children });
  return {
    node: { keys: keys.slice(0, middle), values: values.slice(0, middle), children: children?.slice(0, middle + 1) },
    split: {
      key: keys[middle] as string,
      value: values[middle] as Value,
      right: { keys: keys.slice(middle + 1), values: values.slice(middle + 1), children: children?.slice(middle + 1) },
    },
  };
}

function inserted<Item>(items: readonly Item[], at: number, item: Item): Item[] {
  const copy = items.slice();
  copy.splice(at, 0, item);
  return copy;
}

function replaced<Item>(items: readonly Item[], at: number, item: Item): Item[] {
  const copy = items.slice();
  copy[at] = item;
  return copy;
}
