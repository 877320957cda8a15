import { InvalidInputError } from '../contract/errors.js';
import type { PayloadPolicy } from '../contract/journal.js';

/** What the journals that keep their records on a disk take. */
export interface StoreOptions {
  /** Default `hash`. */
  readonly payloads?: PayloadPolicy;
  /** Whether `flush` waits for the disk, and so survives a power cut; without, for the system only. Default `true`. */
  readonly durable?: boolean;
  /** How much may wait to be written, in bytes; an append beyond it fails. Default 64 MiB, 256 MiB at most. */
  readonly maxBufferedBytes?: number;
}

/** The longest record that is written, or believed. */
export const longestRecord: number = 256 * 1024 * 1024;

/** @throws {InvalidInputError} */
export function assertOptions({ payloads, durable, maxBufferedBytes }: StoreOptions): void {
  if (payloads !== undefined && !['keep', 'hash', 'omit'].includes(payloads)) {
    throw new InvalidInputError('option payloads', 'keep, hash or omit', payloads);
  }
  if (durable !== undefined && typeof durable !== 'boolean') {
    throw new InvalidInputError('option durable', 'true or false', durable);
  }
  if (maxBufferedBytes === undefined) return;
  if (!Number.isInteger(maxBufferedBytes) || maxBufferedBytes < 1 || maxBufferedBytes > longestRecord) {
    throw new InvalidInputError('option maxBufferedBytes', `an integer from 1 to ${longestRecord}`, maxBufferedBytes);
  }
}

/** A {@link StoreOptions} with nothing left out. */
export function settingsOf(options: StoreOptions): Required<StoreOptions> {
  return { payloads: 'hash', durable: true, maxBufferedBytes: 64 * 1024 * 1024, ...options };
}

/** The cause of a `JournalFailedError`: more is appended than the disk takes. */
export class TooMuchWaits extends Error {
  override readonly name = 'TooMuchWaits';
  constructor(limit: number) {
    super(`more than ${limit} bytes wait to be written`);
  }
}
