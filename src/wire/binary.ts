/**
 * One `ResponseEvent` after another, each behind its length as a varint: what
 * `writeDelimitedTo` writes elsewhere.
 */

import type { ResponseEvent } from '../../proto/index.js';
import { BadFrameError } from '../contract/errors.js';
import type { ByteSource } from './byte-source.js';
import { EventReader } from './event-reader.js';
import { FrameBuffer } from './frame-buffer.js';
import { type FrameDecoder, nothing } from './frame-decoder.js';
import { type DecodeOptions, maxFrameBytesOf } from './options.js';
import { badFrame, frameTooLong } from './place.js';
import { readResponseEvent } from './protobuf/response-event.js';

/**
 * Reads a stream of length-delimited protobuf: each `ResponseEvent` behind its length in bytes, which is a varint.
 *
 * @returns the events, once. Leaving the loop, an error and an abort release the source.
 * @throws {BadFrameError} by the loop, at a frame that cannot be read or that the end of the source cuts off; nothing behind it
 *   is read. What the source throws, and the signal's reason, come as they are.
 * @throws {InvalidInputError} at once, for a source or an option that is none
 */
export function decodeBinary(
  source: ByteSource,
  options: DecodeOptions = {},
): AsyncIterableIterator<ResponseEvent, undefined> {
  return new EventReader(source, new BinaryDecoder(maxFrameBytesOf(options)), options);
}

/** Lengths are numbers of 32 bits. */
const longestPrefix = 5;

class BinaryDecoder implements FrameDecoder {
  readonly #maxFrameBytes: number;
  #piece: Uint8Array = nothing;
  #pos = 0;
  /** The frame at hand, without its length, where it began in an earlier piece. */
  readonly #frame = new FrameBuffer();
  /** How many bytes of the length have come, and what they say. */
  #prefixBytes = 0;
  #length = 0;
  /** The length is whole. */
  #isMeasured = false;
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
    if (!this.#isMeasured) this.#measure();
    if (!this.#isMeasured) return undefined;
    const piece = this.#piece;
    const start = this.#pos;
    const missing = this.#length - this.#frame.length;
    if (piece.length - start < missing) {
      this.#frame.append(piece, start, piece.length);
      this.#pos = piece.length;
      return undefined;
    }
    const end = start + missing;
    this.#pos = end;
    if (this.#frame.length === 0) return this.#event(piece, start, end);
    this.#frame.append(piece, start, end);
    return this.#event(this.#frame.bytes, 0, this.#frame.length);
  }

  finish(): undefined {
    if (this.#prefixBytes === 0) return undefined;
    const found = this.#isMeasured
      ? `${this.#frame.length} and the end of the source`
      : 'the end of the source within its length';
    const expected = this.#isMeasured ? `a frame of ${this.#length} bytes` : 'a frame';
    this.#prefixBytes = 0;
    throw new BadFrameError(this.#index, this.#offset, expected, found);
  }

  /** Reads the length, as far as it has come. */
  #measure(): void {
    while (this.#pos < this.#piece.length) {
      const byte = this.#piece[this.#pos++] as number;
      if (this.#prefixBytes === longestPrefix - 1 && byte > 0x0f) {
        throw new BadFrameError(this.#index, this.#offset, 'a length of 32 bits at most', 'a longer one');
      }
      this.#length = (this.#length | ((byte & 0x7f) << (this.#prefixBytes * 7))) >>> 0;
      this.#prefixBytes++;
      if (byte > 0x7f) continue;
      if (this.#length > this.#maxFrameBytes) throw frameTooLong(this.#maxFrameBytes, this.#place());
      this.#isMeasured = true;
      return;
    }
  }

  #event(bytes: Uint8Array, start: number, end: number): ResponseEvent {
    const place = this.#place();
    this.#offset += this.#prefixBytes + this.#length;
    this.#prefixBytes = 0;
    this.#length = 0;
    this.#isMeasured = false;
    this.#index++;
    try {
      return readResponseEvent(bytes, start, end);
    } catch (thrown) {
      throw badFrame(thrown, place);
    } finally {
      this.#frame.clear();
    }
  }

  #place() {
    return { index: this.#index, offset: this.#offset };
  }
}
