/**
 * What one input did, as subscribers are told: one change for each event,
 * however many actions it holds. Which tasks and messages it touched is found
 * by comparing what stood before with what stands after, when it is asked for.
 */
import type { Message } from '../../proto/index.js';
import type { ConversationDiagnostic } from './diagnostics.js';
import { Vector } from './persistent/vector.js';
import type { RequestEnd } from './request-end.js';
import type { TaskNode, Tree } from './tree.js';

/**
 * The weightiest thing that the event did: it ended a request, rolled a
 * transaction back, committed one, began one; else it was applied, or ignored.
 */
export type ChangeKind = 'applied' | 'begun' | 'committed' | 'rolled_back' | 'ended';

/** `restored`: it stands as it stood when the transaction that was rolled back began. */
export type Touch = 'added' | 'changed' | 'removed' | 'restored';

/** A task that an event touched: it came or went, or its own fields changed. */
export interface TaskChange {
  readonly id: string;
  readonly change: Touch;
}

/** A message that an event touched. */
export interface MessageChange {
  readonly id: string;
  readonly taskId: string;
  readonly change: Touch;
}

/** What one event did, compared with what was shown before it. */
export class ConversationChange {
  readonly #before: Tree;
  readonly #after: Tree;
  readonly #restored: Tree | undefined;
  #found: Touched | undefined;

  /** @internal */
  constructor(
    /** Which event of its stream it was, from 0; for an end without an event, how many there were. */
    readonly event: number,
    readonly kind: ChangeKind,
    /** Those that were told of in it. */
    readonly diagnostics: readonly ConversationDiagnostic[],
    /** With `ended`: how the request ended. */
    readonly end: RequestEnd | undefined,
    before: Tree,
    after: Tree,
    restored: Tree | undefined,
  ) {
    this.#before = before;
    this.#after = after;
    this.#restored = restored;
    Object.freeze(this);
  }

  /** The tasks that it touched, in order; those that went stand where they stood. */
  get tasks(): readonly TaskChange[] {
    return this.#touched.tasks;
  }

  /** The messages that it touched, in linear order; those that went stand where they stood. */
  get messages(): readonly MessageChange[] {
    return this.#touched.messages;
  }

  get #touched(): Touched {
    this.#found ??= touchedBetween(this.#before, this.#after, this.#restored);
    return this.#found;
  }
}

Object.freeze(ConversationChange.prototype);

interface Touched {
  readonly tasks: readonly TaskChange[];
  readonly messages: readonly MessageChange[];
}

function touchedBetween(before: Tree, after: Tree, restored: Tree | undefined): Touched {
  const tasks: TaskChange[] = [];
  const messages: MessageChange[] = [];
  Vector.differences(before.tasks, after.tasks, (place, one, other) => {
    const was = one?.isHidden ? undefined : one;
    const is = other?.isHidden ? undefined : other;
    const base = restored?.tasks.at(place);
    if (was?.task !== is?.task) {
      const change = touchOf(was?.task, is?.task, base?.task);
      tasks.push(Object.freeze({ id: (is ?? was)?.task.id ?? '', change }));
    }
    messagesBetween(was, is, base, messages);
  });
  return { tasks: Object.freeze(tasks), messages: Object.freeze(messages) };
}

const noMessages = Vector.empty<Message>();

function messagesBetween(
  was: TaskNode | undefined,
  is: TaskNode | undefined,
  base: TaskNode | undefined,
  messages: MessageChange[],
): void {
  const taskId = (is ?? was)?.task.id ?? '';
  const touch = (at: number, one: Message | undefined, other: Message | undefined) => {
    const change = touchOf(one, other, base?.messages.at(at));
    messages.push(Object.freeze({ id: (other ?? one)?.id ?? '', taskId, change }));
  };
  const [before, after] = [was?.messages ?? noMessages, is?.messages ?? noMessages];
  const start = Math.max(was?.start ?? 0, is?.start ?? 0);
  // what a split has left behind
  if (was !== undefined && is !== undefined) {
    for (let at = was.start; at < is.start; at++) touch(at, before.at(at), undefined);
  }
  Vector.differences(before, after, (at, one, other) => {
    if (at >= start) touch(at, one, other);
  });
}

function touchOf<Value>(before: Value | undefined, after: Value | undefined, base: Value | undefined): Touch {
  if (after === undefined) return 'removed';
  if (after === base) return 'restored';
  return before === undefined ? 'added' : 'changed';
}

/** The ids of the messages that are other ones than they were, in linear order. */
export function touchedMessages(before: Tree, after: Tree): readonly string[] {
  const { messages } = touchedBetween(before, after, undefined);
  return Object.freeze(messages.filter(({ change }) => change !== 'removed').map(({ id }) => id));
}
