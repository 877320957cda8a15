import type { DescField } from '@bufbuild/protobuf';
import { refuse } from './refuse.js';
import { adoptString } from './scalar.js';

/** How deep values may stand in each other, counted with the messages around them. */
const deepest = 200;

/** A JSON object from outside as our own, frozen. @throws {InvalidInputError} for what is no JSON, or too deep */
export function adoptJsonObject(field: DescField, value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(field, 'a JSON object', value);
  return adoptJson(field, value, depth);
}

function adoptJson(field: DescField, value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return adoptString(field, value);
    case 'number':
    case 'boolean':
      return value;
    case 'object': {
      if (value === null) return value;
      if (depth > deepest) refuse(field, `at most ${deepest} values in each other`, value);
      if (Array.isArray(value)) {
        const list: unknown[] = [];
        for (let index = 0; index < value.length; index++) list.push(adoptJson(field, value[index], depth + 1));
        return Object.freeze(list);
      }
      const copy: Record<string, unknown> = {};
      for (const key of Object.keys(value)) {
        const entry = adoptJson(field, (value as Record<string, unknown>)[key], depth + 1);
        Object.defineProperty(copy, adoptString(field, key), { enumerable: true, value: entry });
      }
      return Object.freeze(copy);
    }
    default:
      return refuse(field, 'JSON', value);
  }
}
