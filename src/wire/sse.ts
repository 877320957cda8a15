/**
 * Server-sent events, read as the WHATWG text has it, one `ResponseEvent` in
 * the data of each event.
 *
 * Invariants kept here, besides those of `frame-decoder.ts`:
 *
 * S1. A line ends with LF, CR or CRLF, and with none of them at the end of the
 *     source: an event whose blank line is missing is dropped.
 * S2. Lines of data are decoded as they come, so that nothing is buffered but
 *     the line at hand and one event. What is wrong with one of them is told at
 *     the blank line, since an event of another type may hold anything.
 * S3. Only lines that may be data or an event's type are kept at all: comments,
 *     ids and what else there is may be of any length.
 */
import type { ResponseEvent } from '../../proto/index.js';
import { decodeBase64url, decodedLength, encodedLength } from './base64url.js';
import type { ByteSource } from './byte-source.js';
import { EventReader } from './event-reader.js';
import { Fault } from './fault.js';
import { FrameBuffer } from './frame-buffer.js';
import { type FrameDecoder, nothing } from './frame-decoder.js';
import { type DecodeOptions, maxFrameBytesOf } from './options.js';
import { badFrame, frameTooLong } from './place.js';
import { readResponseEvent } from './protobuf/response-event.js';

/**
 * Reads a stream of server-sent events: the body of the response to a request, mostly.
 *
 * ```ts
 * import { decodeSse } from 'commitpoint/wire';
 *
 * const response = await fetch('https://example.com/conversation', { method: 'POST' });
 * if (response.body !== null) for await (const event of decodeSse(response.body)) console.log(event.type.case);
 * ```
 *
 * Each event has one `ResponseEvent` in its data, as base64url with padding, in double quotes or without. Events of a type other
 * than `message` are left out.
 *
 * @returns the events, once. Leaving the loop, an error and an abort release the source.
 * @throws {BadFrameError} by the loop, at a frame that cannot be read; nothing behind it is. What the source throws, and the
 *   signal's reason, come as they are.
 * @throws {InvalidInputError} at once, for a source or an option that is none
 */
export function decodeSse(
  source: ByteSource,
  options: DecodeOptions = {},
): AsyncIterableIterator<ResponseEvent, undefined> {
  return new EventReader(source, new SseDecoder(maxFrameBytesOf(options)), options);
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const colon = 0x3a;
const byteOrderMark = [0xef, 0xbb, 0xbf];

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const dataName = bytesOf('data');
const typeName = bytesOf('event');
const messageType = bytesOf('message');

class SseDecoder implements FrameDecoder {
  readonly #maxFrameBytes: number;
  /** `data: "…"` around the text of a frame that is just not too long. */
  readonly #longestLine: number;

  #piece: Uint8Array = nothing;
  #pos = 0;
  /** How many bytes came before the piece. */
  #before = 0;

  /** How much of the byte order mark has come; 3 when there is none, or no more of it. */
  #marked = 0;
  /** The last line ended with CR: an LF right behind it belongs to that end. */
  #afterReturn = false;
  /** The line at hand, as far as it has come, where it began in an earlier piece. */
  readonly #line = new FrameBuffer();
  /** Where the line at hand begins, in bytes of the source. */
  #lineOffset = 0;
  /** The rest of the line at hand is of no interest. */
  #isSkipping = false;

  /** The bytes of the event at hand, from its one line of data. */
  readonly #payload = new FrameBuffer();
  #hasData = false;
  #fault: Fault | undefined;
  #dataOffset = 0;
  /** The event at hand is of another type than ours. */
  #isForeign = false;
  #index = 0;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#longestLine = dataName.length + 2 + 2 + encodedLength(maxFrameBytes);
  }

  feed(piece: Uint8Array): void {
    this.#before += this.#piece.length;
    this.#piece = piece;
    this.#pos = 0;
    while (this.#marked < 3 && this.#pos < piece.length) this.#readMark();
  }

  read(): ResponseEvent | undefined {
    const piece = this.#piece;
    while (this.#pos < piece.length) {
      if (this.#afterReturn) {
        this.#afterReturn = false;
        if (piece[this.#pos] === lineFeed) {
          this.#pos++;
          continue;
        }
      }
      const start = this.#pos;
      let end = start;
      let byte = 0;
      while (end < piece.length) {
        byte = piece[end] as number;
        if (byte === lineFeed || byte === carriageReturn) break;
        end++;
      }
      if (this.#line.length === 0 && !this.#isSkipping) this.#lineOffset = this.#before + start;
      if (end === piece.length) {
        this.#pos = end;
        this.#keep(start, end);
        return undefined;
      }
      this.#pos = end + 1;
      this.#afterReturn = byte === carriageReturn;
      const event = this.#endLine(start, end);
      if (event !== undefined) return event;
    }
    return undefined;
  }

  finish(): undefined {
    this.#piece = nothing;
  }

  /** Takes one byte if it belongs to the mark. */
  #readMark(): void {
    if (this.#piece[this.#pos] === byteOrderMark[this.#marked]) {
      this.#marked++;
      this.#pos++;
      return;
    }
    // the beginning of one was the beginning of a line, and of none that is of interest
    if (this.#marked > 0) this.#isSkipping = true;
    this.#marked = 3;
  }

  /** Keeps a piece of a line whose end is still to come, if that may be of interest. */
  #keep(start: number, end: number): void {
    if (this.#isSkipping) return;
    const line = this.#line;
    this.#append(start, end);
    if (maybeField(line.bytes, line.length, dataName)) {
      if (line.length > this.#longestLine) throw this.#tooLong(this.#lineOffset);
      return;
    }
    if (maybeField(line.bytes, line.length, typeName)) return;
    this.#isSkipping = true;
    line.clear();
  }

  /** Adds to the line that is kept: no more than it takes to know that it is too long, or of another type. */
  #append(start: number, end: number): void {
    const room = this.#longestLine + 1 - this.#line.length;
    this.#line.append(this.#piece, start, Math.min(end, start + room));
  }

  /** The line at hand ends in the piece, at `end`. */
  #endLine(start: number, end: number): ResponseEvent | undefined {
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return undefined;
    }
    const line = this.#line;
    if (line.length > 0) {
      this.#append(start, end);
      this.#takeLine(line.bytes, 0, line.length);
      line.clear();
      return undefined;
    }
    if (start === end) return this.#dispatch();
    this.#takeLine(this.#piece, start, end);
    return undefined;
  }

  /** A whole line, which is not blank. */
  #takeLine(bytes: Uint8Array, start: number, end: number): void {
    if (isField(bytes, start, end, dataName)) this.#takeData(bytes, start, end);
    else if (isField(bytes, start, end, typeName)) {
      const from = valueStart(bytes, start, end, typeName);
      this.#isForeign = from < end && !(end - from === messageType.length && hasAt(bytes, from, messageType));
    }
  }

  #takeData(bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.#longestLine) throw this.#tooLong(this.#lineOffset);
    if (this.#hasData) {
      this.#fault ??= new Fault('base64url with its padding', 'a line feed, since the data has several lines');
      return;
    }
    this.#hasData = true;
    this.#dataOffset = this.#lineOffset;
    try {
      this.#decode(bytes, valueStart(bytes, start, end, dataName), end);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      this.#fault = thrown;
    }
  }

  #decode(bytes: Uint8Array, start: number, end: number): void {
    let from = start;
    let to = end;
    if (to > from) {
      const opens = bytes[from] === quote;
      const closes = bytes[to - 1] === quote && (to - from > 1 || !opens);
      if (opens !== closes) throw new Fault('a double quote at both ends or at none', 'one at one end only');
      if (opens) {
        from++;
        to--;
      }
    }
    const target = this.#payload.reserve(decodedLength(to - from));
    const length = decodeBase64url(bytes, from, to, target);
    if (length > this.#maxFrameBytes) throw this.#tooLong(this.#dataOffset);
    this.#payload.truncate(length);
  }

  /** A blank line: the event at hand is whole. */
  #dispatch(): ResponseEvent | undefined {
    const isOurs = this.#hasData && !this.#isForeign;
    const fault = this.#fault;
    this.#hasData = false;
    this.#isForeign = false;
    this.#fault = undefined;
    if (!isOurs) return undefined;
    const place = { index: this.#index++, offset: this.#dataOffset };
    if (fault !== undefined) throw badFrame(fault, place);
    try {
      return readResponseEvent(this.#payload.bytes, 0, this.#payload.length);
    } catch (thrown) {
      throw badFrame(thrown, place);
    } finally {
      this.#payload.clear();
    }
  }

  #tooLong(offset: number) {
    return frameTooLong(this.#maxFrameBytes, { index: this.#index, offset });
  }
}

function hasAt(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/** Whether the line from `start` to `end` is of this field: its name alone, or with a colon behind it. */
function isField(bytes: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  const length = end - start;
  if (length < name.length || !hasAt(bytes, start, name)) return false;
  return length === name.length || bytes[start + name.length] === colon;
}

/** Whether a line that begins with these bytes may come to be of this field. */
function maybeField(bytes: Uint8Array, length: number, name: Uint8Array): boolean {
  if (length > name.length) return isField(bytes, 0, length, name);
  for (let i = 0; i < length; i++) if (bytes[i] !== name[i]) return false;
  return true;
}

/** Where the value begins: behind the colon, and one space. */
function valueStart(bytes: Uint8Array, start: number, end: number, name: Uint8Array): number {
  const from = start + name.length + 1;
  if (from > end) return end;
  return from < end && bytes[from] === space ? from + 1 : from;
}
