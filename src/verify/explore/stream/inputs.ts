/** What a walk through a response stream puts in: small events, by name, each as a line of a file that `commitpoint fold` reads (but for a frame that cannot be read). */
import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { ResponseEventSchema } from '../../../../proto/index.js';
import { InvalidInputError } from '../../../contract/errors.js';
import type { FoldInput } from '../../../conversation/index.js';

const actions = (...all: JsonObject[]) => ({ clientActions: { actions: all } });
const init = (conversationId: string, requestId: string) => ({ init: { conversationId, requestId } });
const inTask = (message: JsonObject) => actions({ addMessagesToTask: { taskId: 't', messages: [message] } });

/** By name: the line. */
const lines = {
  /** The first request, the same again, the next one, and one of another conversation (or of the one that a split has made). */
  init: init('c', 'r1'),
  init_next: init('c', 'r2'),
  init_other: init('d', 'r1'),
  task: actions({ createTask: { task: { id: 't' } } }),
  call: inTask({ id: 'm1', toolCall: { toolCallId: 'k' } }),
  result: inTask({ id: 'm2', toolCallResult: { toolCallId: 'k' } }),
  describe: actions({ updateTaskDescription: { taskId: 't', description: 'x' } }),
  /** Fails, whatever there is. */
  failing: actions({ updateTaskSummary: { taskId: 'nobody', summary: 'x' } }),
  begin: actions({ beginTransaction: {} }),
  commit: actions({ commitTransaction: {} }),
  rollback: actions({ rollbackTransaction: {} }),
  split: actions({ startNewConversation: { startFromMessageId: 'm1' } }),
  finished_done: { finished: { done: {}, requestCost: { exact: 1 } } },
  finished_failed: { finished: { internalError: { message: 'broken' }, requestCost: { exact: 1 } } },
  untyped: {},
  eof: { end: 'eof' },
  error: { end: 'error', message: 'connection reset' },
  cancel: { end: 'cancel' },
  /** A frame of bytes that cannot be read: a file of lines has none. */
  bad_frame: { end: 'bad_frame', message: 'no frame' },
} as const satisfies Record<string, JsonObject>;

/** The name of an input. */
export type StreamWord = keyof typeof lines;

/** Every input, by name. */
export const streamAlphabet = Object.keys(lines) as readonly StreamWord[];

/** An input of the walk. */
export interface StreamInput {
  readonly word: StreamWord;
  /** As JSON writes it. */
  readonly line: string;
  readonly input: FoldInput;
}

/** The inputs of these names. @throws {InvalidInputError} for one that there is not */
export function streamInputs(words: readonly StreamWord[]): readonly StreamInput[] {
  return words.map((word) => {
    if (!Object.hasOwn(lines, word))
      throw new InvalidInputError('inputs', `some of ${streamAlphabet.join(', ')}`, word);
    const json = lines[word];
    return { word, line: JSON.stringify(json), input: inputOf(json) };
  });
}

/** An input as a line says it. @throws what reading an event throws */
export function inputOf(json: JsonObject): FoldInput {
  if (!('end' in json)) return fromJson(ResponseEventSchema, json);
  return json as unknown as FoldInput;
}
