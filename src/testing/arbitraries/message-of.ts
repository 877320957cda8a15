/**
 * Random messages of any schema, made from what its descriptor says; no message of the protocol is named here. A type of
 * field that the protocol does not have yet is refused, so that a new one is noticed.
 */
import { type DescField, type DescMessage, fromBinary, fromJson, type Message, ScalarType } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect, reflectList, reflectMap } from '@bufbuild/protobuf/reflect';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { EmptySchema, StructSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { InvalidInputError } from '../../contract/errors.js';

/** What {@link messageOf} may be asked for besides a message. */
export interface Wishes {
  /** This field is set, whatever else is: the way to be sure that each member of a oneof has its turn. */
  readonly pinned?: DescField | undefined;
  /** Messages within messages, at most; 3 by default. A pinned field does not count. */
  readonly depth?: number | undefined;
  /** Messages at all levels may also hold fields that their schema does not know. */
  readonly unknown?: boolean | undefined;
}

/**
 * A random message of this schema.
 *
 * @throws {InvalidInputError} for a field of a type that the protocol has not: 64-bit fixed numbers, say
 */
export function messageOf(
  desc: DescMessage,
  { pinned, depth = 3, unknown = false }: Wishes = {},
): fc.Arbitrary<Message> {
  return messages(desc, { depth, unknown }, pinned).map(({ message }) => message);
}

/**
 * Fields of a newer schema, as bytes: one record after another, of any wire type, groups and needlessly long numbers included.
 * @param desc what knows none of them
 */
export function unknownFields(desc: DescMessage): fc.Arbitrary<Uint8Array> {
  const known = new Set(desc.fields.map((field) => field.number));
  const number = fc.integer({ min: 1, max: (1 << 29) - 1 }).filter((no) => !known.has(no));
  const small = fc.integer({ min: 1, max: 60 }).filter((no) => !known.has(no));
  const record = fc.tuple(fc.oneof(small, number), payload).map(([no, { type, bytes }]) => {
    const writer = new BinaryWriter().tag(no, type).raw(bytes);
    return type === WireType.StartGroup ? writer.tag(no, WireType.EndGroup).finish() : writer.finish();
  });
  return fc.array(record, { minLength: 1, maxLength: 4 }).map((records) => joined(...records));
}

/** These bytes, one after another. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const part of parts) writer.raw(part);
  return writer.finish();
}

type Limits = { readonly depth: number; readonly unknown: boolean };

function messages(desc: DescMessage, limits: Limits, pinned?: DescField): fc.Arbitrary<ReflectMessage> {
  // As JSON, because that is what protobuf-es makes of it in a field.
  if (desc.typeName === StructSchema.typeName) return structs;
  const inner = { ...limits, depth: limits.depth - 1 };
  const plain = desc.fields.filter((field) => field.oneof === undefined);
  const choices = [...plain.map((field) => [field]), ...desc.oneofs.map(({ fields }) => fields)].map((fields) => {
    if (pinned !== undefined && fields.includes(pinned)) return settings(pinned, inner);
    const possible = fields.filter((field) => inner.depth > 0 || field.message === undefined);
    const set = possible.map((field) => settings(field, inner));
    return set.length === 0 ? fc.constant(undefined) : fc.option(fc.oneof(...set), { nil: undefined, freq: 3 });
  });
  const extra = limits.unknown ? fc.option(unknownFields(desc), { nil: undefined }) : fc.constant(undefined);
  return fc.tuple(extra, ...choices).map(([bytes, ...set]) => {
    const message = reflect(desc);
    for (const setting of set) if (setting !== undefined) message.set(setting.field, setting.value);
    // The library's own reading: how it keeps what it does not know is its affair.
    if (bytes !== undefined) message.setUnknown(fromBinary(EmptySchema, bytes).$unknown ?? []);
    return message;
  });
}

/** What {@link ReflectMessage.set} takes. */
type Setting = { readonly field: DescField; readonly value: unknown };

function settings(field: DescField, limits: Limits): fc.Arbitrary<Setting> {
  return values(field, limits).map((value) => ({ field, value }));
}

function values(field: DescField, limits: Limits): fc.Arbitrary<unknown> {
  if (field.fieldKind === 'list') {
    return fc.array(singles(field, limits), { maxLength: 3 }).map((items) => {
      const list = reflectList(field);
      for (const item of items) list.add(item);
      return list;
    });
  }
  if (field.fieldKind === 'map') {
    const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', '7', ''));
    return fc.array(fc.tuple(key, singles(field, limits)), { maxLength: 3 }).map((entries) => {
      const map = reflectMap(field);
      for (const [name, value] of entries) map.set(name, value);
      return map;
    });
  }
  return singles(field, limits);
}

function singles(field: DescField, limits: Limits): fc.Arbitrary<unknown> {
  if (field.message !== undefined) return messages(field.message, limits);
  // Enums are open: a newer server's value is kept.
  if (field.enum !== undefined) return fc.oneof(fc.constantFrom(...field.enum.values.map((v) => v.number)), int32);
  const scalar = field.scalar === undefined ? undefined : scalars[field.scalar];
  if (scalar === undefined) {
    throw new InvalidInputError('field', 'a type of which values can be made at random', String(field));
  }
  return scalar;
}

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

const scalars: Partial<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: fc.string({ unit: 'binary', maxLength: 12 }),
  [ScalarType.BYTES]: fc.uint8Array({ maxLength: 12 }),
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.INT32]: int32,
  [ScalarType.UINT32]: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  [ScalarType.INT64]: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  [ScalarType.FLOAT]: fc.float(),
};

const structs = fc
  .dictionary(fc.string({ unit: 'binary', maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((json) => reflect(StructSchema, fromJson(StructSchema, json as { [name: string]: never })));

const payload = fc.oneof(
  // A number may be written with more bytes than it needs.
  fc
    .tuple(fc.array(fc.integer({ min: 0, max: 127 }), { maxLength: 8 }), fc.integer({ min: 0, max: 127 }))
    .map(([high, last]) => ({ type: WireType.Varint, bytes: Uint8Array.from([...high.map((b) => b | 0x80), last]) })),
  fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => ({ type: WireType.Bit64, bytes })),
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => ({ type: WireType.Bit32, bytes })),
  fc.uint8Array({ maxLength: 9 }).map((bytes) => ({
    type: WireType.LengthDelimited,
    bytes: new BinaryWriter().bytes(bytes).finish(),
  })),
  fc.string({ maxLength: 9 }).map((text) => ({
    type: WireType.StartGroup,
    bytes: new BinaryWriter().tag(1, WireType.LengthDelimited).string(text).finish(),
  })),
);
