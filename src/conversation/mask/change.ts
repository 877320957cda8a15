/**
 * What a field mask does to a stored message: *update* replaces what a path
 * names by what the patch has there, *append* writes on at the end of strings.
 * Both give a message that shares all but the path with the stored one, the
 * very same one where nothing changes, or why it cannot be done.
 *
 * K1. A path that cannot be walked changes nothing.
 * K2. Whatever a path does not name stays, unknown fields included.
 * K3. The cost is that of the path, not of the message's texts: strings are
 *     joined, never copied, lists are copied only where a path goes through them.
 */
import { quoted } from '../diagnostics.js';
import {
  adoptMessage,
  type Choice,
  choose,
  type FieldPlan,
  type Fields,
  type MessagePlan,
  noChoice,
} from '../message/plan.js';
import { read, withValue } from '../message/replace.js';
import type { ResolvedPath } from './path.js';

/** Why a path cannot be walked in the message at hand. */
export class MaskFailure {
  constructor(
    readonly code: 'invalid_path' | 'oneof_mismatch',
    readonly detail: string,
  ) {}
}

/** How a mask is applied. */
export interface MaskWalk {
  readonly does: 'update' | 'append';
  /** As the page has it, or as table b.2 of the evidence has it. */
  readonly rules: 'whole' | 'warp';
  /** Under `warp`: where a member took the place of another one. */
  readonly replaced: (path: ResolvedPath) => void;
}

/** Applies one path. `patch` is ours already, as the stored message is. */
export function applyPath(
  walk: MaskWalk,
  plan: MessagePlan,
  stored: Fields,
  patch: Fields,
  path: ResolvedPath,
): Fields | MaskFailure {
  return new Walker(walk, path, undefined).at(plan, stored, patch, 0);
}

/** Appends one text, of a path that leads to one. */
export function appendText(
  walk: MaskWalk,
  plan: MessagePlan,
  stored: Fields,
  delta: string,
  path: ResolvedPath,
): Fields | MaskFailure {
  return new Walker(walk, path, delta).at(plan, stored, undefined, 0);
}

class Walker {
  constructor(
    readonly walk: MaskWalk,
    readonly path: ResolvedPath,
    /** What is appended; `undefined` where the patch says it. */
    readonly delta: string | undefined,
  ) {}

  /** The message with what the rest of the path does to it. */
  at(plan: MessagePlan, stored: Fields, patch: Fields | undefined, depth: number): Fields | MaskFailure {
    const field = this.path.steps[depth];
    // under `warp` an unknown name below a message: all that was walked through is there afterwards
    if (field === undefined) return stored;
    const isLast = depth === this.path.steps.length - 1 && this.path.problem !== 'unknown';
    if (isLast) {
      return this.walk.does === 'append'
        ? this.#append(plan, stored, patch, field)
        : this.#update(plan, stored, patch, field);
    }
    return field.kind === 'list'
      ? this.#throughList(plan, stored, patch, field, depth)
      : this.#throughMessage(plan, stored, patch, field, depth);
  }

  #throughMessage(
    plan: MessagePlan,
    stored: Fields,
    patch: Fields | undefined,
    field: FieldPlan,
    depth: number,
  ): Fields | MaskFailure {
    const mismatch = this.#mismatch(stored, field);
    if (mismatch !== undefined) return mismatch;
    const inner = (field.message as () => MessagePlan)();
    const known = read(stored, field) as Fields | undefined;
    const child = known ?? zeroMessage(inner);
    const given = patch && (read(patch, field) as Fields | undefined);
    const changed = this.at(inner, child, given, depth + 1);
    if (changed instanceof MaskFailure) return changed;
    const isMade = known === undefined && this.walk.rules === 'warp';
    return changed === child && !isMade ? stored : this.#set(plan, stored, field, changed);
  }

  #throughList(
    plan: MessagePlan,
    stored: Fields,
    patch: Fields | undefined,
    field: FieldPlan,
    depth: number,
  ): Fields | MaskFailure {
    const inner = (field.message as () => MessagePlan)();
    const items = stored[field.name] as readonly Fields[];
    const given = (patch?.[field.name] ?? []) as readonly Fields[];
    if (items.length !== given.length) {
      const lengths = `${items.length} in the message, ${given.length} in the patch`;
      return new MaskFailure('invalid_path', `${quoted(this.path.text)}: elements of ${field.name}: ${lengths}`);
    }
    let changes = false;
    const changed: Fields[] = [];
    for (const [at, item] of items.entries()) {
      const next = this.at(inner, item, given[at], depth + 1);
      if (next instanceof MaskFailure) return next;
      if (next !== item) changes = true;
      changed.push(next);
    }
    return changes ? withValue(plan, stored, field.name, Object.freeze(changed)) : stored;
  }

  /** A path through a member of a oneof that it may not pass. */
  #mismatch(stored: Fields, { oneof, name }: FieldPlan): MaskFailure | undefined {
    if (oneof === undefined) return undefined;
    const { case: active } = stored[oneof] as Choice;
    if (active === name) return undefined;
    if (this.walk.rules === 'warp') {
      if (active !== undefined) this.walk.replaced(this.path);
      return undefined;
    }
    if (active === undefined && this.walk.does === 'append') return undefined;
    const found = active === undefined ? 'none is set' : `${active} is set`;
    return new MaskFailure('oneof_mismatch', `${quoted(this.path.text)} goes through ${name}, but ${found}`);
  }

  #update(plan: MessagePlan, stored: Fields, patch: Fields | undefined, field: FieldPlan): Fields {
    const { oneof, name } = field;
    let value = patch && read(patch, field);
    if (this.path.structFields && value === undefined && read(stored, field) !== undefined) value = emptyStruct;
    if (value === undefined && this.walk.rules === 'warp') value = presentZero(field);
    if (value !== undefined) return this.#set(plan, stored, field, value);
    if (oneof !== undefined) {
      return (stored[oneof] as Choice).case === name ? withValue(plan, stored, oneof, noChoice) : stored;
    }
    return this.#set(plan, stored, field, field.zero);
  }

  #append(plan: MessagePlan, stored: Fields, patch: Fields | undefined, field: FieldPlan): Fields | MaskFailure {
    const mismatch = this.#mismatch(stored, field);
    if (mismatch !== undefined) return mismatch;
    const delta = this.delta ?? ((patch && read(patch, field)) as string | undefined);
    if (delta === undefined || delta === '') return stored;
    const text = read(stored, field) as string | undefined;
    return this.#set(plan, stored, field, text === undefined ? delta : text + delta);
  }

  /** The message with a value that is ours; the very same one where it has that value. */
  #set(plan: MessagePlan, stored: Fields, field: FieldPlan, value: unknown): Fields {
    if (Object.is(read(stored, field), value)) return stored;
    if (field.oneof === undefined) return withValue(plan, stored, field.name, value);
    return withValue(plan, stored, field.oneof, choose(field, value));
  }
}

const emptyStruct: Fields = Object.freeze({});
const zeros = new WeakMap<MessagePlan, Fields>();

/** The message of a type in which nothing is set. */
function zeroMessage(plan: MessagePlan): Fields {
  let zero = zeros.get(plan);
  if (zero === undefined) {
    zero = adoptMessage(plan, {}, 0);
    zeros.set(plan, zero);
  }
  return zero;
}

/** What stands for an unset field under `warp`, where a field can never be taken away. */
function presentZero(field: FieldPlan): unknown {
  if (field.kind === 'message') return zeroMessage((field.message as () => MessagePlan)());
  if (field.kind === 'struct') return emptyStruct;
  return field.kind === 'string' ? '' : field.zero;
}
