/** What a field of a message may hold. Written apart from the driver, so that a mistake of one is not a mistake of both. */
export type Shape =
  | 'text'
  | 'flag'
  | 'integer'
  | 'number'
  | 'base64'
  /** Any JSON object, its keys as they are. */
  | 'struct'
  | 'any'
  | readonly ['one of', ...string[]]
  | { readonly list: Shape }
  | { readonly message: Fields };

export type Fields = { readonly [camelCase: string]: Shape };

/** Says where a message is wrong, as the service would, or gives it with its keys in camelCase. */
export type Reading = { readonly value: Record<string, unknown> } | { readonly problem: string };

/** Reads a message strictly: keys in camelCase or snake_case, none that is unknown, none twice. */
export function readMessage(value: unknown, fields: Fields, where: string): Reading {
  try {
    return { value: messageOf(value, fields, where) };
  } catch (error) {
    if (error instanceof Mismatch) return { problem: error.problem };
    throw error;
  }
}

/** Thrown and caught in this file alone. */
class Mismatch {
  constructor(readonly problem: string) {}
}

function messageOf(value: unknown, fields: Fields, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Mismatch(`Invalid value at '${where}' (expected an object)`);
  }
  const read: Record<string, unknown> = {};
  for (const [given, content] of Object.entries(value)) {
    const key = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const shape = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (shape === undefined) {
      throw new Mismatch(
        `Invalid JSON payload received. Unknown name "${given}"${where && ` at '${where}'`}: Cannot find field.`,
      );
    }
    if (key in read) throw new Mismatch(`Invalid JSON payload received. Field '${key}' is set twice.`);
    // null stands for a field that is not set
    if (content !== null) read[key] = contentOf(content, shape, where === '' ? key : `${where}.${key}`);
  }
  return read;
}

function contentOf(value: unknown, shape: Shape, where: string): unknown {
  const expected = (kind: string): never => {
    throw new Mismatch(`Invalid value at '${where}' (expected ${kind})`);
  };
  if (typeof shape === 'object' && 'list' in shape) {
    if (!Array.isArray(value)) return expected('a list');
    return value.map((entry, index) => contentOf(entry, shape.list, `${where}[${index}]`));
  }
  if (typeof shape === 'object' && 'message' in shape) return messageOf(value, shape.message, where);
  if (typeof shape === 'object') {
    const [, ...names] = shape;
    return typeof value === 'string' && names.includes(value) ? value : expected(`one of ${names.join(', ')}`);
  }
  switch (shape) {
    case 'text':
      return typeof value === 'string' ? value : expected('a string');
    case 'flag':
      return typeof value === 'boolean' ? value : expected('a boolean');
    case 'integer':
      return Number.isSafeInteger(value) ? value : expected('an integer');
    case 'number':
      return typeof value === 'number' ? value : expected('a number');
    case 'base64':
      return typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value
        ? value
        : expected('base64');
    case 'struct':
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : expected('an object');
    default:
      return value;
  }
}
