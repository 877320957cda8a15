/**
 * What is known of a message type once and for all: for each of its members how
 * a value from outside becomes our own. Made on first use, one for each
 * descriptor, so that folding an event never walks a descriptor.
 */
import { type DescField, type DescMessage, type DescOneof, ScalarType } from '@bufbuild/protobuf';
import { adoptJsonObject } from './json.js';
import { refuse } from './refuse.js';
import { adoptBytes, adoptEnum, adoptScalar, adoptString, zeroOf } from './scalar.js';

/** A message of any type, as bare fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value of a oneof: which member is set, and to what. */
export interface Choice {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** How deep messages may stand in each other; a decoder stops there too. */
export const deepest = 100;

/** A field of a message type. `oneof`: the name of the group it belongs to. */
export interface FieldPlan {
  readonly name: string;
  readonly oneof: string | undefined;
  readonly kind: 'string' | 'scalar' | 'message' | 'struct' | 'list' | 'map';
  /** The plan of the message that the field, or each element of a list, holds. */
  readonly message: (() => MessagePlan) | undefined;
  readonly holdsBytes: boolean;
  /** What an unset field reads as; `undefined` where it is absent. */
  readonly zero: unknown;
  /** A value from outside as our own, frozen. @throws {InvalidInputError} for one that the field cannot hold */
  readonly adopt: (value: unknown, depth: number) => unknown;
}

/** A oneof group of a message type. */
export interface OneofPlan {
  readonly oneofName: string;
  readonly members: ReadonlyMap<string, FieldPlan>;
}

/** A message type. */
export interface MessagePlan {
  readonly typeName: string;
  /** Fields that stand alone, and groups, in the order of the schema. */
  readonly members: readonly (FieldPlan | OneofPlan)[];
  /** Every field, by its name in the schema (snake case). */
  readonly fields: ReadonlyMap<string, FieldPlan>;
  /** Whether a field that stands alone holds bytes. */
  readonly holdsBytes: boolean;
}

export const emptyList: readonly never[] = Object.freeze([]);
export const emptyMap: Fields = Object.freeze({});
/** A group in which no member is set. */
export const noChoice: Choice = Object.freeze({ case: undefined });

const plans = new WeakMap<DescMessage, MessagePlan>();

/** The plan of a message type. */
export function planOf(desc: DescMessage): MessagePlan {
  let plan = plans.get(desc);
  if (plan === undefined) {
    plan = makePlan(desc);
    plans.set(desc, plan);
  }
  return plan;
}

function makePlan(desc: DescMessage): MessagePlan {
  const fields = new Map(desc.fields.map((field) => [field.name, planField(field)]));
  const planned = (field: DescField) => fields.get(field.name) as FieldPlan;
  const members = desc.members.map((member) =>
    member.kind === 'oneof' ? planOneof(member, planned) : planned(member),
  );
  return {
    typeName: desc.typeName,
    members,
    fields,
    holdsBytes: members.some((member) => 'name' in member && member.holdsBytes),
  };
}

function planOneof(oneof: DescOneof, planned: (field: DescField) => FieldPlan): OneofPlan {
  return {
    oneofName: oneof.localName,
    members: new Map(oneof.fields.map((field) => [field.localName, planned(field)])),
  };
}

function planField(field: DescField): FieldPlan {
  const { localName: name } = field;
  const oneof = field.oneof?.localName;
  switch (field.fieldKind) {
    case 'scalar': {
      const holdsBytes = field.scalar === ScalarType.BYTES;
      const zero = isImplicit(field) ? zeroOf(field.scalar, field.longAsString) : undefined;
      const kind = field.scalar === ScalarType.STRING ? 'string' : 'scalar';
      const adopt =
        kind === 'string'
          ? (value: unknown) => adoptString(field, value)
          : (value: unknown) => adoptScalar(field, field.scalar, field.longAsString, value);
      return { name, oneof, kind, message: undefined, holdsBytes, zero, adopt };
    }
    case 'enum': {
      const zero = isImplicit(field) ? 0 : undefined;
      const adopt = (value: unknown) => adoptEnum(field, value);
      return { name, oneof, kind: 'scalar', message: undefined, holdsBytes: false, zero, adopt };
    }
    case 'message': {
      const { message, adopt } = planMessage(field, field.message);
      const kind = message === undefined ? 'struct' : 'message';
      return { name, oneof, kind, message, holdsBytes: false, zero: undefined, adopt };
    }
    case 'list': {
      const holdsBytes = field.listKind === 'scalar' && field.scalar === ScalarType.BYTES;
      const element = planElement(field);
      const adopt = (value: unknown, depth: number) => adoptList(field, element.adopt, holdsBytes, value, depth);
      return { name, oneof, kind: 'list', message: element.message, holdsBytes: false, zero: emptyList, adopt };
    }
    case 'map': {
      const holdsBytes = field.mapKind === 'scalar' && field.scalar === ScalarType.BYTES;
      const element = planElement(field);
      const adopt = (value: unknown, depth: number) => adoptMap(field, element.adopt, holdsBytes, value, depth);
      return { name, oneof, kind: 'map', message: undefined, holdsBytes: false, zero: emptyMap, adopt };
    }
  }
}

/** Whether an unset field reads as its default, rather than being absent. */
function isImplicit(field: DescField): boolean {
  return field.presence === implicit && field.oneof === undefined;
}

/** `google.protobuf.FeatureSet.FieldPresence.IMPLICIT` */
const implicit = 2;

type Adopt = (value: unknown, depth: number) => unknown;
type Element = { readonly message: (() => MessagePlan) | undefined; readonly adopt: Adopt };

function planElement(field: DescField & { fieldKind: 'list' | 'map' }): Element {
  const kind = field.fieldKind === 'list' ? field.listKind : field.mapKind;
  if (kind === 'message') return planMessage(field, field.message as DescMessage);
  if (kind === 'enum') return { message: undefined, adopt: (value) => adoptEnum(field, value) };
  const scalar = field.scalar as ScalarType;
  const longAsString = field.fieldKind === 'list' && field.listKind === 'scalar' && field.longAsString;
  return { message: undefined, adopt: (value) => adoptScalar(field, scalar, longAsString, value) };
}

function planMessage(field: DescField, desc: DescMessage): Element {
  // the run-time holds a Struct as plain JSON
  if (desc.typeName === 'google.protobuf.Struct') {
    return { message: undefined, adopt: (value, depth) => adoptJsonObject(field, value, depth) };
  }
  let plan: MessagePlan | undefined;
  const message = () => (plan ??= planOf(desc));
  return { message, adopt: (value, depth) => adoptMessage(message(), value, depth) };
}

/**
 * A message from outside as our own: every value copied, what is absent at its
 * default, members in the order of the schema, frozen. `bytes` are copied again
 * whenever they are read. Unknown fields are kept as they are.
 *
 * @throws {InvalidInputError} where a value is not what the schema says, or messages stand deeper than {@link deepest}
 */
export function adoptMessage(plan: MessagePlan, value: unknown, depth: number): Fields {
  if (typeof value !== 'object' || value === null) refuse(plan.typeName, 'a message', value);
  if (depth > deepest) refuse(plan.typeName, `at most ${deepest} messages in each other`, value);
  const source = value as Fields;
  const copy: Record<string, unknown> = { $typeName: plan.typeName };
  for (const member of plan.members) {
    if ('oneofName' in member) {
      copy[member.oneofName] = adoptChoice(plan, member, source[member.oneofName], depth);
      continue;
    }
    const given = source[member.name];
    if (given === undefined || given === null) {
      if (member.zero !== undefined) put(copy, member.name, member.zero, member.holdsBytes);
    } else put(copy, member.name, member.adopt(given, depth + 1), member.holdsBytes);
  }
  const unknown = source['$unknown'];
  if (unknown !== undefined) copy['$unknown'] = adoptUnknown(plan, unknown);
  return Object.freeze(copy);
}

function adoptChoice(plan: MessagePlan, oneof: OneofPlan, value: unknown, depth: number): Choice {
  if (value === undefined || value === null) return noChoice;
  if (typeof value !== 'object') refuse(`${plan.typeName}.${oneof.oneofName}`, 'a case and its value', value);
  const { case: name, value: given } = value as { readonly case: unknown; readonly value: unknown };
  if (name === undefined || name === null) return noChoice;
  const member = oneof.members.get(name as string);
  if (member === undefined) refuse(`${plan.typeName}.${oneof.oneofName}`, 'a case that the schema names', name);
  return choose(member, member.adopt(given, depth + 1));
}

/** A group with one member set. `value` is ours already. */
export function choose(member: FieldPlan, value: unknown): Choice {
  if (!member.holdsBytes) return Object.freeze({ case: member.name, value });
  const choice: Record<string, unknown> = { case: member.name };
  put(choice, 'value', value, true);
  return Object.freeze(choice) as unknown as Choice;
}

/** Sets a property that we own; bytes behind a getter that copies, since nothing can freeze them. */
export function put(target: object, name: string | number, value: unknown, isBytes: boolean): void {
  if (isBytes) {
    const bytes = value as Uint8Array;
    Object.defineProperty(target, name, { enumerable: true, get: () => bytes.slice() });
  } else if (name === '__proto__') {
    Object.defineProperty(target, name, { enumerable: true, configurable: true, writable: true, value });
  } else {
    (target as Record<string | number, unknown>)[name] = value;
  }
}

function adoptList(field: DescField, adopt: Adopt, areBytes: boolean, value: unknown, depth: number): unknown {
  if (!Array.isArray(value)) refuse(field, 'an array', value);
  const { length } = value;
  if (length === 0) return emptyList;
  const copy: unknown[] = [];
  for (let index = 0; index < length; index++) put(copy, index, adopt(value[index], depth), areBytes);
  return Object.freeze(copy);
}

function adoptMap(field: DescField, adopt: Adopt, areBytes: boolean, value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) refuse(field, 'an object', value);
  const keys = Object.keys(value);
  if (keys.length === 0) return emptyMap;
  const copy: Record<string, unknown> = {};
  for (const key of keys) put(copy, adoptString(field, key), adopt((value as Fields)[key], depth), areBytes);
  return Object.freeze(copy);
}

/** Unknown fields, as a decoder leaves them. */
export function adoptUnknown(plan: MessagePlan, value: unknown): unknown {
  if (!Array.isArray(value)) refuse(`${plan.typeName}.$unknown`, 'an array', value);
  const copy: unknown[] = [];
  for (let index = 0; index < value.length; index++) {
    const { no, wireType, data } = (value[index] ?? {}) as Fields;
    if (!isWithin(no, 1, 0x1fffffff)) refuse(`${plan.typeName}.$unknown`, 'a field number', no);
    if (!isWithin(wireType, 0, 5)) refuse(`${plan.typeName}.$unknown`, 'a wire type', wireType);
    const field = { no, wireType };
    put(field, 'data', adoptBytes(`${plan.typeName}.$unknown`, data), true);
    copy.push(Object.freeze(field));
  }
  return Object.freeze(copy);
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
