/**
 * A message without what is marked sensitive: the shape stays, so that it folds
 * to the same, and no content.
 */
import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  type MessageShape,
  type UnknownField,
} from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { sensitive } from '../../../proto/index.js';

type Fields = Record<string, unknown>;

/** What stands for a text that was not empty. */
const hidden = '[redacted]';

/** A copy of a message in which nothing sensitive is left; unknown fields keep their numbers alone. */
export function redacted<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): MessageShape<Desc> {
  return copyOf(desc, message as unknown as Fields, false) as unknown as MessageShape<Desc>;
}

function copyOf(desc: DescMessage, message: Fields, all: boolean): Fields {
  const copy = create(desc) as unknown as Fields;
  for (const member of desc.members) {
    if (member.kind === 'oneof') {
      const choice = message[member.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
      const field = member.fields.find(({ localName }) => localName === choice?.case);
      if (field !== undefined) {
        copy[member.localName] = { case: field.localName, value: fieldOf(field, choice?.value, all) };
      }
      continue;
    }
    const value = message[member.localName];
    if (value !== undefined) copy[member.localName] = fieldOf(member, value, all);
  }
  const unknown = message['$unknown'] as readonly UnknownField[] | undefined;
  if (unknown !== undefined) {
    copy['$unknown'] = unknown.map(({ no, wireType }) => ({ no, wireType, data: emptyOf(no, wireType) }));
  }
  return copy;
}

function fieldOf(field: DescField, value: unknown, around: boolean): unknown {
  const all = around || getOption(field, sensitive);
  switch (field.fieldKind) {
    case 'list':
      return (value as readonly unknown[]).map((item) => one(field.message, item, all));
    case 'map': {
      if (all) return {};
      const entries = Object.entries(value as Fields);
      return Object.fromEntries(entries.map(([key, item]) => [key, one(field.message, item, all)]));
    }
    default:
      return one(field.message, value, all);
  }
}

function one(desc: DescMessage | undefined, value: unknown, all: boolean): unknown {
  if (desc === undefined) {
    if (!all) return value;
    if (typeof value === 'string') return value === '' ? '' : hidden;
    return value instanceof Uint8Array ? new Uint8Array() : value;
  }
  // the run-time holds a Struct as plain JSON
  if (desc.typeName === 'google.protobuf.Struct') return all ? {} : value;
  return copyOf(desc, value as Fields, all);
}

/** The shortest bytes that an unknown field can have. */
function emptyOf(no: number, wireType: WireType): Uint8Array<ArrayBuffer> {
  switch (wireType) {
    case WireType.Bit64:
      return new Uint8Array(8);
    case WireType.Bit32:
      return new Uint8Array(4);
    case WireType.StartGroup:
      return new Uint8Array(new BinaryWriter().tag(no, WireType.EndGroup).finish());
    default:
      return new Uint8Array(1);
  }
}
