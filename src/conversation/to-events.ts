/**
 * A conversation as a stream that rebuilds it: what was shown, with the splits
 * that led to it and the transactions that are open.
 *
 * Y1. Folding the events, in mode tolerant, gives the same tasks, messages,
 *     suggestions, ids and finish, and what an open transaction would put back.
 *     Not written are diagnostics and what follows from them (`diverged`, a
 *     doom), `interrupted`, and ends that no event says (`truncated`,
 *     `cancelled`).
 */
import { create } from '@bufbuild/protobuf';
import {
  type ClientAction,
  type Message,
  MessageSchema,
  type ResponseEvent,
  ResponseEventSchema,
  type Task,
} from '../../proto/index.js';
import { identical } from './message/identical.js';
import { type Choice, type Fields, planOf } from './message/plan.js';
import { ConversationNames } from './names.js';
import { Vector } from './persistent/vector.js';
import { type ConversationState, type FoldParts, partsOf } from './state.js';
import { type Cut, emptyTree, type TaskNode, type Tree } from './tree.js';

type Action = Extract<ClientAction['action'], { readonly value: object }>;
type ActionOf<Case extends Action['case']> = Extract<Action, { readonly case: Case }>['value'];

/**
 * The events that rebuild a conversation. They share messages with it, which are frozen.
 *
 * @throws {InvalidInputError} for what is no state of a conversation
 */
export function toEvents(state: ConversationState): ResponseEvent[] {
  const { tree, bases, owner, names, first } = partsOf(state);
  const events: ResponseEvent[] = [];
  if (names.current !== undefined) {
    // what another stream has open would be closed by the finish of the first
    const levels = owner === 0 ? bases : [];
    events.push(...conversationEvents(tree, levels, names, first.init?.requestId ?? ''));
  }
  if (first.finished !== null) {
    events.push(create(ResponseEventSchema, { type: { case: 'finished', value: first.finished.received } }));
  }
  return events;
}

function* conversationEvents(
  tree: Tree,
  bases: FoldParts['bases'],
  names: FoldParts['names'],
  requestId: string,
): IterableIterator<ResponseEvent> {
  const init = (conversationId: string) =>
    create(ResponseEventSchema, { type: { case: 'init', value: { conversationId, requestId } } });
  let rebuilt = ConversationNames.empty.named(names.at(0));
  yield init(names.at(0));
  let shown = emptyTree;
  for (const [index, { before, from, after }] of cutsOf(bases[0] ?? tree).entries()) {
    yield* actionEvents(differences(shown, before));
    yield actionEvent(action('startNewConversation', { startFromMessageId: from }));
    shown = after;
    rebuilt = rebuilt.splitOff();
    const id = names.at(index + 1);
    const isLast = id === names.current;
    if (id !== rebuilt.current || (isLast && names.isNamed)) {
      rebuilt = rebuilt.named(id);
      yield init(id);
    }
  }
  for (const base of bases) {
    yield* actionEvents(differences(shown, base));
    yield actionEvent(action('beginTransaction', {}));
    shown = base;
  }
  yield* actionEvents(differences(shown, tree));
}

/** The splits that led to a tree, the first one first. */
function cutsOf(tree: Tree): Cut[] {
  const cuts: Cut[] = [];
  for (let { cut } = tree; cut !== undefined; cut = cut.before.cut) cuts.push(cut);
  return cuts.reverse();
}

/** One action each, so that no event is larger than it must be. */
function* actionEvents(actions: Iterable<Action>): IterableIterator<ResponseEvent> {
  for (const each of actions) yield actionEvent(each);
}

function actionEvent(each: Action): ResponseEvent {
  return create(ResponseEventSchema, { type: { case: 'clientActions', value: { actions: [{ action: each }] } } });
}

function action<Case extends Action['case']>(name: Case, value: Partial<ActionOf<Case>>): Action {
  return { case: name, value } as unknown as Action;
}

/** The actions that make one tree of another that it came from, within one conversation. */
function differences(before: Tree, after: Tree): Action[] {
  const actions: Action[] = [];
  const tookPlace = before.hasPlaceholder && !after.hasPlaceholder;
  let root: TaskNode | undefined;
  if (tookPlace) {
    const { task } = after.taskAt(0);
    root = underFormerName(before.taskAt(0), after.taskAt(0));
    actions.push(...messageDifferences(before.taskAt(0), root), createTask(task));
  }
  Vector.differences(before.tasks, after.tasks, (place, was, is) => {
    if (is === undefined || is.isHidden) return;
    if (was === undefined) actions.push(createTask(is.task));
    else if (place > 0 || !tookPlace) actions.push(...fieldDifferences(was.task, is.task));
    actions.push(...messageDifferences(place === 0 && root !== undefined ? root : was, is));
  });
  const { suggestions } = after;
  if (suggestions !== undefined && suggestions !== before.suggestions) {
    actions.push({ case: 'showSuggestions', value: suggestions });
  }
  return actions;
}

/**
 * A placeholder with those messages that still name it, and those before them: they came before the root that took its place,
 * since what is added names the task that it is added to.
 */
function underFormerName(was: TaskNode, is: TaskNode): TaskNode {
  const { task, created, start, isHidden } = was;
  let { messages } = was;
  let upTo = messages.size;
  for (let at = is.messages.size - 1; at >= upTo; at--) if (is.messages.at(at)?.taskId === task.id) upTo = at + 1;
  Vector.differences(was.messages, is.messages, (at, one, other) => {
    if (other === undefined || at >= upTo) return;
    if (one === undefined) messages = messages.push(other);
    else if (other.taskId === task.id) messages = messages.set(at, other);
  });
  return { task, created, messages, start, isHidden };
}

function createTask(task: Task): Action {
  return action('createTask', { task });
}

function* fieldDifferences(was: Task, is: Task): IterableIterator<Action> {
  const { id: taskId, description, summary, status } = is;
  if (was.description !== description) yield action('updateTaskDescription', { taskId, description });
  if (was.summary !== summary) yield action('updateTaskSummary', { taskId, summary });
  if (!identical(was.status, status)) {
    yield action('updateTaskStatus', status === undefined ? { taskId } : { taskId, taskStatus: status });
  }
}

const mostMessages = 16;

function messageDifferences(was: TaskNode | undefined, { task, messages }: TaskNode): Action[] {
  const { id: taskId } = task;
  const actions: Action[] = [];
  let added: Message[] = [];
  Vector.differences(was?.messages ?? Vector.empty<Message>(), messages, (_, one, other) => {
    if (other === undefined) return;
    if (one !== undefined) {
      actions.push(messageDifference(taskId, one, other));
      return;
    }
    if (added.length === 0 || added.length === mostMessages) {
      added = [];
      actions.push(action('addMessagesToTask', { taskId, messages: added }));
    }
    added.push(other);
  });
  return actions;
}

/** An update of the fields that differ; a message that differs in what no path names is added in its own place. */
function messageDifference(taskId: string, was: Message, is: Message): Action {
  if (was.taskId !== is.taskId || !identical(was.$unknown, is.$unknown)) {
    return action('addMessagesToTask', { taskId, messages: [is] });
  }
  const paths = changedPaths(was as unknown as Fields, is as unknown as Fields);
  return action('updateTaskMessage', { taskId, message: is, mask: { $typeName: 'google.protobuf.FieldMask', paths } });
}

function changedPaths(was: Fields, is: Fields): string[] {
  const paths: string[] = [];
  for (const [path, { name, oneof }] of planOf(MessageSchema).fields) {
    if (oneof === undefined) {
      if (!identical(was[name], is[name])) paths.push(path);
      continue;
    }
    const [one, other] = [was[oneof] as Choice, is[oneof] as Choice];
    // the member that is there now, or if there is none the one that went
    if (name === (other.case ?? one.case) && !identical(one, other)) paths.push(path);
  }
  return paths;
}
