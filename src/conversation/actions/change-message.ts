/**
 * UpdateTaskMessage and AppendToMessageContent. What is wrong is looked for in
 * one order, and told of in it: task, mask, all paths, message, duplicates,
 * types, values. The first failure is the only one.
 */
import { type Message, MessageSchema } from '../../../proto/index.js';
import { quoted } from '../diagnostics.js';
import { appendText, applyPath, MaskFailure, type MaskWalk } from '../mask/change.js';
import type { ResolvedMask, ResolvedPath } from '../mask/path.js';
import { type Fields, planOf } from '../message/plan.js';
import type { ReceivedChange } from '../received.js';
import type { Tree } from '../tree.js';
import { inTask } from './messages.js';
import { Failed, type Outcome, type Teller } from './outcome.js';

/** @param rules how masks are read: as the page has them, or as the client named Warp does */
export function changeMessage(tree: Tree, change: ReceivedChange, rules: MaskWalk['rules'], teller: Teller): Outcome {
  const { taskId, mask, messageId, patch } = change;
  const does = change.type === 'appendToMessageContent' ? 'append' : 'update';
  const taskPlace = tree.taskPlaceOf(taskId);
  if (taskPlace === undefined) return new Failed('unknown_task', `${does} in task ${quoted(taskId)}`);

  if (mask === undefined) {
    if (rules === 'whole') return new Failed('missing_mask', `${does} without a mask`);
    teller.tell('missing_mask', `${does} without a mask`);
    return tree;
  }
  if (mask.paths.length === 0) return tree;
  if (mask.unknown !== undefined && rules === 'whole') {
    teller.tell('unknown_path', pathDetail(mask.unknown));
    return tree;
  }

  if (messageId === undefined) {
    teller.tell('empty_action', `${does} without a message`);
    return tree;
  }
  const place = messageId === '' ? undefined : tree.placeOf(messageId);
  if (messageId === '' || (place === undefined && does === 'append')) {
    return new Failed('unknown_message', `${does} of message ${quoted(messageId)}`);
  }
  if (place === undefined && rules === 'warp') return insert(tree, taskPlace, patch as Message);
  if (place !== undefined && place.task !== taskPlace) {
    const standsIn = tree.taskAt(place.task).task.id;
    const where = `message ${quoted(messageId)} stands in task ${quoted(standsIn)}, not ${quoted(taskId)}`;
    teller.tell('task_id_mismatch', where);
  }

  if (does === 'append') {
    for (const text of mask.repeated) teller.tell('duplicate_path', `${quoted(text)} more than once`);
  }

  const mistyped = typeFailure(mask, does, rules);
  if (mistyped !== undefined) return mistyped;
  if (place === undefined) return insert(tree, taskPlace, patch as Message);

  const stored = tree.messageAt(place);
  const changed = changedBy(walkOf(does, rules, teller), mask, stored, change, teller);
  if (changed instanceof MaskFailure) return new Failed(changed.code, changed.detail);
  return changed === stored ? tree : tree.withMessage(place, changed);
}

const nothingReplaced = () => {};
const wholeUpdate: MaskWalk = { does: 'update', rules: 'whole', replaced: nothingReplaced };
const wholeAppend: MaskWalk = { does: 'append', rules: 'whole', replaced: nothingReplaced };

function walkOf(does: MaskWalk['does'], rules: MaskWalk['rules'], teller: Teller): MaskWalk {
  if (rules === 'whole') return does === 'append' ? wholeAppend : wholeUpdate;
  const replaced = ({ text }: ResolvedPath) =>
    teller.tell('oneof_mismatch', `${quoted(text)} takes the place of another member`);
  return { does, rules, replaced };
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
  { patch, deltas }: ReceivedChange,
  teller: Teller,
): Message | MaskFailure {
  const plan = planOf(MessageSchema);
  let changed = stored as unknown as Fields;
  const paths = walk.rules === 'warp' ? inFull(mask) : mask.paths;
  for (let at = 0; at < paths.length; at++) {
    const path = paths[at] as ResolvedPath;
    if (path.problem === 'unknown') teller.tell('unknown_path', pathDetail(path));
    const next =
      deltas === undefined
        ? applyPath(walk, plan, changed, patch as unknown as Fields, path)
        : appendText(walk, plan, changed, deltas[at] ?? '', path);
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
