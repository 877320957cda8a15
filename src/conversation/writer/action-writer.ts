/** The actions that a server writes, each in the words of the schema. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ClientActionSchema,
  MessageSchema,
  SuggestionsSchema,
  TaskSchema,
  TaskStatusSchema,
} from '../../../proto/index.js';
import { InvalidInputError } from '../../contract/errors.js';
import type { TaskStatusName } from '../views.js';
import { type FieldPath, fieldsWithText, localPath, type TextPath, textPath } from './message-path.js';

/**
 * What can be written to a conversation.
 *
 * Each write is checked and accepted, or refused with a throw, before its method returns. What it returns is fulfilled when there is
 * room for more and never rejected: wait for it, and the stream goes no faster than its reader. Who does not wait is refused
 * (`full`) once `maxBufferedEvents` are unread.
 *
 * Every method throws {@link ResponseStreamError}, whose `problem` says why nothing was written, and {@link InvalidInputError} for what
 * the schema does not allow and for a text that begins or ends within a character.
 */
export interface ConversationWriter {
  /** A new task, as a whole: the root when it names no parent, else a child of `dependencies.parentTaskId`. */
  createTask(task: MessageInitShape<typeof TaskSchema>): Promise<void>;
  /** The task of this id. */
  task(id: string): TaskWriter;
  /** Puts these suggestions in the place of those that there are. */
  showSuggestions(suggestions: MessageInitShape<typeof SuggestionsSchema>): Promise<void>;
}

/** What can be written to a task; see {@link ConversationWriter}. */
export interface TaskWriter {
  readonly id: string;
  /** Adds messages, in order. Their ids are new to the conversation. */
  add(...messages: MessageInitShape<typeof MessageSchema>[]): Promise<void>;
  /**
   * Appends to a text of a message, as `append('m', 'agentOutput.text', 'Hello')`. A message that says nothing yet comes to say
   * this; one that says something of another kind is left alone, and the append refused.
   */
  append(messageId: string, path: TextPath, delta: string): Promise<void>;
  /**
   * Puts what `message` has at these paths in the place of what is there: whole messages and whole lists; what it has not is
   * cleared. A message that there is not is added as a whole.
   */
  update(
    messageId: string,
    paths: readonly FieldPath[],
    message: MessageInitShape<typeof MessageSchema>,
  ): Promise<void>;
  setStatus(status: Exclude<TaskStatusName, ''>): Promise<void>;
  setSummary(summary: string): Promise<void>;
  setDescription(description: string): Promise<void>;
}

/** An action as a host may write it: what it does not mention is at its default. */
export type ActionInit = NonNullable<MessageInitShape<typeof ClientActionSchema>['action']>;
/** Writes an action, or throws. */
export type WriteAction = (action: ActionInit) => Promise<void>;

/** The methods of a writer, over what takes its actions. */
export class ActionWriter implements ConversationWriter {
  readonly #write: WriteAction;

  constructor(write: WriteAction) {
    this.#write = write;
  }

  createTask(task: MessageInitShape<typeof TaskSchema>): Promise<void> {
    return this.#write({ case: 'createTask', value: { task } });
  }

  task(id: string): TaskWriter {
    return new TaskActions(id, this.#write);
  }

  showSuggestions(suggestions: MessageInitShape<typeof SuggestionsSchema>): Promise<void> {
    return this.#write({ case: 'showSuggestions', value: suggestions });
  }
}

class TaskActions implements TaskWriter {
  readonly #write: WriteAction;

  constructor(
    readonly id: string,
    write: WriteAction,
  ) {
    this.#write = write;
  }

  add(...messages: MessageInitShape<typeof MessageSchema>[]): Promise<void> {
    return this.#write({ case: 'addMessagesToTask', value: { taskId: this.id, messages } });
  }

  append(messageId: string, path: TextPath, delta: string): Promise<void> {
    const resolved = textPath(path);
    const message = fieldsWithText(resolved, delta);
    message['id'] = messageId;
    const mask = { paths: [resolved.mask] };
    return this.#write({ case: 'appendToMessageContent', value: { taskId: this.id, message, mask } });
  }

  update(
    messageId: string,
    paths: readonly FieldPath[],
    message: MessageInitShape<typeof MessageSchema>,
  ): Promise<void> {
    if (!Array.isArray(paths)) throw new InvalidInputError('paths', 'a list of paths', paths);
    const mask = { paths: paths.map((path) => localPath(path).mask) };
    const patch = Object.assign({}, message, { id: messageId });
    return this.#write({ case: 'updateTaskMessage', value: { taskId: this.id, message: patch, mask } });
  }

  setStatus(status: Exclude<TaskStatusName, ''>): Promise<void> {
    const taskStatus = { status: { case: status, value: {} } } as MessageInitShape<typeof TaskStatusSchema>;
    return this.#write({ case: 'updateTaskStatus', value: { taskId: this.id, taskStatus } });
  }

  setSummary(summary: string): Promise<void> {
    return this.#write({ case: 'updateTaskSummary', value: { taskId: this.id, summary } });
  }

  setDescription(description: string): Promise<void> {
    return this.#write({ case: 'updateTaskDescription', value: { taskId: this.id, description } });
  }
}
