import { InvalidInputError } from '../../contract/errors.js';
import type { BidiInput, HistoryEntry } from '../../contract/provider.js';
import { isRecord, type JsonRecord } from '../../contract/wire-reading.js';
import { isBase64 } from './base64.js';
import type { ModelTraits } from './model-traits.js';

/**
 * The message that carries an input of the user.
 * @throws {InvalidInputError} when it is none that the service takes.
 */
export function inputMessage(input: BidiInput, traits: ModelTraits): JsonRecord {
  if (!isRecord(input)) throw new InvalidInputError('input', 'an object', input);
  if (input.type === 'text') {
    const { text } = input;
    if (typeof text !== 'string') throw new InvalidInputError('input.text', 'a text', text);
    return traits.text === 'realtime'
      ? { realtimeInput: { text } }
      : { clientContent: { turns: [{ role: 'user', parts: [{ text }] }], turnComplete: true } };
  }
  if (input.type !== 'audio') throw new InvalidInputError('input.type', 'text or audio', (input as JsonRecord).type);
  const { data, mediaType } = input;
  if (typeof mediaType !== 'string' || !/^audio\/pcm(;\s*rate=[1-9]\d{3,5})?$/i.test(mediaType)) {
    throw new InvalidInputError('input.mediaType', 'audio/pcm or audio/pcm;rate=N', mediaType);
  }
  if (!isBase64(data)) throw new InvalidInputError('input.data', 'base64', typeof data);
  return { realtimeInput: { audio: { data, mimeType: mediaType } } };
}

/** Asks a model to stop that takes content in the midst of its output; with `realtime` there is no message for that. */
export function stopMessage(traits: ModelTraits): JsonRecord | undefined {
  return traits.text === 'realtime' ? undefined : { clientContent: { turnComplete: false } };
}

/** One answer to one call. */
export interface Answer {
  /** Absent where the wire gave the call none. */
  readonly id?: string;
  readonly name: string;
  readonly response: { readonly output: string } | { readonly error: string };
  readonly scheduling?: string;
}

export function answerMessage(answer: Answer): JsonRecord {
  return { toolResponse: { functionResponses: [answer] } };
}

/**
 * What was said before, as turns of the conversation; nothing is asked for.
 * With `initial` the service reads turns up to the message that completes
 * them, and answers none.
 */
export function historyMessage(history: readonly HistoryEntry[], traits: ModelTraits): JsonRecord {
  const turns = history.flatMap(turnsOf);
  return { clientContent: { turns, turnComplete: traits.history === 'initial' } };
}

function turnsOf(entry: HistoryEntry): JsonRecord[] {
  if (entry.role !== 'tool') {
    return [{ role: entry.role === 'user' ? 'user' : 'model', parts: [{ text: entry.text }] }];
  }
  const { id, name, output, isError } = entry;
  const response = isError ? { error: output } : { output };
  return [
    { role: 'model', parts: [{ functionCall: { id, name, args: argsOf(entry.arguments) } }] },
    { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
  ];
}

/** Arguments as the model wrote them; what is no JSON object is kept as text, so that it is not lost. */
function argsOf(text: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // kept below
  }
  return { arguments: text };
}
