/** What a far-side event of a scenario is to the session: the judge reads it by itself, for the runtime's mistakes are not to be shared. */
import { isJsonObject } from '../../../scenario/json.js';
import type { PlainFar } from './happening.js';

/** A far-side event, as the walk has words for it. */
export type FarReading =
  | { readonly of: 'far'; readonly type: PlainFar }
  | { readonly of: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly of: 'withdraw'; readonly ids: readonly string[] };

const isText = (value: unknown): value is string => typeof value === 'string';
const isFilled = (value: unknown): value is string => isText(value) && value !== '';
const isCount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const malformed: FarReading = { of: 'far', type: 'malformed' };
/** Notes that go wrong are only told of, as what nobody knows is. */
const unknown: FarReading = { of: 'far', type: 'unknown' };

/** Reads the value of a `far` step. */
export function readFar(value: unknown): FarReading {
  if (!isJsonObject(value)) return malformed;
  const { type } = value;
  switch (type) {
    case 'text':
      return isText(value['text']) ? { of: 'far', type } : malformed;
    case 'audio':
      return isText(value['data']) && isText(value['mediaType']) ? { of: 'far', type } : malformed;
    case 'error':
      return isText(value['message']) ? { of: 'far', type } : malformed;
    case 'closed':
      return value['reason'] === undefined || isText(value['reason']) ? { of: 'far', type } : malformed;
    case 'turn_complete':
    case 'interrupted':
      return { of: 'far', type };
    case 'tool_call': {
      const { id, name, arguments: args } = value;
      return isFilled(id) && isText(name) && isText(args) ? { of: type, id, name, arguments: args } : malformed;
    }
    case 'tool_call_cancelled': {
      const { ids } = value;
      return Array.isArray(ids) && ids.every(isFilled) ? { of: 'withdraw', ids } : malformed;
    }
    case 'usage': {
      const counts = ['inputTokens', 'outputTokens', 'totalTokens', 'cachedTokens'].map((field) => value[field]);
      return counts.every((count) => count === undefined || isCount(count)) ? { of: 'far', type } : unknown;
    }
    case 'input_text':
      return isText(value['text']) && typeof value['final'] === 'boolean' ? { of: 'far', type: 'usage' } : unknown;
    case 'expiring':
      return isCount(value['inMs']) ? { of: 'far', type: 'usage' } : unknown;
    default:
      return isText(type) ? unknown : malformed;
  }
}
