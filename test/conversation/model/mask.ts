/**
 * Field masks by a plain walk over the descriptor, on a copy that belongs to nobody else: what the page says in §4 and §9, in the
 * order in which it says that things are checked.
 */
import { create, type DescField, type DescMessage, ScalarType, toBinary } from '@bufbuild/protobuf';
import { MessageSchema } from '../../../proto/index.js';

/** Why a mask does nothing. */
export class MaskFault {
  constructor(readonly code: 'invalid_path' | 'unsupported_append' | 'oneof_mismatch') {}
}

export type Kind = 'update' | 'append';
type Fields = Record<string, unknown>;
type Choice = { case: string | undefined; value?: unknown };

/** A path along the descriptor, as far as it leads; `below` where it goes on below what has no fields. */
interface Resolved {
  readonly fields: readonly DescField[];
  readonly problem: 'unknown' | 'below' | undefined;
}

export function resolve(path: string): Resolved {
  const fields: DescField[] = [];
  let desc: DescMessage | undefined = MessageSchema;
  for (const name of path.split('.')) {
    if (desc === undefined) return { fields, problem: 'below' };
    const field: DescField | undefined = desc.fields.find((each) => each.name === name);
    if (field === undefined) return { fields, problem: 'unknown' };
    fields.push(field);
    desc = field.fieldKind === 'map' ? undefined : field.message;
  }
  return { fields, problem: undefined };
}

/** What is wrong with the types of a path, whatever the values. */
export function typeFault(kind: Kind, path: string, warp: boolean): MaskFault | undefined {
  const { fields, problem } = resolve(path);
  if (problem === 'unknown') return undefined;
  if (problem === 'below') return new MaskFault('invalid_path');
  // nobody may write on at the end of an id by which messages are found
  if (path === 'id' && (!warp || kind === 'append')) return new MaskFault('invalid_path');
  if (path === 'task_id' && !warp) return new MaskFault('invalid_path');
  const leaf = fields.at(-1);
  const isText = leaf?.fieldKind === 'scalar' && leaf.scalar === ScalarType.STRING;
  return kind === 'append' && !isText ? new MaskFault('unsupported_append') : undefined;
}

type Told = 'unknown_path' | 'oneof_mismatch';

interface Walk {
  readonly kind: Kind;
  /** As table b.2 of the evidence has it. */
  readonly warp: boolean;
  readonly isUnknown: boolean;
  readonly tell: (code: Told) => void;
}

/**
 * Does it to `target`, which may be left half done when it throws.
 *
 * @param tell of what does not keep it from being done, which is nothing but for `warp`
 * @throws {MaskFault}
 */
export function applyPath(
  kind: Kind,
  target: object,
  patch: object,
  path: string,
  warp: boolean,
  tell: (code: Told) => void,
): void {
  const { fields, problem } = resolve(path);
  const walk: Walk = { kind, warp, isUnknown: problem === 'unknown', tell };
  if (walk.isUnknown) tell('unknown_path');
  descend(walk, target as Fields, patch as Fields, fields);
}

function descend(walk: Walk, target: Fields, patch: Fields | undefined, fields: readonly DescField[]): void {
  const [field, ...rest] = fields;
  if (field === undefined) return;
  if (rest.length === 0 && !walk.isUnknown) {
    if (walk.kind === 'append') append(walk, target, patch, field);
    else update(walk, target, patch, field);
    return;
  }
  if (field.fieldKind === 'list') {
    const own = target[field.localName] as Fields[];
    const other = (patch?.[field.localName] ?? []) as Fields[];
    if (own.length !== other.length) throw new MaskFault('invalid_path');
    for (const [at, element] of own.entries()) descend(walk, element, other[at], rest);
    return;
  }
  const inner = read(target, field) as Fields | undefined;
  const from = patch === undefined ? undefined : (read(patch, field) as Fields | undefined);
  if (inner !== undefined) {
    descend(walk, inner, from, rest);
    return;
  }
  mayEnter(walk, target, field);
  const desc = field.message as DescMessage;
  const made = create(desc);
  descend(walk, made as unknown as Fields, from, rest);
  // nothing comes of nothing
  if (walk.warp || toBinary(desc, made).length > 0) write(target, field, made);
}

/** A member that is not the active one: no way through, but for an append where none is. */
function mayEnter({ kind, warp, tell }: Walk, target: Fields, field: DescField): void {
  if (field.oneof === undefined) return;
  const active = (target[field.oneof.localName] as Choice).case;
  if (!warp && (active !== undefined || kind === 'update')) throw new MaskFault('oneof_mismatch');
  if (warp && active !== undefined) tell('oneof_mismatch');
}

function append(walk: Walk, target: Fields, patch: Fields | undefined, field: DescField): void {
  const delta = ((patch === undefined ? undefined : read(patch, field)) ?? '') as string;
  const own = read(target, field) as string | undefined;
  if (own === undefined) mayEnter(walk, target, field);
  if (delta !== '') write(target, field, (own ?? '') + delta);
}

function update({ warp }: Walk, target: Fields, patch: Fields | undefined, field: DescField): void {
  let value = patch === undefined ? undefined : read(patch, field);
  // there nothing is ever taken away
  if (value === undefined && warp) value = field.fieldKind === 'message' ? create(field.message) : zeroOf(field);
  if (value !== undefined) write(target, field, value);
  else if (field.oneof !== undefined) {
    const choice = target[field.oneof.localName] as Choice;
    if (choice.case === field.localName) target[field.oneof.localName] = { case: undefined };
  } else if (field.fieldKind === 'message') delete target[field.localName];
  else target[field.localName] = zeroOf(field);
}

function zeroOf(field: DescField): unknown {
  if (field.oneof === undefined) return (create(field.parent) as unknown as Fields)[field.localName];
  return field.fieldKind === 'scalar' ? scalarZeros[field.scalar] : 0;
}

const scalarZeros: Partial<Record<ScalarType, unknown>> = {
  [ScalarType.STRING]: '',
  [ScalarType.BYTES]: new Uint8Array(),
  [ScalarType.BOOL]: false,
};

/** What a field holds; `undefined` for a message that is not there and a member that is not active. */
function read(message: Fields, field: DescField): unknown {
  if (field.oneof === undefined) return message[field.localName];
  const choice = message[field.oneof.localName] as Choice;
  return choice.case === field.localName ? choice.value : undefined;
}

function write(message: Fields, field: DescField, value: unknown): void {
  if (field.oneof === undefined) message[field.localName] = value;
  else message[field.oneof.localName] = { case: field.localName, value };
}
