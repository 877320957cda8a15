/** Response events, written as JSON writes them, and a conversation to fold them into. */
import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import {
  type ConversationState,
  createFold,
  type Fold,
  type Folded,
  type FoldInput,
  type FoldOptions,
  type FoldState,
} from '../../src/conversation/index.js';

export const event = (json: JsonObject): ResponseEvent => fromJson(ResponseEventSchema, json);
export const init = (conversationId = 'c', requestId = 'r') => event({ init: { conversationId, requestId } });
export const actions = (...all: JsonObject[]) => event({ clientActions: { actions: all } });
export const done = event({ finished: { done: {} } });
export const failed = event({ finished: { internalError: { message: 'broken' } } });
export const eof = { end: 'eof' } as const;
export const error = { end: 'error', message: 'connection reset' } as const;
export const cancel = { end: 'cancel' } as const;
export const badFrame = { end: 'bad_frame', message: 'bad frame' } as const;

export const begin = { beginTransaction: {} };
export const commit = { commitTransaction: {} };
export const rollback = { rollbackTransaction: {} };
export const split = (startFromMessageId: string) => ({ startNewConversation: { startFromMessageId } });
export const task = (id: string, parentTaskId?: string, more: JsonObject = {}) => ({
  createTask: { task: { id, ...(parentTaskId === undefined ? {} : { dependencies: { parentTaskId } }), ...more } },
});
export const said = (id: string, text: string, more: JsonObject = {}) => ({ id, agentOutput: { text }, ...more });
export const add = (taskId: string, ...messages: JsonObject[]) => ({ addMessagesToTask: { taskId, messages } });
export const append = (taskId: string, message: JsonObject, mask = 'agentOutput.text') => ({
  appendToMessageContent: { taskId, message, mask },
});
export const update = (taskId: string, message: JsonObject, mask: string) => ({
  updateTaskMessage: { taskId, message, mask },
});
/** An action that fails, whatever there is. */
export const failing = append('no such task', said('m', 'x'));

/** A conversation that inputs are folded into, one after the other. */
export class Folding {
  readonly fold: Fold;
  state: FoldState;
  readonly folded: Folded[] = [];

  constructor(options: FoldOptions = {}) {
    this.fold = createFold(options);
    this.state = this.fold.initial;
  }

  /** Takes inputs, of stream 0. Gives the last step. */
  take(...inputs: FoldInput[]): Folded {
    for (const input of inputs) this.from(0, input);
    return this.folded.at(-1) as Folded;
  }

  from(stream: number, input: FoldInput): Folded {
    const folded = this.fold.take(this.state, input, stream);
    this.state = folded.state;
    this.folded.push(folded);
    return folded;
  }

  get now(): ConversationState {
    return this.state.conversation;
  }

  get codes(): string[] {
    return this.now.diagnostics.map(({ code }) => code);
  }

  /** Texts of the agent, by message. */
  get texts(): Record<string, string> {
    const texts: Record<string, string> = {};
    for (const { messages } of this.now.tasks.values()) {
      for (const { id, message } of messages) texts[id] = message.case === 'agentOutput' ? message.value.text : '';
    }
    return texts;
  }
}

/** One that has task `t`, and in it messages that say nothing but their ids. */
export function begun(options: FoldOptions = {}, ...ids: string[]): Folding {
  const folding = new Folding(options);
  folding.take(init(), actions(task('t'), add('t', ...ids.map((id) => said(id, id)))));
  return folding;
}
