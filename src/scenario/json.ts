/** JSON with two things that the language's own objects lack: keys in the order of the text, whatever they look like, and words for what was found. */

/** An object of parsed JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object in the sense of JSON: no array, no `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, in words for a message; short values are shown. */
export function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (value === null) return 'null';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return String(value);
}

// A string in JSON text, with the colon that makes it a key.
const strings = /"((?:[^"\\]|\\.)*)"(\s*:)?/g;

/**
 * The keys of an object inside a JSON text, in the order of the text. An object
 * of the language moves keys like `"2"` to the front and sorts them.
 * @param text text that `JSON.parse` has accepted
 * @param path keys and indexes from the outermost value to an object
 */
export function orderedKeys(text: string, path: readonly (string | number)[]): string[] {
  // A mark before every key keeps the language from taking any for a number.
  const marked = text.replace(strings, (whole, body: string, colon: string | undefined) =>
    colon === undefined ? whole : `"~${body}"${colon}`,
  );
  let value: unknown = JSON.parse(marked);
  for (const key of path)
    value = (value as Record<string | number, unknown>)[typeof key === 'string' ? `~${key}` : key];
  return Object.keys(value as JsonObject).map((key) => key.slice(1));
}

/**
 * JSON text of a value in which a `Map` stands for an object whose order of keys
 * is to be kept. What JSON cannot hold is left out of objects and is `null`
 * elsewhere. Works on a list of its own, so that deep values cannot exhaust the stack.
 */
export function printJson(value: unknown): string {
  let text = '';
  const pending: Piece[] = [{ value }];
  for (let piece = pending.pop(); piece !== undefined; piece = pending.pop()) {
    if (typeof piece === 'string') text += piece;
    else if (typeof piece.value !== 'object' || piece.value === null) text += JSON.stringify(piece.value) ?? 'null';
    // Taken from the end: turned round, what stands first is printed first.
    else for (const part of piecesOf(piece.value).reverse()) pending.push(part);
  }
  return text;
}

type Piece = string | { readonly value: unknown };

function piecesOf(container: object): Piece[] {
  const pieces: Piece[] = [];
  if (Array.isArray(container)) {
    for (const value of container as unknown[]) pieces.push(pieces.length === 0 ? '[' : ',', { value });
    return pieces.length === 0 ? ['[]'] : [...pieces, ']'];
  }
  const entries: [string, unknown][] = container instanceof Map ? [...container] : Object.entries(container);
  for (const [key, value] of entries) {
    if (value !== undefined) pieces.push(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:`, { value });
  }
  return pieces.length === 0 ? ['{}'] : [...pieces, '}'];
}
