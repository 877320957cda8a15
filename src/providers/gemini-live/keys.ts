import type { JsonRecord } from '../../contract/wire-reading.js';

/**
 * An object with its keys in camelCase, one level deep: the service takes and
 * gives both spellings. Never used on a call's arguments, whose keys are the
 * tool's own.
 */
export function camelKeys(record: JsonRecord): JsonRecord {
  for (const key in record) {
    if (key.includes('_')) return Object.fromEntries(Object.entries(record).map(([k, value]) => [camel(k), value]));
  }
  return record;
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
