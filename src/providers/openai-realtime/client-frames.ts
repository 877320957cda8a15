import type { JsonRecord } from '../../contract/wire-reading.js';
import type { DialectTraits } from './dialect.js';
import type { Truncation } from './playback.js';
import type { ResponseAction } from './response-queue.js';

/** Ids of our messages and items: counted, since they have to be unique on one connection only. */
export class FrameIds {
  #last = 0;

  /** For an item: at most 32 characters of `A-Za-z0-9_-`. */
  item(): string {
    return `cp_item_${++this.#last}`;
  }

  message(): string {
    return `cp_msg_${++this.#last}`;
  }

  /** For a message that is only advice: whatever the service has against it is of no interest to the host. */
  advice(): string {
    return `${advice}${++this.#last}`;
  }
}

const advice = 'cp_advice_';

/** Whether an error that answers this message is of no interest to the host. */
export function isAdvice(eventId: string | undefined): boolean {
  return eventId?.startsWith(advice) === true;
}

export function createItem(eventId: string, item: JsonRecord): JsonRecord {
  return { type: 'conversation.item.create', event_id: eventId, item };
}

export function appendAudio(eventId: string, audio: string): JsonRecord {
  return { type: 'input_audio_buffer.append', event_id: eventId, audio };
}

/** A request for a response, or for the end of one. */
export function responseFrame(action: ResponseAction, ids: FrameIds, traits: DialectTraits): JsonRecord {
  if (action.type === 'create') {
    const frame = { type: 'response.create', event_id: action.key };
    return traits.metadata ? { ...frame, response: { metadata: { [keyField]: action.key } } } : frame;
  }
  const cancel = { type: 'response.cancel', event_id: ids.advice() };
  // The mapping names what the wire gave no name.
  return action.responseId.startsWith('unnamed-') ? cancel : { ...cancel, response_id: action.responseId };
}

/** Where the key of a request stands in the metadata of its response. */
const keyField = 'commitpoint';

/** The key of the request that a response answers, if its metadata tells. */
export function keyIn(metadata: unknown): string | undefined {
  const key = typeof metadata === 'object' && metadata !== null ? (metadata as JsonRecord)[keyField] : undefined;
  return typeof key === 'string' ? key : undefined;
}

export function truncateItem(eventId: string, { itemId, contentIndex, audioEndMs }: Truncation): JsonRecord {
  return {
    type: 'conversation.item.truncate',
    event_id: eventId,
    item_id: itemId,
    content_index: contentIndex,
    audio_end_ms: audioEndMs,
  };
}

/** A message of the service as JSON; `undefined` where it is none. */
export function parseFrame(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
