/**
 * Whether two values of ours are the same, unknown fields included. Ours are
 * made alike (members in the order of the schema, what is unset at its default
 * or absent), so nothing of the schema is needed to compare them.
 */
export function identical(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (one instanceof Uint8Array) return other instanceof Uint8Array && sameBytes(one, other);
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => identical(item, other[at]));
  }
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && identical(valueAt(one, key), valueAt(other, key)))
  );
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function valueAt(object: object, key: string): unknown {
  return (object as Record<string, unknown>)[key];
}
