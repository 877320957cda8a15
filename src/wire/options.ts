import { InvalidInputError } from '../contract/errors.js';

/** What every decoder may be told. */
export interface DecodeOptions {
  /**
   * The longest frame that is read, in bytes: of its `ResponseEvent`, or of its line where the format is JSON. A longer one is a
   * `BadFrameError`. 1 … 1,073,741,824; default 16 MiB. A decoded event takes up more memory than its frame.
   */
  readonly maxFrameBytes?: number;
  /** Aborting it ends the reading at once, whatever it waits for: with the signal's reason as the error. */
  readonly signal?: AbortSignal;
}

const defaultMaxFrameBytes = 16 * 1024 * 1024;
const mostFrameBytes = 1024 ** 3;

/** @throws {InvalidInputError} */
export function maxFrameBytesOf(options: DecodeOptions): number {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
  const { maxFrameBytes = defaultMaxFrameBytes } = options;
  if (Number.isInteger(maxFrameBytes) && maxFrameBytes >= 1 && maxFrameBytes <= mostFrameBytes) return maxFrameBytes;
  throw new InvalidInputError('maxFrameBytes', `an integer of 1 … ${mostFrameBytes}`, maxFrameBytes);
}

/** @throws {InvalidInputError} */
export function signalOf({ signal }: DecodeOptions): AbortSignal | undefined {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return signal;
  throw new InvalidInputError('signal', 'an AbortSignal', signal);
}
