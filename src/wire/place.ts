import { BadFrameError } from '../contract/errors.js';
import { Fault } from './fault.js';

/** Where a frame stands: see `BadFrameError`. */
export interface FramePlace {
  readonly index: number;
  readonly offset: number;
  readonly line?: number;
}

/** The error for a fault of the frame at `place`; anything else that was thrown is passed on. */
export function badFrame(thrown: unknown, { index, offset, line }: FramePlace): unknown {
  if (!(thrown instanceof Fault)) return thrown;
  return new BadFrameError(index, offset, thrown.expected, thrown.found, line);
}

/** The error for a frame that is longer than allowed. */
export function frameTooLong(maxFrameBytes: number, { index, offset, line }: FramePlace): BadFrameError {
  return new BadFrameError(index, offset, `a frame of at most ${maxFrameBytes} bytes`, 'a longer one', line);
}
