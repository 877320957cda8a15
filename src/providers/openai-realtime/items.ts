import { InvalidInputError } from '../../contract/errors.js';
import type { HistoryEntry } from '../../contract/provider.js';
import { isRecord, type JsonRecord } from '../../contract/wire-reading.js';

/** The user's words, as an item of the conversation. */
export function userItem(id: string, text: string): JsonRecord {
  return { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

/** The result of a call, as an item of the conversation. The service knows no failed result: an error is JSON that says so. */
export function resultItem(id: string, callId: string, output: string, isError: boolean): JsonRecord {
  const text = isError ? JSON.stringify({ error: output }) : output;
  return { id, type: 'function_call_output', call_id: callId, output: text };
}

/**
 * What was said before, as items of the conversation. A call becomes two: itself, and its result. An id of a call that this
 * service would not take (it came from another one) is replaced.
 * @param nextId gives an id for each item
 * @throws {InvalidInputError} on an entry that is none.
 */
export function historyItems(history: readonly HistoryEntry[], isBeta: boolean, nextId: () => string): JsonRecord[] {
  if (!Array.isArray(history)) throw new InvalidInputError('history', 'a list', history);
  const items: JsonRecord[] = [];
  for (const [index, entry] of history.entries()) {
    if (!isEntry(entry)) {
      throw new InvalidInputError(`history[${index}]`, 'something said, or a call with its result', entry);
    }
    const id = nextId();
    if (entry.role === 'user') items.push(userItem(id, entry.text));
    else if (entry.role === 'assistant') {
      const type = isBeta ? 'text' : 'output_text';
      items.push({ id, type: 'message', role: 'assistant', content: [{ type, text: entry.text }] });
    } else {
      const callId = callIds.test(entry.id) ? entry.id : `call_${id}`;
      items.push({ id, type: 'function_call', call_id: callId, name: entry.name, arguments: entry.arguments });
      items.push(resultItem(nextId(), callId, entry.output, entry.isError));
    }
  }
  return items;
}

const callIds = /^[A-Za-z0-9_-]{1,32}$/;

function isEntry(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  if (entry.role === 'user' || entry.role === 'assistant') return typeof entry.text === 'string';
  if (entry.role !== 'tool' || typeof entry.isError !== 'boolean') return false;
  return ['id', 'name', 'arguments', 'output'].every((key) => typeof entry[key] === 'string');
}
