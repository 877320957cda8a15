/** What a fold takes: events, and what becomes of the input that they come from. */
import type { ResponseStreamEventType } from '../../machines/index.js';
import type { ResponseEvent } from '../../proto/index.js';
import { InvalidInputError, isCommitpointError, messageOf } from '../contract/errors.js';
import { isDone } from './finish.js';
import type { ConversationNames, InitIds } from './names.js';
import { type ReceivedEvent, readEvent } from './received.js';

/**
 * What became of a stream's input: it is over, it failed, a frame of it could
 * not be read (which counts as an event), or the host gave up.
 */
export type FoldEnd =
  | { readonly end: 'eof' }
  | { readonly end: 'error'; readonly message: string }
  | { readonly end: 'bad_frame'; readonly message: string }
  | { readonly end: 'cancel' };

/** What a fold takes. */
export type FoldInput = ResponseEvent | FoldEnd;

/** An input, as the fold takes it. */
export type Received =
  | ReceivedEvent
  | {
      readonly type: 'end';
      readonly end: FoldEnd['end'] /** In words; empty where nothing was said. */;
      readonly message: string;
    };

/**
 * Reads an input.
 *
 * @param keepsSources whether to keep actions as they came
 * @throws {InvalidInputError} for what is neither a ResponseEvent nor an end
 */
export function readInput(input: unknown, keepsSources: boolean): Received {
  try {
    return endOf(input) ?? readEvent(input, keepsSources);
  } catch (error) {
    if (isCommitpointError(error)) throw error;
    // a getter that throws, a proxy that was revoked, a message within itself
    throw new InvalidInputError(`response event (reading it threw: ${messageOf(error)})`, 'a ResponseEvent', input);
  }
}

function endOf(input: unknown): Received | undefined {
  // an event is told by its type name, so that it is asked for no key that it has not
  if (typeof input !== 'object' || input === null || '$typeName' in input || !('end' in input)) return undefined;
  const { end, message } = input as { readonly end: unknown; readonly message?: unknown };
  if (end === 'eof' || end === 'cancel') return { type: 'end', end, message: '' };
  if (end !== 'error' && end !== 'bad_frame') {
    throw new InvalidInputError('end of the input', 'eof, error, bad_frame or cancel', end);
  }
  return { type: 'end', end, message: typeof message === 'string' ? message : '' };
}

const endTypes = {
  eof: 'end_of_input',
  error: 'transport_error',
  bad_frame: 'bad_frame',
  cancel: 'host_cancel',
} as const satisfies Record<FoldEnd['end'], ResponseStreamEventType>;

/**
 * What an input is for the machine of its stream.
 *
 * @param init the ids of the request at hand
 */
export function typeOf(input: Received, names: ConversationNames, init: InitIds | undefined): ResponseStreamEventType {
  switch (input.type) {
    case 'init':
      return names.compare(input, init);
    case 'finished':
      return isDone(input.report) ? 'finished_done' : 'finished_failed';
    case 'end':
      return endTypes[input.end];
    default:
      return input.type;
  }
}

/** Whether an input counts among the events of its stream. */
export function countsAsEvent(input: Received): boolean {
  return input.type !== 'end' || input.end === 'bad_frame';
}
