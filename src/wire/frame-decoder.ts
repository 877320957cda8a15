import type { ResponseEvent } from '../../proto/index.js';

/**
 * One format of the wire: pieces of bytes in, events out. It has no source and
 * no promise; who feeds it asks for events until there is none, and only then
 * feeds the next piece.
 *
 * What every format keeps:
 *
 * F1. However the bytes are cut, the same events and the same error come.
 * F2. Of a piece nothing is kept: neither a frame that it holds the beginning
 *     of, nor an event, points into it after the next one is fed.
 * F3. A frame longer than allowed is refused before it is buffered whole.
 * F4. After an error nothing is read.
 */
export interface FrameDecoder {
  /** Takes a piece of the source in. */
  feed(piece: Uint8Array): void;
  /**
   * The next event, or `undefined` when another piece is needed.
   *
   * @throws {BadFrameError}
   */
  read(): ResponseEvent | undefined;
  /**
   * The source has ended: an event that this completes, or `undefined`.
   *
   * @throws {BadFrameError} where a frame is cut off
   */
  finish(): ResponseEvent | undefined;
}

/** No bytes. */
export const nothing = new Uint8Array(0);
