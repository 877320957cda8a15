/** What a journal keeps of the inputs of a conversation, by its policy. */
import { toBinary } from '@bufbuild/protobuf';
import { sizeDelimitedEncode } from '@bufbuild/protobuf/wire';
import { type ResponseEvent, ResponseEventSchema } from '../../../proto/index.js';
import type { PayloadPolicy, RecordedFold } from '../../contract/journal.js';
import type { Received } from '../../conversation/input.js';
import { eventOf } from '../../conversation/received-event.js';
import { payloadUnder } from '../../journal/index.js';
import { redacted } from './redaction.js';

type Kept = Pick<RecordedFold, 'input' | 'digest' | 'message'>;

const nothing: Kept = Object.freeze({});
const utf8 = new TextEncoder();

/**
 * What there is to keep of an input. What a bad frame says may quote the frame, in which nobody can tell what is sensitive: it
 * is never kept.
 */
export function keptOf(received: Received, policy: PayloadPolicy): Kept {
  if (policy === 'omit') return nothing;
  const event = eventOf(received);
  if (event === undefined) {
    const { end, message } = received as Extract<Received, { readonly type: 'end' }>;
    if (message === '' || end === 'bad_frame') return nothing;
    return policy === 'keep' ? { message } : payloadUnder(policy, utf8.encode(message));
  }
  const bytes = toBinary(ResponseEventSchema, redacted(ResponseEventSchema, event));
  return policy === 'keep' ? { input: bytes } : payloadUnder(policy, bytes);
}

/** Events as a life begins with them. */
export function initialOf(events: readonly ResponseEvent[]): Uint8Array {
  const pieces = events.map((event) => sizeDelimitedEncode(ResponseEventSchema, redacted(ResponseEventSchema, event)));
  const all = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
