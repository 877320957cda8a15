/** What the tests of living conversations share: a source in the hand, and somebody who writes down what is told. */
import type { ConversationChange } from '../../../src/conversation/index.js';
import type { Conversation } from '../../../src/runtime/index.js';
import { type Held, held } from '../stage.js';

/** A source whose every event is given by the test, and that tells what is done with it. */
export class HandSource implements AsyncIterableIterator<never, undefined> {
  /** How often it was asked for an event. */
  asked = 0;
  /** How often it was released. */
  released = 0;
  readonly #waiting: Held<IteratorResult<never, undefined>>[] = [];
  readonly #ready: Promise<IteratorResult<never, undefined>>[] = [];

  give(...events: unknown[]): void {
    for (const value of events) this.#settle((answer) => answer.resolve({ done: false, value: value as never }));
  }

  end(): void {
    this.#settle((answer) => answer.resolve({ done: true, value: undefined }));
  }

  fail(error: unknown): void {
    this.#settle((answer) => answer.reject(error));
  }

  next(): Promise<IteratorResult<never, undefined>> {
    this.asked++;
    const ready = this.#ready.shift();
    if (ready !== undefined) return ready;
    const answer = held<IteratorResult<never, undefined>>();
    this.#waiting.push(answer);
    return answer.promise;
  }

  return(): Promise<IteratorResult<never, undefined>> {
    this.released++;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #settle(settle: (answer: Held<IteratorResult<never, undefined>>) => void): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      settle(waiting);
      return;
    }
    const answer = held<IteratorResult<never, undefined>>();
    answer.promise.catch(() => {});
    settle(answer);
    this.#ready.push(answer.promise);
  }
}

/** The changes that a conversation tells of from now on. */
export function changesOf(conversation: Conversation): ConversationChange[] {
  const changes: ConversationChange[] = [];
  conversation.changes$.subscribe((change) => {
    changes.push(change);
  });
  return changes;
}

/** The texts of a task, in order. */
export function textsOf(conversation: Conversation, taskId = 't'): string[] {
  const messages = conversation.state.tasks.get(taskId)?.messages.toArray() ?? [];
  return messages.map(({ message }) => (message.case === 'agentOutput' ? message.value.text : (message.case ?? '')));
}

/** The codes of what was told of so far. */
export function codesOf(conversation: Conversation): string[] {
  return conversation.state.diagnostics.map(({ code }) => code);
}
