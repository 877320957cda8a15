/**
 * The events of a source, for one loop.
 *
 * Invariants kept here:
 *
 * A1. The source is asked for a piece only when what it gave is used up and
 *     somebody waits for an event: a slow reader slows the source down.
 * A2. The source is released once, unless it has ended or failed by itself:
 *     when the loop is left, at a bad frame, and at an abort.
 * A3. An abort, and leaving the loop while an event is awaited, wait for
 *     nothing: not for the piece that is under way, not for the release.
 * A4. There is one error, at one `next()`; after it, and after the end, every
 *     `next()` gives the end.
 * A5. Events come in the order of the source, to `next()`s in the order in
 *     which they were called.
 */
import type { ResponseEvent } from '../../proto/index.js';
import { InvalidInputError } from '../contract/errors.js';
import { assertByteSource, type ByteSource, isBytes, openSource, type PieceReader } from './byte-source.js';
import { type FrameDecoder, nothing } from './frame-decoder.js';
import { type DecodeOptions, signalOf } from './options.js';

type Result = IteratorResult<ResponseEvent, undefined>;

interface Waiting {
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

const end: Result = Object.freeze({ done: true, value: undefined });

export class EventReader implements AsyncIterableIterator<ResponseEvent, undefined> {
  readonly #source: ByteSource;
  readonly #decoder: FrameDecoder;
  readonly #signal: AbortSignal | undefined;
  #pieces: PieceReader | undefined;
  #hasEnded = false;
  /** Nothing is read any more. */
  #isClosed = false;
  /** What the next `next()` is to fail with. */
  #failure: { readonly reason: unknown } | undefined;
  readonly #waiting: Waiting[] = [];
  #isPumping = false;
  /** Ends the wait of a `return()` for the release. */
  #stopWaiting: ((reason: unknown) => void) | undefined;

  constructor(source: ByteSource, decoder: FrameDecoder, options: DecodeOptions) {
    assertByteSource(source);
    this.#source = source;
    this.#decoder = decoder;
    this.#signal = signalOf(options);
  }

  next(): Promise<Result> {
    if (this.#isClosed) {
      const failure = this.#failure;
      this.#failure = undefined;
      return failure === undefined ? Promise.resolve(end) : Promise.reject(failure.reason);
    }
    if (this.#isPumping) return this.#wait();
    if (this.#pieces !== undefined) {
      try {
        const value = this.#decoder.read();
        if (value !== undefined) return Promise.resolve({ done: false, value });
      } catch (reason) {
        this.#fail(reason);
        return this.next();
      }
    }
    const result = this.#wait();
    void this.#pump();
    return result;
  }

  async return(): Promise<Result> {
    if (this.#isClosed) return end;
    const waitsForPiece = this.#isPumping;
    this.#close();
    for (const { resolve } of this.#waiting.splice(0)) resolve(end);
    const released = this.#release(undefined);
    if (waitsForPiece) unheard(released);
    else await this.#unlessAborted(released);
    return end;
  }

  async throw(reason: unknown): Promise<Result> {
    this.#fail(reason);
    this.#failure = undefined;
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wait(): Promise<Result> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #open(): PieceReader {
    const signal = this.#signal;
    try {
      this.#pieces = openSource(this.#source);
    } catch (reason) {
      this.#hasEnded = true;
      throw reason;
    }
    if (signal?.aborted) throw signal.reason;
    signal?.addEventListener('abort', this.#onAbort);
    return this.#pieces;
  }

  /** Reads pieces until nobody waits. */
  async #pump(): Promise<void> {
    this.#isPumping = true;
    try {
      const pieces = this.#pieces ?? this.#open();
      while (this.#waiting.length > 0) {
        const value = this.#hasEnded ? this.#decoder.finish() : this.#decoder.read();
        if (value !== undefined) this.#waiting.shift()?.resolve({ done: false, value });
        else if (this.#hasEnded) this.#finish();
        else {
          const piece = await this.#nextPiece(pieces);
          if (this.#isClosed) return;
          if (piece === undefined) {
            this.#hasEnded = true;
            pieces.ended();
          } else this.#decoder.feed(piece);
        }
      }
    } catch (reason) {
      this.#fail(reason);
    } finally {
      this.#isPumping = false;
    }
  }

  /** The next piece, or `undefined` at the end. A source that fails has ended. */
  async #nextPiece(pieces: PieceReader): Promise<Uint8Array | undefined> {
    let read: { readonly done?: boolean | undefined; readonly value?: unknown };
    try {
      read = await pieces.next();
    } catch (reason) {
      if (!this.#isClosed) {
        this.#hasEnded = true;
        pieces.ended();
      }
      throw reason;
    }
    if (typeof read !== 'object' || read === null)
      throw new InvalidInputError('source', 'the results of an iterator', read);
    if (read.done) return undefined;
    if (isBytes(read.value)) return read.value;
    throw new InvalidInputError('piece of the source', 'a Uint8Array', read.value);
  }

  /** The source has ended and all of it is read. */
  #finish(): void {
    this.#close();
    for (const { resolve } of this.#waiting.splice(0)) resolve(end);
  }

  /** Ends the reading with an error: for whoever waits, or else for the next that asks. */
  #fail(reason: unknown): void {
    if (this.#isClosed) return;
    this.#close();
    const [first, ...others] = this.#waiting.splice(0);
    if (first === undefined) this.#failure = { reason };
    else first.reject(reason);
    for (const { resolve } of others) resolve(end);
    unheard(this.#release(reason));
  }

  #close(): void {
    this.#isClosed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    // what it holds of a piece is of no more use
    this.#decoder.feed(nothing);
  }

  /** @returns what the source answers, perhaps a promise */
  #release(reason: unknown): unknown {
    if (this.#hasEnded) return undefined;
    this.#hasEnded = true;
    try {
      this.#pieces ??= openSource(this.#source);
      return this.#pieces.release(reason);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /** Waits for a release, unless the signal is aborted meanwhile. */
  async #unlessAborted(released: unknown): Promise<void> {
    const signal = this.#signal;
    if (signal === undefined) {
      await released;
      return;
    }
    const aborted = new Promise<never>((_, reject) => {
      this.#stopWaiting = reject;
      signal.addEventListener('abort', this.#onAbort);
    });
    try {
      await Promise.race([released, aborted]);
    } finally {
      this.#stopWaiting = undefined;
      signal.removeEventListener('abort', this.#onAbort);
    }
  }

  readonly #onAbort = (): void => {
    const reason = this.#signal?.reason;
    if (this.#stopWaiting !== undefined) this.#stopWaiting(reason);
    else this.#fail(reason);
  };
}

/** What becomes of a release that nobody waits for is of no interest. */
function unheard(released: unknown): void {
  if (released === undefined) return;
  Promise.resolve(released).catch(() => {});
}
