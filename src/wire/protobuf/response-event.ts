import { fromBinary } from '@bufbuild/protobuf';
import { type ResponseEvent, ResponseEventSchema } from '../../../proto/index.js';
import { messageOf } from '../../contract/errors.js';
import { Fault } from '../fault.js';
import { readAppend } from './append-lane.js';
import { checkMessage, checkTexts } from './check.js';
import { planOf } from './plan.js';

const plan = planOf(ResponseEventSchema);

/**
 * Reads the event in `bytes` from `start` to `end`, strictly. Nothing of it points into `bytes`, which may be used again.
 *
 * @throws {Fault}
 */
export function readResponseEvent(bytes: Uint8Array, start: number, end: number): ResponseEvent {
  const appended = readAppend(bytes, start, end);
  if (appended !== undefined) return appended;
  const answer = checkMessage(plan, bytes, start, end);
  // faster than subarray, and never a Buffer
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
  try {
    return fromBinary(ResponseEventSchema, answer === 0 ? view : new Uint8Array(view));
  } catch (thrown) {
    checkTexts(plan, bytes, start, end);
    throw new Fault('a ResponseEvent', messageOf(thrown));
  }
}

/**
 * Makes sure that what was encoded would be taken back.
 *
 * @throws {Fault}
 */
export function checkResponseEvent(bytes: Uint8Array): void {
  checkMessage(plan, bytes, 0, bytes.length);
}
