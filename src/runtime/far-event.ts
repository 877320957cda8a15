/**
 * Reads what a driver yields. The event may be anything, a hostile object
 * included: what is not of the contract becomes a fact about it, never a throw.
 */
import type { SessionEventType } from '../../machines/index.js';
import { messageOf } from '../contract/errors.js';
import type { BidiEvent } from '../contract/provider.js';
import type { BidiTurnEvent } from '../contract/turn-event.js';

/** What a yielded value is. `problem` says what was expected and found where it is not of the contract. */
export type FarReading =
  | { readonly type: BidiEvent['type']; readonly event: BidiEvent }
  | {
      readonly type: Extract<SessionEventType, 'unknown' | 'ill_formed_note' | 'malformed'>;
      readonly problem: string;
    };

/** The ids that every report carries. */
export type ReportIds = Pick<BidiTurnEvent, 'sessionId' | 'turnId'>;

type Fields = Record<string, unknown>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isCount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0;

export function readFarEvent(value: unknown): FarReading {
  try {
    return read(value);
  } catch (thrown) {
    return { type: 'malformed', problem: `malformed event: its fields cannot be read (${messageOf(thrown)})` };
  }
}

/** A report that a far-side event becomes as it is, where its step asks for a delivery alone. */
export type PlainReport = Extract<BidiTurnEvent, { type: 'text' | 'audio' | 'turn_complete' | 'error' }>;

/** The report of a well-formed `text`, `audio`, `turn_complete` or `error`, in one look; `undefined` for all else. */
export function plainReportOf(value: unknown, { sessionId, turnId }: ReportIds): PlainReport | undefined {
  try {
    const fields = value as Fields;
    const { type } = fields;
    if (type === 'text') {
      const { text } = fields;
      if (typeof text === 'string') return { type, sessionId, turnId, text };
    } else if (type === 'audio') {
      const { data, mediaType } = fields;
      if (typeof data === 'string' && typeof mediaType === 'string') {
        return { type, sessionId, turnId, data, mediaType };
      }
    } else if (type === 'turn_complete') return { type, sessionId, turnId };
    else if (type === 'error') {
      const { message } = fields;
      if (typeof message === 'string') return { type, sessionId, turnId, message };
    }
  } catch {
    // it is read again, with words for what is wrong
  }
  return undefined;
}

/** A piece of output on its way to the host: of a text its characters alone, of audio the report. */
export type Output = string | Extract<BidiTurnEvent, { type: 'audio' }>;

/** Whether it is a well-formed piece of output. */
export function isOutput(value: unknown): boolean {
  try {
    const fields = value as Fields;
    const { type } = fields;
    if (type === 'text') return typeof fields.text === 'string';
    return type === 'audio' && typeof fields.data === 'string' && typeof fields.mediaType === 'string';
  } catch {
    return false;
  }
}

/** Whether it ends a stretch. */
export function endsStretch(value: unknown): boolean {
  try {
    const { type } = value as Fields;
    return type === 'turn_complete' || type === 'interrupted';
  } catch {
    return false;
  }
}

/** What goes on of a well-formed `text` or `audio`; `undefined` for all else. */
export function outputOf(value: unknown, { sessionId, turnId }: ReportIds): Output | undefined {
  try {
    const fields = value as Fields;
    const { type } = fields;
    if (type === 'text') {
      const { text } = fields;
      if (typeof text === 'string') return text;
    } else if (type === 'audio') {
      const { data, mediaType } = fields;
      if (typeof data === 'string' && typeof mediaType === 'string') {
        return { type, sessionId, turnId, data, mediaType };
      }
    }
  } catch {
    // it is read again, with words for what is wrong
  }
  return undefined;
}

const halfCharacter = /\p{Surrogate}/u;

/** Whether it can be the id of a call. Halves of characters have no UTF-8: in a journal two ids that differ by them would be one. */
function isId(value: unknown): value is string {
  return isText(value) && value !== '' && !halfCharacter.test(value);
}

function read(value: unknown): FarReading {
  if (typeof value !== 'object' || value === null) return malformed('an object with a string `type`', value);
  const fields = value as Fields;
  const { type } = fields;
  if (!isText(type)) return malformed('an object with a string `type`', type);
  switch (type) {
    case 'text': {
      const { text } = fields;
      return isText(text) ? { type, event: { type, text } } : misses(type, 'text', 'a string', text);
    }
    case 'audio': {
      const { data, mediaType } = fields;
      if (!isText(data)) return misses(type, 'data', 'a string', data);
      if (!isText(mediaType)) return misses(type, 'mediaType', 'a string', mediaType);
      return { type, event: { type, data, mediaType } };
    }
    case 'tool_call': {
      const { id, name, arguments: args } = fields;
      if (!isId(id)) return misses(type, 'id', 'a string that is not empty, without half characters', id);
      if (!isText(name)) return misses(type, 'name', 'a string', name);
      if (!isText(args)) return misses(type, 'arguments', 'a string', args);
      return { type, event: { type, id, name, arguments: args } };
    }
    case 'turn_complete':
    case 'interrupted':
      return { type, event: { type } };
    case 'error': {
      const { message } = fields;
      return isText(message) ? { type, event: { type, message } } : misses(type, 'message', 'a string', message);
    }
    case 'closed': {
      const { reason } = fields;
      if (reason === undefined) return { type, event: { type } };
      return isText(reason) ? { type, event: { type, reason } } : misses(type, 'reason', 'a string', reason);
    }
    case 'tool_call_cancelled': {
      const { ids } = fields;
      if (!Array.isArray(ids)) return misses(type, 'ids', 'an array of strings', ids);
      const bad = ids.find((id) => !isId(id));
      if (bad !== undefined || ids.includes(undefined))
        return misses(type, 'ids', 'strings that are not empty, without half characters', bad);
      return { type, event: { type, ids: [...ids] as string[] } };
    }
    case 'usage': {
      const usage: { type: 'usage' } & Record<string, number> = { type } as never;
      for (const name of ['inputTokens', 'outputTokens', 'totalTokens', 'cachedTokens']) {
        const count = fields[name];
        if (count === undefined) continue;
        if (!isCount(count)) return note(type, name, 'a number of tokens', count);
        usage[name] = count as number;
      }
      return { type, event: usage as unknown as BidiEvent };
    }
    case 'input_text': {
      const { text, final } = fields;
      if (!isText(text)) return note(type, 'text', 'a string', text);
      if (typeof final !== 'boolean') return note(type, 'final', 'a boolean', final);
      return { type, event: { type, text, final } };
    }
    case 'expiring': {
      const { inMs } = fields;
      if (!isCount(inMs)) return note(type, 'inMs', 'a number of milliseconds', inMs);
      return { type, event: { type, inMs: inMs as number } };
    }
    default:
      return { type: 'unknown', problem: `unknown event type ${JSON.stringify(type.slice(0, 80))}` };
  }
}

function malformed(expected: string, found: unknown): FarReading {
  return { type: 'malformed', problem: `malformed event: expected ${expected}, found ${kindOf(found)}` };
}

function misses(type: string, field: string, expected: string, found: unknown): FarReading {
  return {
    type: 'malformed',
    problem: `malformed ${type} event: expected \`${field}\` to be ${expected}, found ${kindOf(found)}`,
  };
}

function note(type: string, field: string, expected: string, found: unknown): FarReading {
  return {
    type: 'ill_formed_note',
    problem: `malformed ${type} event ignored: expected \`${field}\` to be ${expected}, found ${kindOf(found)}`,
  };
}

function kindOf(value: unknown): string {
  if (value === '') return 'an empty string';
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
