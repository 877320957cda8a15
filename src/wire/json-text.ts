import type { JsonValue } from '@bufbuild/protobuf';
import type { ResponseEvent } from '../../proto/index.js';
import { Fault } from './fault.js';

/** The text of a JSON value, with the sign of zero, which `JSON.stringify` leaves out. */
export function jsonText(json: JsonValue): string {
  let hasNegativeZero = false;
  const text = JSON.stringify(json, (_, value) => {
    if (Object.is(value, -0)) hasNegativeZero = true;
    return value;
  });
  return hasNegativeZero ? signedText(json) : text;
}

function signedText(json: JsonValue): string {
  if (Object.is(json, -0)) return '-0';
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(signedText).join(',')}]`;
  const entries = Object.entries(json).map(([key, value]) => `${JSON.stringify(key)}:${signedText(value)}`);
  return `{${entries.join(',')}}`;
}

/**
 * Makes sure that JSON can say the field masks of an event: there they are one text, of paths with commas between them.
 *
 * @throws {Fault}
 */
export function assertSayableMasks({ type }: ResponseEvent): void {
  if (type.case !== 'clientActions') return;
  for (const { action } of type.value.actions) {
    if (action.case !== 'updateTaskMessage' && action.case !== 'appendToMessageContent') continue;
    const paths = action.value.mask?.paths ?? [];
    const isNone = paths.length === 1 && paths[0] === '';
    if (isNone || paths.some((path) => path.includes(','))) {
      throw new Fault('a field mask that JSON can say', 'one of an empty path, or with a comma in a path');
    }
  }
}
