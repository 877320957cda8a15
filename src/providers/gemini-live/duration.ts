import { isRecord } from '../../contract/wire-reading.js';

/** Beyond this a number of milliseconds is not exact, and a timer not settable. */
const longest = 2_147_483_647;

/**
 * A protobuf Duration (`"9.5s"`, or `{ seconds, nanos }` as some clients decode
 * it) in whole milliseconds, rounded down: 0 … 2147483647. `undefined` for what
 * is none; a negative one is over, so 0.
 */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'string') {
    const text = /^(-?\d+(?:\.\d+)?)s$/.exec(value)?.[1];
    return text === undefined ? undefined : bounded(Number(text) * 1000);
  }
  if (!isRecord(value)) return undefined;
  const seconds = wholeNumber(value.seconds ?? 0);
  const nanos = wholeNumber(value.nanos ?? 0);
  return seconds === undefined || nanos === undefined ? undefined : bounded(seconds * 1000 + nanos / 1e6);
}

/** JSON of protobuf writes 64-bit numbers as text. */
function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.floor(ms), 0), longest);
}
