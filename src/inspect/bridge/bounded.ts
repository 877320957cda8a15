/**
 * Values of a host as plain JSON data of a bounded size, read once and never
 * written to.
 *
 * V1. Reading takes time and gives data in proportion to the size that is left,
 *     however large, deep or cyclic the value is.
 * V2. What was left out is marked in its place, never dropped in silence.
 */

/** How much may still be read, in characters. Counts down. */
export interface Allowance {
  left: number;
}

/** Below this many levels, objects are marked and not read; the stock inspector has the same. */
const deepest = 10;
/** What a number, a bracket or a key costs beside its text. */
const perValue = 4;

/** @throws whatever a getter, a proxy or a `toJSON` of the value throws */
export function bounded(value: unknown, allowance: Allowance): unknown {
  return read(value, allowance, []);
}

function read(value: unknown, allowance: Allowance, within: object[]): unknown {
  allowance.left -= perValue;
  switch (typeof value) {
    case 'string':
      return textOf(value, allowance);
    case 'bigint':
      return textOf(`${value}`, allowance);
    case 'function':
      return { type: textOf(value.name, allowance) };
    case 'object':
      return value === null ? null : readObject(value, allowance, within);
    case 'symbol':
      return undefined;
    default:
      return value;
  }
}

function readObject(value: object, allowance: Allowance, within: object[]): unknown {
  if (within.includes(value)) return '[Circular]';
  if (within.length >= deepest) return Array.isArray(value) ? '[Array]' : '[Object]';
  within.push(value);
  try {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return read(toJSON.call(value), allowance, within);
    if (Array.isArray(value)) return readList(value, value.length, allowance, within);
    if (value instanceof Map || value instanceof Set) return readList(value, value.size, allowance, within);
    if (value instanceof Error) {
      return { name: read(value.name, allowance, within), message: read(value.message, allowance, within) };
    }
    return readFields(value as Record<string, unknown>, allowance, within);
  } finally {
    within.pop();
  }
}

function readList(items: Iterable<unknown>, size: number, allowance: Allowance, within: object[]): unknown[] {
  const list: unknown[] = [];
  for (const item of items) {
    if (allowance.left <= 0) {
      list.push(`… ${size - list.length} more`);
      break;
    }
    list.push(read(item, allowance, within) ?? null);
  }
  return list;
}

function readFields(value: Record<string, unknown>, allowance: Allowance, within: object[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (allowance.left <= 0) {
      fields['…'] = 'more';
      break;
    }
    const name = textOf(key, allowance);
    const found = read(value[key], allowance, within);
    if (name === '__proto__') {
      Object.defineProperty(fields, name, { value: found, enumerable: true, writable: true, configurable: true });
    } else fields[name] = found;
  }
  return fields;
}

function textOf(text: string, allowance: Allowance): string {
  const room = Math.max(0, allowance.left);
  allowance.left -= text.length;
  return text.length <= room ? text : `${text.slice(0, room)}…`;
}
