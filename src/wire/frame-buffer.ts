import { nothing } from './frame-decoder.js';

const firstCapacity = 256;
/** A buffer that grew beyond this for one long frame gives its memory back after it. */
const keptCapacity = 1 << 16;

/** Holds the beginning of a frame whose end is still to come. Grows with what arrives, not with what was announced. */
export class FrameBuffer {
  #bytes: Uint8Array = nothing;
  #length = 0;

  /** Where the bytes are; valid up to {@link length}, and until something is appended. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds what stands in `piece` from `start` to `end`. */
  append(piece: Uint8Array, start: number, end: number): void {
    const length = this.#length + end - start;
    if (length > this.#bytes.length) this.#grow(length);
    if (end - start < 16)
      for (let i = start, at = this.#length; i < end; i++, at++) this.#bytes[at] = piece[i] as number;
    else this.#bytes.set(piece.subarray(start, end), this.#length);
    this.#length = length;
  }

  /** Room for `length` bytes, all of which will be written. What was held is gone. */
  reserve(length: number): Uint8Array {
    if (length > this.#bytes.length) {
      this.#length = 0;
      this.#grow(length);
    }
    this.#length = length;
    return this.#bytes;
  }

  /** Keeps the first `length` bytes of what is held. */
  truncate(length: number): void {
    this.#length = length;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > keptCapacity) this.#bytes = nothing;
  }

  #grow(length: number): void {
    const larger = new Uint8Array(Math.max(firstCapacity, length, Math.min(this.#bytes.length * 2, length * 2)));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
