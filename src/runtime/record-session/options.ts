import { InvalidInputError } from '../../contract/errors.js';
import { type Tappable, tapped } from '../../contract/session-tap.js';
import { messageIndex } from '../../conversation/index.js';
import type { Conversation } from '../conversation/index.js';
import { fresh } from '../options.js';
import type { OnInterrupted } from './scribe.js';
import type { ResponseSink } from './sink-outlet.js';

/** What `recordSession` takes: a conversation or a sink, and how. */
export interface RecordSessionOptions {
  /**
   * The session is recorded into this conversation, as a request of its own stream, or of one more where a request is open
   * there. As long as it is recorded no other stream may have a transaction open in it.
   */
  readonly conversation?: Conversation;
  /**
   * Takes the events of the response stream, one after another; a promise that it returns is waited for. A throw or a
   * rejection ends the recording, and does not touch the session.
   */
  readonly sink?: ResponseSink;
  /** What becomes of a stretch that the user interrupts: what was said stays (`keep`, the default), or is rolled back (`discard`). */
  readonly onInterrupted?: OnInterrupted;
  /** Default: that of the conversation, else a new one. */
  readonly conversationId?: string;
  /** Names the recording in the conversation; one for each. Ids of messages begin with it. Generated when absent. */
  readonly requestId?: string;
  /** The task that the messages go to. Default: the root task of the conversation; where there is none a root task is made. */
  readonly taskId?: string;
  /** Whose usage is counted, for the finish. */
  readonly model?: string;
  /** How many events may wait for a slow sink; with more the recording ends, and the session goes on. Default 65,536. */
  readonly maxBufferedEvents?: number;
}

/** The options, checked, defaults filled in. */
export interface RecordingSettings {
  readonly conversation: Conversation | undefined;
  readonly sink: ResponseSink | undefined;
  readonly onInterrupted: OnInterrupted;
  readonly conversationId: string;
  readonly requestId: string;
  readonly taskId: string;
  /** Whether the task is made by the recording. */
  readonly makesTask: boolean;
  readonly model: string;
  readonly maxBufferedEvents: number;
}

const defaultMaxBufferedEvents = 65_536;
const longest = 2_147_483_647;

/** @throws {InvalidInputError} for what is no session */
export function assertTappable(session: unknown): asserts session is Tappable {
  const isTappable =
    typeof session === 'object' && session !== null && typeof (session as Partial<Tappable>)[tapped] === 'function';
  if (!isTappable) throw new InvalidInputError('session', 'a session of this library', session);
}

/** @throws {InvalidInputError} for an option that is none */
export function recordingSettings(options: RecordSessionOptions): RecordingSettings {
  if (typeof options !== 'object' || options === null) throw new InvalidInputError('options', 'an object', options);
  const { conversation, sink, onInterrupted = 'keep', model = '' } = options;
  const { maxBufferedEvents = defaultMaxBufferedEvents, requestId = fresh('req_') } = options;
  if ((conversation === undefined) === (sink === undefined)) {
    throw new InvalidInputError('options', 'a conversation or a sink', sink === undefined ? 'neither' : 'both');
  }
  if (conversation !== undefined && typeof conversation?.apply !== 'function') {
    throw new InvalidInputError('conversation', 'one that createConversation gave', conversation);
  }
  if (sink !== undefined && typeof sink !== 'function') throw new InvalidInputError('sink', 'a function', sink);
  if (onInterrupted !== 'keep' && onInterrupted !== 'discard') {
    throw new InvalidInputError('onInterrupted', '`keep` or `discard`', onInterrupted);
  }
  if (!Number.isInteger(maxBufferedEvents) || maxBufferedEvents < 1 || maxBufferedEvents > longest) {
    throw new InvalidInputError('maxBufferedEvents', `an integer of 1 … ${longest}`, maxBufferedEvents);
  }
  if (typeof model !== 'string') throw new InvalidInputError('model', 'a text', model);
  assertId('requestId', requestId);
  return {
    conversation,
    sink,
    onInterrupted,
    requestId,
    model,
    maxBufferedEvents,
    conversationId: conversationIdOf(options),
    ...placeOf(options, requestId),
  };
}

function conversationIdOf({ conversation, conversationId }: RecordSessionOptions): string {
  if (conversationId !== undefined) assertId('conversationId', conversationId);
  const known = conversation?.state.conversationId ?? '';
  if (known !== '' && conversationId !== undefined && conversationId !== known) {
    throw new InvalidInputError('conversationId', `the id of the conversation, ${known}`, conversationId);
  }
  return conversationId ?? (known === '' ? (conversation?.id ?? fresh('con_')) : known);
}

function placeOf(
  { conversation, taskId }: RecordSessionOptions,
  requestId: string,
): Pick<RecordingSettings, 'taskId' | 'makesTask'> {
  if (taskId !== undefined) assertId('taskId', taskId);
  if (conversation === undefined) {
    return taskId === undefined ? { taskId: `${requestId}-task`, makesTask: true } : { taskId, makesTask: false };
  }
  const { state } = conversation;
  // the same request again would be a replay, of which the conversation takes nothing
  if (state.requestId === requestId || messageIndex(state).get(messageId(requestId, 1)) !== undefined) {
    throw new InvalidInputError('requestId', 'one that is new to the conversation', requestId);
  }
  if (taskId !== undefined && !state.tasks.has(taskId)) {
    throw new InvalidInputError('taskId', 'a task of the conversation', taskId);
  }
  const place = taskId ?? state.rootTaskId;
  return place === undefined ? { taskId: `${requestId}-task`, makesTask: true } : { taskId: place, makesTask: false };
}

/** The id of the nth message of a recording. */
export function messageId(requestId: string, n: number): string {
  return `${requestId}-${n}`;
}

function assertId(what: string, id: unknown): void {
  if (typeof id !== 'string' || id === '') throw new InvalidInputError(what, 'an id that is not empty', id);
}
