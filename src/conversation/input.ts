/** What a fold takes: events, and what becomes of the input that they come from. */
import type { ResponseStreamEventType } from '../../machines/index.js';
import type { ResponseEvent } from '../../proto/index.js';
import { InvalidInputError } from '../contract/errors.js';
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

/** Reads an input. @throws {InvalidInputError} for what is neither a ResponseEvent nor an end */
export function readInput(input: unknown): Received {
  const end = endOf(input);
  return end === undefined ? readEvent(input) : end;
}

function endOf(input: unknown): Received | undefined {
  // an event is told by its type, so that no event is asked for a key that it has not
  if (typeof input !== 'object' || input === null || '$typeName' in input || !('end' in input)) return undefined;
  const { end } = input;
  if (end === 'eof' || end === 'cancel') return { type: 'end', end, message: '' };
  if (end !== 'error' && end !== 'bad_frame') {
    throw new InvalidInputError('end of the input', 'eof, error, bad_frame or cancel', end);
  }
  const message = 'message' in input && typeof input.message === 'string' ? input.message : '';
  return { type: 'end', end, message };
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
