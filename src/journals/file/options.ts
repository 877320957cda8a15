import { InvalidInputError } from '../../contract/errors.js';
import type { PayloadPolicy } from '../../contract/journal.js';
import { longestRecord } from './format.js';

/** What `fileJournal` takes. */
export interface FileJournalOptions {
  /** Default `hash`. */
  readonly payloads?: PayloadPolicy;
  /** Whether `flush` waits for the disk, and so survives a power cut; without, for the system only. Default `true`. */
  readonly durable?: boolean;
  /** How much may wait to be written, in bytes; an append beyond it fails. Default 64 MiB, 256 MiB at most. */
  readonly maxBufferedBytes?: number;
}

/** @throws {InvalidInputError} */
export function assertOptions({ payloads, durable, maxBufferedBytes }: FileJournalOptions): void {
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
