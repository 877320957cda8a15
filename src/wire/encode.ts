import { fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import { InvalidInputError, messageOf } from '../contract/errors.js';
import { encodeBase64url, encodedLength } from './base64url.js';
import { Fault } from './fault.js';
import { assertSayableMasks, jsonText } from './json-text.js';
import { checkResponseEvent } from './protobuf/response-event.js';
import { hasBrokenText } from './texts.js';

const utf8 = new TextEncoder();
const ssePrefix = utf8.encode('data: ');
const sseEnd = utf8.encode('\n\n');

/**
 * One frame of server-sent events, with its blank line: what {@link decodeSse} takes back. Unknown fields are kept.
 *
 * @throws {InvalidInputError} for what is no `ResponseEvent`, or none that can be encoded (a text that begins or ends within a
 *   character, a number out of range, messages more than 100 deep)
 */
export function encodeSse(event: ResponseEvent): Uint8Array {
  const message = messageBytes(event);
  const length = encodedLength(message.length);
  const frame = new Uint8Array(ssePrefix.length + length + sseEnd.length);
  frame.set(ssePrefix);
  encodeBase64url(message, frame, ssePrefix.length);
  frame.set(sseEnd, ssePrefix.length + length);
  return frame;
}

/**
 * One length-delimited frame: what {@link decodeBinary} takes back. Unknown fields are kept.
 *
 * @throws {InvalidInputError} as {@link encodeSse}
 */
export function encodeBinary(event: ResponseEvent): Uint8Array {
  const message = messageBytes(event);
  const prefix: number[] = [];
  let length = message.length;
  for (; length > 0x7f; length >>>= 7) prefix.push((length & 0x7f) | 0x80);
  prefix.push(length);
  const frame = new Uint8Array(prefix.length + message.length);
  frame.set(prefix);
  frame.set(message, prefix.length);
  return frame;
}

/**
 * One line of proto3 JSON, with its line feed, as UTF-8: what {@link decodeJsonLines} takes back. JSON has no place for unknown
 * fields: they are left out, so what must survive a newer server is better kept in another format.
 *
 * @throws {InvalidInputError} as {@link encodeSse}; also for a field mask that JSON cannot say: whose paths are not in snake_case, have a
 *   comma in them, or are one empty path
 */
export function encodeJsonLine(event: ResponseEvent): Uint8Array {
  assertResponseEvent(event);
  try {
    const json = toJson(ResponseEventSchema, event);
    fromJson(ResponseEventSchema, json);
    assertSayableMasks(event);
    return utf8.encode(`${jsonText(json)}\n`);
  } catch (thrown) {
    throw cannotBeEncoded(thrown);
  }
}

function messageBytes(event: ResponseEvent): Uint8Array {
  assertResponseEvent(event);
  try {
    const bytes = toBinary(ResponseEventSchema, event);
    checkResponseEvent(bytes);
    if (hasBrokenText(event, bytes)) throw new Fault('Unicode', 'a text with half of a character');
    return bytes;
  } catch (thrown) {
    throw cannotBeEncoded(thrown);
  }
}

function assertResponseEvent(event: unknown): asserts event is ResponseEvent {
  const name = ResponseEventSchema.typeName;
  if (typeof event === 'object' && event !== null && '$typeName' in event && event.$typeName === name) return;
  throw new InvalidInputError('event', `a message of type ${name}`, event);
}

function cannotBeEncoded(thrown: unknown): InvalidInputError {
  const found = thrown instanceof Fault ? `${thrown.found}, not ${thrown.expected}` : messageOf(thrown);
  return new InvalidInputError('event', 'a ResponseEvent that can be encoded', found);
}
