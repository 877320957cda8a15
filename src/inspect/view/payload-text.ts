/** What a record keeps of a payload, in words. */
import type { RecordedEffect } from '../../contract/journal.js';

const utf8 = new TextDecoder();

/** Bytes of a kept payload as text; the first `max` of them are looked at. */
export function textOfBytes(bytes: Uint8Array, max: number): string {
  const isLong = bytes.length > max;
  return isLong ? `${utf8.decode(bytes.subarray(0, max))}…` : utf8.decode(bytes);
}

/** What a digest says: the last part of it counts what is behind it, in base 36. */
export function wordsOfDigest(digest: string): string {
  const length = Number.parseInt(digest.slice(digest.lastIndexOf('.') + 1), 36);
  return Number.isNaN(length) ? `not kept: digest ${digest}` : `not kept: length ${length}, digest ${digest}`;
}

/** What an effect carries: the text that was kept, else what is known of it; `undefined` for nothing. */
export function textOfEffect({ payload, digest }: RecordedEffect, max: number): string | undefined {
  if (payload !== undefined) return textOfBytes(payload, max);
  return digest === undefined ? undefined : `(${wordsOfDigest(digest)})`;
}
