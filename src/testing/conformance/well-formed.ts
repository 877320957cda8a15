import type { BidiEvent } from '../../contract/provider.js';

/** What is expected of an event and not so, or `undefined` where all is well. */
export function problemOf(event: BidiEvent): string | undefined {
  switch (event.type) {
    case 'text':
    case 'input_text':
      return typeof event.text === 'string' && event.text !== '' ? undefined : '`text` to be a text that is not empty';
    case 'audio':
      if (!isBase64(event.data)) return '`data` to be base64';
      return typeof event.mediaType === 'string' && event.mediaType.startsWith('audio/')
        ? undefined
        : '`mediaType` to begin with audio/';
    case 'tool_call':
      if (typeof event.id !== 'string' || event.id === '') return '`id` to be a text that is not empty';
      if (typeof event.name !== 'string' || event.name === '') return '`name` to be a text that is not empty';
      return typeof event.arguments === 'string' ? undefined : '`arguments` to be a text';
    case 'turn_complete':
    case 'interrupted':
      return undefined;
    case 'error':
      return typeof event.message === 'string' && event.message !== '' ? undefined : '`message` to say something';
    case 'closed':
      return event.reason === undefined || typeof event.reason === 'string' ? undefined : '`reason` to be a text';
    case 'tool_call_cancelled':
      return Array.isArray(event.ids) && event.ids.every((id) => typeof id === 'string' && id !== '')
        ? undefined
        : '`ids` to be texts that are not empty';
    case 'usage': {
      const { type: _, ...counts } = event;
      return Object.values(counts).every((count) => Number.isSafeInteger(count) && count >= 0)
        ? undefined
        : 'counts to be whole numbers from 0';
    }
    case 'expiring':
      return Number.isSafeInteger(event.inMs) && event.inMs >= 0 ? undefined : '`inMs` to be a whole number from 0';
    default:
      return '`type` to be one of the contract';
  }
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}
