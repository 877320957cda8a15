/**
 * The transactional part as hosts see it: read-only views that are made when
 * they are asked for, each once for what it shows, so that what did not change
 * is the very same object from one state to the next.
 *
 * W1. Nothing that a view gives can change what it shows: views and messages
 *     are frozen, and the vectors behind them are never handed out (C11).
 */
import type { Message, Suggestions, Task, Task_Dependencies, TaskStatus } from '../../proto/index.js';
import { parentOf } from './actions/create-task.js';
import type { Vector } from './persistent/vector.js';
import type { Cut, TaskNode, Tree } from './tree.js';

/** The messages of a task, in order: a read-only list over a structure that an append never copies. */
export class MessageList implements Iterable<Message> {
  readonly #messages: Vector<Message>;
  readonly #start: number;
  readonly #end: number;

  /** @internal */
  constructor(messages: Vector<Message>, start: number, end: number) {
    this.#messages = messages;
    this.#start = start;
    this.#end = end;
    Object.freeze(this);
  }

  /** How many there are. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** The message at an index from 0, or from the end for a negative one; `undefined` outside. */
  at(index: number): Message | undefined {
    const whole = Math.trunc(index) || 0;
    const at = whole < 0 ? this.#end + whole : this.#start + whole;
    return at < this.#start || at >= this.#end ? undefined : this.#messages.at(at);
  }

  *[Symbol.iterator](): IterableIterator<Message> {
    for (let at = this.#start; at < this.#end; at++) yield this.#messages.at(at) as Message;
  }

  /** The messages as an array of the caller's own. */
  toArray(): Message[] {
    return [...this];
  }

  /** As `toArray`, for `JSON.stringify`. */
  toJSON(): Message[] {
    return this.toArray();
  }
}

/** The name of a status; empty where none is set, or one that only a newer schema has. */
export type TaskStatusName = Exclude<TaskStatus['status']['case'], undefined> | '';

/** A task as it stands. */
export interface TaskState {
  readonly id: string;
  /** Empty for the root. */
  readonly parentTaskId: string;
  readonly description: string;
  readonly summary: string;
  readonly status: TaskStatusName;
  readonly dependencies: Task_Dependencies | undefined;
  readonly messages: MessageList;
  /** The same as a message of the schema, but for its messages: with what only a newer schema knows. */
  readonly task: Task;
}

/** Tasks by their ids, in the order in which they were made. */
export class TaskMap implements ReadonlyMap<string, TaskState> {
  readonly #tree: Tree;
  readonly #view: (node: TaskNode, place: number) => TaskState;
  readonly #size: number;

  /** @internal */
  constructor(tree: Tree, view: (node: TaskNode, place: number) => TaskState) {
    this.#tree = tree;
    this.#view = view;
    let size = 0;
    for (const { isHidden } of tree.tasks) if (!isHidden) size++;
    this.#size = size;
    Object.freeze(this);
  }

  get size(): number {
    return this.#size;
  }

  get(id: string): TaskState | undefined {
    const place = this.#tree.taskPlaceOf(id);
    return place === undefined ? undefined : this.#view(this.#tree.taskAt(place), place);
  }

  has(id: string): boolean {
    return this.#tree.taskPlaceOf(id) !== undefined;
  }

  forEach(visit: (task: TaskState, id: string, tasks: ReadonlyMap<string, TaskState>) => void): void {
    for (const [id, task] of this) visit(task, id, this);
  }

  *entries(): MapIterator<[string, TaskState]> {
    let place = 0;
    for (const node of this.#tree.tasks) {
      if (!node.isHidden) yield [node.task.id, this.#view(node, place)];
      place++;
    }
  }

  *keys(): MapIterator<string> {
    for (const [id] of this.entries()) yield id;
  }

  *values(): MapIterator<TaskState> {
    for (const [, task] of this.entries()) yield task;
  }

  [Symbol.iterator](): MapIterator<[string, TaskState]> {
    return this.entries();
  }
}

Object.freeze(MessageList.prototype);
Object.freeze(TaskMap.prototype);

const maps = new WeakMap<Tree, TaskMap>();
const tasks = new WeakMap<TaskNode, TaskState>();

/** The tasks of a tree. */
export function taskMapOf(tree: Tree): TaskMap {
  let map = maps.get(tree);
  if (map === undefined) {
    map = new TaskMap(tree, taskStateOf);
    maps.set(tree, map);
  }
  return map;
}

function taskStateOf(node: TaskNode): TaskState {
  let state = tasks.get(node);
  if (state === undefined) {
    state = viewOf(node, node.start, node.messages.size);
    tasks.set(node, state);
  }
  return state;
}

function viewOf({ task, messages }: TaskNode, start: number, end: number): TaskState {
  return Object.freeze({
    id: task.id,
    parentTaskId: parentOf(task),
    description: task.description,
    summary: task.summary,
    status: task.status?.status.case ?? '',
    dependencies: task.dependencies,
    messages: new MessageList(messages, start, end),
    task,
  });
}

/** A conversation that a split has left behind: what stayed in it. */
export interface EarlierConversation {
  readonly id: string;
  readonly tasks: TaskMap;
  readonly suggestions: Suggestions | undefined;
}

/** What a split has left behind. */
export function remainderOf({ before, from }: Cut): TaskMap {
  const at = before.placeOf(from);
  return new TaskMap(before, (node, place) => {
    if (at === undefined || place < at.task) return taskStateOf(node);
    return viewOf(node, node.start, place > at.task ? node.start : at.at);
  });
}
