/** A JSON object of which nothing is known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a JSON value is an object (a list is none). */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object under `key`, or `undefined` where there is none. */
export function recordIn(record: JsonRecord, key: string): JsonRecord | undefined {
  const value = record[key];
  return isRecord(value) ? value : undefined;
}

/** The text under `key`, or `undefined`. The empty text is a text. */
export function textIn(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' ? value : undefined;
}

/** The text under `key` if it can name something: not empty. */
export function idIn(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The number under `key` if it can be a count: finite and not negative. */
export function countIn(record: JsonRecord, key: string): number | undefined {
  const value = record[key];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The list under `key`; empty where there is none. */
export function listIn(record: JsonRecord, key: string): readonly unknown[] {
  const value = record[key];
  return Array.isArray(value) ? value : none;
}

/** The JSON text of a value, or `undefined` where it has none (`undefined` itself, or nested deeper than the engine can print). */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Names the kind of a value for a message: never its content, which may be private. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}

const none: readonly unknown[] = [];
