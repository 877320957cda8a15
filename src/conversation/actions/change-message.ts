/**
 * UpdateTaskMessage and AppendToMessageContent. What is wrong is looked for in
 * one order, and told of in it: task, mask, all paths, message, duplicates,
 * types, values. The first failure is the only one.
 */
import { type Message, MessageSchema } from '../../../proto/index.js';
import { quoted } from '../diagnostics.js';
import { applyPath, MaskFailure, type MaskWalk } from '../mask/change.js';
import { MaskCache, type ResolvedMask, type ResolvedPath } from '../mask/path.js';
import { type Fields, planOf } from '../message/plan.js';
import type { ReceivedAction } from '../received.js';
import type { Tree } from '../tree.js';
import { inTask } from './messages.js';
import { Failed, type Outcome, type Teller } from './outcome.js';

type Change = Extract<ReceivedAction, { readonly type: 'updateTaskMessage' | 'appendToMessageContent' }>;

const masks = new MaskCache(() => planOf(MessageSchema));

/** @param rules how masks are read: as the page has them, or as the client named Warp does */
export function changeMessage(tree: Tree, change: Change, rules: MaskWalk['rules'], teller: Teller): Outcome {
  const { taskId, message, paths } = change;
  const does = change.type === 'appendToMessageContent' ? 'append' : 'update';
  const taskPlace = tree.taskPlaceOf(taskId);
  if (taskPlace === undefined) return new Failed('unknown_task', `${does} in task ${quoted(taskId)}`);

  if (paths === undefined) {
    if (rules === 'whole') return new Failed('missing_mask', `${does} without a mask`);
    teller.tell('missing_mask', `${does} without a mask`);
    return tree;
  }
  if (paths.length === 0) return tree;

  const mask = masks.resolve(paths);
  if (mask.unknown !== undefined && rules === 'whole') {
    teller.tell('unknown_path', pathDetail(mask.unknown));
    return tree;
  }

  if (message === undefined) {
    teller.tell('empty_action', `${does} without a message`);
    return tree;
  }
  const place = message.id === '' ? undefined : tree.placeOf(message.id);
  if (message.id === '' || (place === undefined && does === 'append')) {
    return new Failed('unknown_message', `${does} of message ${quoted(message.id)}`);
  }
  if (place === undefined && rules === 'warp') return insert(tree, taskPlace, message);
  if (place !== undefined && place.task !== taskPlace) {
    const standsIn = tree.taskAt(place.task).task.id;
    teller.tell(
      'task_id_mismatch',
      `message ${quoted(message.id)} stands in task ${quoted(standsIn)}, not ${quoted(taskId)}`,
    );
  }

  if (does === 'append') {
    for (const text of mask.repeated) teller.tell('duplicate_path', `${quoted(text)} more than once`);
  }

  const mistyped = typeFailure(mask, does, rules);
  if (mistyped !== undefined) return mistyped;
  if (place === undefined) return insert(tree, taskPlace, message);

  const walk: MaskWalk = {
    does,
    rules,
    replaced: ({ text }) => teller.tell('oneof_mismatch', `${quoted(text)} takes the place of another member`),
  };
  const stored = tree.messageAt(place);
  const changed = changedBy(walk, mask, stored, message, teller);
  if (changed instanceof MaskFailure) return new Failed(changed.code, changed.detail);
  return changed === stored ? tree : tree.withMessage(place, changed);
}

function insert(tree: Tree, place: number, message: Message): Tree {
  return tree.withNewMessage(place, inTask(message, tree.taskAt(place).task.id));
}

function typeFailure(mask: ResolvedMask, does: MaskWalk['does'], rules: MaskWalk['rules']): Failed | undefined {
  for (const path of mask.paths) {
    const { problem, steps } = path;
    if (problem === 'unknown') continue;
    const mayChange = rules === 'warp' && problem === 'identity' && (path.text !== 'id' || does === 'update');
    if (problem !== undefined && !mayChange) return new Failed('invalid_path', pathDetail(path));
    if (does === 'append' && (steps.at(-1)?.kind !== 'string' || path.structFields)) {
      return new Failed('unsupported_append', `${quoted(path.text)} is no string`);
    }
  }
  return undefined;
}

function changedBy(
  walk: MaskWalk,
  mask: ResolvedMask,
  stored: Message,
  patch: Message,
  teller: Teller,
): Message | MaskFailure {
  const plan = planOf(MessageSchema);
  let changed = stored as unknown as Fields;
  for (const path of walk.rules === 'warp' ? inFull(mask) : mask.paths) {
    if (path.problem === 'unknown') teller.tell('unknown_path', pathDetail(path));
    const next = applyPath(walk, plan, changed, patch as unknown as Fields, path);
    if (next instanceof MaskFailure) return next;
    changed = next;
  }
  return changed as unknown as Message;
}

/** The paths as often as they were given. */
function inFull({ texts, paths }: ResolvedMask): ResolvedPath[] {
  const known = new Map(paths.map((path) => [path.text, path]));
  return texts.map((text) => known.get(text) as ResolvedPath);
}

function pathDetail({ text, problem }: ResolvedPath): string {
  switch (problem) {
    case 'unknown':
      return `${quoted(text)} is no path of a message`;
    case 'below':
      return `${quoted(text)} goes on below a field that holds no message`;
    default:
      return `${quoted(text)} is what a message is found by`;
  }
}
