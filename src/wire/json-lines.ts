/** One `ResponseEvent` a line, in proto3 JSON: for files, and for people. */
import { fromJsonString } from '@bufbuild/protobuf';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import { messageOf } from '../contract/errors.js';
import type { ByteSource } from './byte-source.js';
import { EventReader } from './event-reader.js';
import { Fault } from './fault.js';
import { FrameBuffer } from './frame-buffer.js';
import { type FrameDecoder, nothing } from './frame-decoder.js';
import { type DecodeOptions, maxFrameBytesOf } from './options.js';
import { badFrame, frameTooLong } from './place.js';

/**
 * Reads lines of JSON, each a `ResponseEvent` as proto3 has it: keys in lowerCamelCase or as in the schema, a field mask as one
 * text of lowerCamelCase paths. Blank lines, and lines that begin with `//`, are skipped. The last line needs no line feed.
 *
 * @returns the events, once. Leaving the loop, an error and an abort release the source.
 * @throws {BadFrameError} by the loop, at a line that is no `ResponseEvent`: `line` names it, `problem` says what is wrong. An
 *   unknown key is an error, since JSON has no place to keep it. What the source throws, and the signal's reason, come as they are.
 * @throws {InvalidInputError} at once, for a source or an option that is none
 */
export function decodeJsonLines(
  source: ByteSource,
  options: DecodeOptions = {},
): AsyncIterableIterator<ResponseEvent, undefined> {
  return new EventReader(source, new JsonLinesDecoder(maxFrameBytesOf(options)), options);
}

/**
 * Reads one line, without its line feed. For files that also have other lines in them; see {@link decodeJsonLines}.
 *
 * @param line which line it is, from 1, for the error
 * @throws {BadFrameError} when it is no `ResponseEvent`
 */
export function decodeJsonLine(text: string, line = 1): ResponseEvent {
  try {
    return eventOf(text);
  } catch (thrown) {
    throw badFrame(thrown, { index: 0, offset: 0, line });
  }
}

const lineFeed = 0x0a;
const byteOrderMark = '\ufeff';

class JsonLinesDecoder implements FrameDecoder {
  readonly #maxFrameBytes: number;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #piece: Uint8Array = nothing;
  #pos = 0;
  /** The line at hand, where it began in an earlier piece. */
  readonly #line = new FrameBuffer();
  #lineNumber = 1;
  #offset = 0;
  #index = 0;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  feed(piece: Uint8Array): void {
    this.#piece = piece;
    this.#pos = 0;
  }

  read(): ResponseEvent | undefined {
    const piece = this.#piece;
    while (this.#pos < piece.length) {
      const start = this.#pos;
      const found = piece.indexOf(lineFeed, start);
      const end = found < 0 ? piece.length : found;
      const kept = this.#line.length;
      if (kept + end - start > this.#maxFrameBytes) throw frameTooLong(this.#maxFrameBytes, this.#place());
      this.#pos = end + 1;
      if (found < 0 || kept > 0) this.#line.append(piece, start, end);
      if (found < 0) return undefined;
      const event =
        kept > 0 ? this.#endLine(this.#line.bytes, 0, kept + end - start) : this.#endLine(piece, start, end);
      if (event !== undefined) return event;
    }
    return undefined;
  }

  finish(): ResponseEvent | undefined {
    return this.#line.length === 0 ? undefined : this.#endLine(this.#line.bytes, 0, this.#line.length);
  }

  #endLine(bytes: Uint8Array, start: number, end: number): ResponseEvent | undefined {
    const place = this.#place();
    this.#lineNumber++;
    this.#offset += end - start + 1;
    try {
      const text = this.#textOf(bytes, start, end, place.line === 1);
      if (isSkipped(text)) return undefined;
      this.#index++;
      return eventOf(text);
    } catch (thrown) {
      throw badFrame(thrown, place);
    } finally {
      this.#line.clear();
    }
  }

  #textOf(bytes: Uint8Array, start: number, end: number, isFirst: boolean): string {
    let text: string;
    try {
      text = this.#utf8.decode(bytes.subarray(start, end));
    } catch {
      throw new Fault('a line in UTF-8', 'other bytes');
    }
    return isFirst && text.startsWith(byteOrderMark) ? text.slice(1) : text;
  }

  #place() {
    return { index: this.#index, offset: this.#offset, line: this.#lineNumber };
  }
}

/** Whether a line says nothing: blank, or a comment. */
function isSkipped(text: string): boolean {
  return /^\s*(\/\/|$)/.test(text);
}

/** @throws {Fault} */
function eventOf(text: string): ResponseEvent {
  try {
    return fromJsonString(ResponseEventSchema, text);
  } catch (thrown) {
    throw new Fault('a ResponseEvent in proto3 JSON', brief(messageOf(thrown)));
  }
}

/** What the library says, without what we say ourselves, and without all of a long value in it. */
function brief(message: string): string {
  const said = message.replace(/^cannot decode message warp\.multi_agent\.v1\.ResponseEvent from JSON: /, '');
  return said.length > 200 ? `${said.slice(0, 200)}…` : said;
}
