import { InvalidInputError } from '../contract/errors.js';

/**
 * Where bytes come from: an async iterable (a Node stream), an iterable (an array of what was read), or a `ReadableStream` (the
 * `body` of a response). How they are cut into pieces does not matter. A piece may be used again by its source once the next is
 * asked for. It is read once, and released once: see {@link PieceReader.release}.
 */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ByteStream;

/** What is used of a `ReadableStream<Uint8Array>`, whichever realm or library it is from. */
export interface ByteStream {
  getReader(): ByteStreamReader;
}

/** What is used of a `ReadableStreamDefaultReader<Uint8Array>`. */
export interface ByteStreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<unknown>;
  releaseLock(): void;
}

type Read = { readonly done?: boolean | undefined; readonly value?: unknown };

/** A source that is being read. */
export interface PieceReader {
  /** The next piece, at once or as a promise. */
  next(): Read | PromiseLike<Read>;
  /** The source has ended by itself. */
  ended(): void;
  /** Tells the source that nothing more is read: `return()` of an iterator, `cancel(reason)` of a stream. Called once at most. */
  release(reason: unknown): unknown;
}

const expected = 'an async iterable, an iterable or a ReadableStream of Uint8Array';

/**
 * Makes sure that a source can be read, without touching it.
 *
 * @throws {InvalidInputError}
 */
export function assertByteSource(source: unknown): asserts source is ByteSource {
  if (typeof source !== 'object' || source === null) throw new InvalidInputError('source', expected, source);
  // which would be read as one number after another
  if (isBytes(source)) throw new InvalidInputError('source', `${expected}; put it in an array`, source);
  if (isStream(source) || Symbol.asyncIterator in source || Symbol.iterator in source) return;
  throw new InvalidInputError('source', expected, source);
}

/** Begins to read a source. What its own opening throws is passed on. */
export function openSource(source: ByteSource): PieceReader {
  if (isStream(source)) return streamReader(source.getReader());
  const iterator: Iterator<unknown> | AsyncIterator<unknown> =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  return {
    next: () => iterator.next(),
    ended: () => {},
    release: () => iterator.return?.(),
  };
}

/** Whether a value is a `Uint8Array`, of whichever realm. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && (value as Uint8Array)[Symbol.toStringTag] === 'Uint8Array';
}

function isStream(source: object): source is ByteStream {
  return 'getReader' in source && typeof source.getReader === 'function';
}

function streamReader(reader: ByteStreamReader): PieceReader {
  return {
    next: () => reader.read(),
    ended: () => reader.releaseLock(),
    release: async (reason) => {
      try {
        await reader.cancel(reason);
      } finally {
        reader.releaseLock();
      }
    },
  };
}
