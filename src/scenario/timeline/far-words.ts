import { isJsonObject, printJson } from '../json.js';
import { callName, quoted } from './text.js';

/** What the far side does with an event, after the words "the far side"; whatever it sent. */
export function farWords(payload: unknown): string {
  if (!isJsonObject(payload)) return `sends ${raw(payload)}`;
  const { type, text, data, mediaType, id, name, arguments: args, message, reason, ids } = payload;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? `says ${quoted(text)}` : `sends ${raw(payload)}`;
    case 'audio':
      return typeof data === 'string' && typeof mediaType === 'string'
        ? `speaks: ${audioBytes(data)} bytes, ${mediaType}`
        : `sends ${raw(payload)}`;
    case 'tool_call':
      return typeof id === 'string' && typeof name === 'string' && typeof args === 'string'
        ? `asks for ${callName(id)}: ${name} ${args}`
        : `sends ${raw(payload)}`;
    case 'turn_complete':
      return 'completes its turn';
    case 'interrupted':
      return 'was interrupted by the user';
    case 'error':
      return typeof message === 'string' ? `reports an error: ${quoted(message)}` : `sends ${raw(payload)}`;
    case 'closed':
      return typeof reason === 'string' ? `closes: ${quoted(reason)}` : 'closes';
    case 'tool_call_cancelled':
      return Array.isArray(ids)
        ? `withdraws ${ids.map((call) => callName(String(call))).join(', ')}`
        : `sends ${raw(payload)}`;
    default:
      return `sends ${raw(payload)}`;
  }
}

/** How many bytes a base64 text stands for. */
export function audioBytes(data: string): number {
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4);
}

/** A value as JSON on one line. */
export function raw(value: unknown): string {
  return printJson(value);
}
