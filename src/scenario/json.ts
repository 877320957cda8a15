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
  for (const key of path) value = (value as Record<string | number, unknown>)[typeof key === 'string' ? `~${key}` : key];
  return Object.keys(value as JsonObject).map((key) => key.slice(1));
}

/** JSON text of a value in which a `Map` stands for an object whose order of keys is to be kept. What JSON cannot hold is left out of objects and is `null` elsewhere. */
export function printJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  const fields = entries.filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${printJson(field)}`).join(',')}}`;
}
