/**
 * The transactional part of a conversation: tasks with their messages,
 * suggestions, and which conversation actions go to. Never changed: what
 * "changes" it gives another one that shares all but one path.
 *
 * Invariants kept here:
 *
 * N1. A message id stands in one place, and `placeOf` says which (message ids
 *     are unique in a conversation).
 * N2. Places never move, not even by a split, which only hides what stays
 *     behind: so the cost of a change does not depend on the history (C9), nor
 *     does what a split adds to it.
 * N3. The first task is the root, and never hidden; the parent of every other
 *     stands before it.
 * N4. Every message is our own, frozen copy (C11).
 */
import type { Message, Suggestions, Task } from '../../proto/index.js';
import { OrderedMap } from './persistent/ordered-map.js';
import { Vector } from './persistent/vector.js';

/** A task, with its messages apart. */
export interface TaskNode {
  /** Everything of the task but its messages; its own list is empty. */
  readonly task: Task;
  /** The task of the CreateTask that made it, to know the same one again. */
  readonly created: Task;
  readonly messages: Vector<Message>;
  /** The first of `messages` that belongs to this conversation: those before were left behind by a split. */
  readonly start: number;
  /** The task as a whole was left behind. */
  readonly isHidden: boolean;
}

/** Where a message stands: the place of its task among the tasks, and its own among the messages there. */
export interface Place {
  readonly task: number;
  readonly at: number;
}

/** How a conversation was cut off from an earlier one. */
export interface Cut {
  /** The earlier conversation, with the messages that moved. */
  readonly before: Tree;
  /** The first message that moved. */
  readonly from: string;
  /** What the conversation began with. */
  readonly after: Tree;
}

/** The parts of a tree that a change may replace. */
interface Parts {
  readonly tasks: Vector<TaskNode>;
  readonly taskPlaces: OrderedMap<number>;
  readonly places: OrderedMap<Place>;
  readonly suggestions: Suggestions | undefined;
  readonly hasPlaceholder: boolean;
}

export class Tree {
  /** In order of their places, hidden ones among them. */
  readonly tasks: Vector<TaskNode>;
  readonly suggestions: Suggestions | undefined;
  /** The root was carried over by a split: the first CreateTask without a parent takes its place. */
  readonly hasPlaceholder: boolean;
  /** `undefined` in the first conversation. */
  readonly cut: Cut | undefined;
  /** How many splits led here. */
  readonly ordinal: number;
  /** May know ids that were left behind, and former ids. */
  readonly #taskPlaces: OrderedMap<number>;
  readonly #places: OrderedMap<Place>;

  constructor(parts: Parts, cut: Cut | undefined, ordinal: number) {
    this.tasks = parts.tasks;
    this.#taskPlaces = parts.taskPlaces;
    this.#places = parts.places;
    this.suggestions = parts.suggestions;
    this.hasPlaceholder = parts.hasPlaceholder;
    this.cut = cut;
    this.ordinal = ordinal;
  }

  get hasRoot(): boolean {
    return this.tasks.size > 0;
  }

  /** The place of the task of this id. */
  taskPlaceOf(id: string): number | undefined {
    const place = this.#taskPlaces.get(id);
    if (place === undefined) return undefined;
    const { task, isHidden } = this.taskAt(place);
    return isHidden || task.id !== id ? undefined : place;
  }

  /** The task of this id. */
  taskOf(id: string): TaskNode | undefined {
    const place = this.taskPlaceOf(id);
    return place === undefined ? undefined : this.taskAt(place);
  }

  /** The task at a place that there is. */
  taskAt(place: number): TaskNode {
    return this.tasks.at(place) as TaskNode;
  }

  /** Where the message of this id stands. */
  placeOf(id: string): Place | undefined {
    const place = this.#places.get(id);
    if (place === undefined) return undefined;
    const { start, isHidden } = this.taskAt(place.task);
    return isHidden || place.at < start ? undefined : place;
  }

  /** The message at a place that there is. */
  messageAt(place: Place): Message {
    return this.taskAt(place.task).messages.at(place.at) as Message;
  }

  /** With a new task at the end, without messages. */
  withTask(task: Task, created: Task): Tree {
    return this.#with({
      tasks: this.tasks.push({ task, created, messages: Vector.empty(), start: 0, isHidden: false }),
      taskPlaces: this.#taskPlaces.set(task.id, this.tasks.size),
      places: this.#places,
      suggestions: this.suggestions,
      hasPlaceholder: this.hasPlaceholder,
    });
  }

  /** With other fields of a task; its id stays. */
  withTaskFields(place: number, task: Task): Tree {
    const { created, messages, start, isHidden } = this.taskAt(place);
    return this.#withNode(place, { task, created, messages, start, isHidden }, this.#places);
  }

  /** With another message at a place that there is; its id stays. */
  withMessage({ task: place, at }: Place, message: Message): Tree {
    const { task, created, messages, start, isHidden } = this.taskAt(place);
    return this.#withNode(place, { task, created, messages: messages.set(at, message), start, isHidden }, this.#places);
  }

  /** With a new message at the end of a task. */
  withNewMessage(place: number, message: Message): Tree {
    const { task, created, messages, start, isHidden } = this.taskAt(place);
    return this.#withNode(
      place,
      { task, created, messages: messages.push(message), start, isHidden },
      this.#places.set(message.id, { task: place, at: messages.size }),
    );
  }

  withSuggestions(suggestions: Suggestions): Tree {
    return this.#with({
      tasks: this.tasks,
      taskPlaces: this.#taskPlaces,
      places: this.#places,
      suggestions,
      hasPlaceholder: this.hasPlaceholder,
    });
  }

  /** With another task in the place of the root, which keeps its messages; and with other fields of its children. */
  withRoot(task: Task, created: Task, children: Iterable<readonly [place: number, task: Task]>): Tree {
    const { messages, start, isHidden } = this.taskAt(0);
    let tasks = this.tasks.set(0, { task, created, messages, start, isHidden });
    for (const [place, child] of children) {
      const node = this.taskAt(place);
      tasks = tasks.set(place, {
        task: child,
        created: node.created,
        messages: node.messages,
        start: node.start,
        isHidden: node.isHidden,
      });
    }
    return this.#with({
      tasks,
      taskPlaces: this.#taskPlaces.set(task.id, 0),
      places: this.#places,
      suggestions: this.suggestions,
      hasPlaceholder: false,
    });
  }

  /**
   * The conversation that a split makes of this one.
   *
   * @param from the first message that moves
   * @param tasks this conversation's, with what stays behind hidden
   */
  cutOff(from: string, tasks: Vector<TaskNode>): Tree {
    const cut: { before: Tree; from: string; after: Tree } = { before: this, from, after: this };
    const parts = {
      tasks,
      taskPlaces: this.#taskPlaces,
      places: this.#places,
      suggestions: this.suggestions,
      hasPlaceholder: true,
    };
    cut.after = new Tree(parts, cut, this.ordinal + 1);
    return cut.after;
  }

  #withNode(place: number, node: TaskNode, places: OrderedMap<Place>): Tree {
    return this.#with({
      tasks: this.tasks.set(place, node),
      taskPlaces: this.#taskPlaces,
      places,
      suggestions: this.suggestions,
      hasPlaceholder: this.hasPlaceholder,
    });
  }

  #with(parts: Parts): Tree {
    return new Tree(parts, this.cut, this.ordinal);
  }
}

/** A conversation of which nothing is known. */
export const emptyTree = new Tree(
  {
    tasks: Vector.empty(),
    taskPlaces: OrderedMap.empty(),
    places: OrderedMap.empty(),
    suggestions: undefined,
    hasPlaceholder: false,
  },
  undefined,
  0,
);
