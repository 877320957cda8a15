import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';

/** How the value of a field begins on the wire; the numbers are protobuf's. Groups, 3 and 4, are of no field of ours. */
export const wireTypes = { varint: 0, fixed64: 1, delimited: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** What the strict check has to know of a field. */
export interface FieldPlan {
  readonly name: string;
  readonly wireType: number;
  /** A list of numbers may also come packed: as one delimited value. */
  readonly mayBePacked: boolean;
  /** What stands in a delimited value. */
  readonly content: 'message' | 'entry' | 'text' | 'bytes' | 'other';
  /** What is in the message, or in the entry of a map: its key is field 1, its value field 2. */
  readonly inner: MessagePlan | undefined;
}

/** What the strict check has to know of a message: its fields by number. */
export interface MessagePlan {
  readonly name: string;
  readonly fields: readonly (FieldPlan | undefined)[];
}

const plans = new WeakMap<DescMessage, MessagePlan>();

/** The plan of a message, made once. */
export function planOf(desc: DescMessage): MessagePlan {
  const known = plans.get(desc);
  if (known !== undefined) return known;
  const fields: (FieldPlan | undefined)[] = [];
  const plan: MessagePlan = { name: desc.typeName, fields };
  // before its fields, since a message may hold itself
  plans.set(desc, plan);
  for (const field of desc.fields) put(fields, field.number, fieldPlan(field));
  return plan;
}

/** Without holes, so that the engine keeps the list as it keeps every other. */
function put(fields: (FieldPlan | undefined)[], number: number, field: FieldPlan): void {
  while (fields.length <= number) fields.push(undefined);
  fields[number] = field;
}

function fieldPlan(field: DescField): FieldPlan {
  const { name } = field;
  switch (field.fieldKind) {
    case 'message':
      return delimited(name, 'message', planOf(field.message));
    case 'map':
      return delimited(name, 'entry', entryPlan(field));
    case 'enum':
      return { name, wireType: wireTypes.varint, mayBePacked: false, content: 'other', inner: undefined };
    case 'scalar':
      return scalarPlan(name, field.scalar, false);
    case 'list':
      if (field.listKind === 'message') return delimited(name, 'message', planOf(field.message));
      return scalarPlan(name, field.listKind === 'enum' ? ScalarType.INT32 : field.scalar, true);
  }
}

function entryPlan(field: DescField & { fieldKind: 'map' }): MessagePlan {
  const key = scalarPlan('key', field.mapKey, false);
  let value: FieldPlan;
  if (field.mapKind === 'message') value = delimited('value', 'message', planOf(field.message));
  else value = scalarPlan('value', field.mapKind === 'enum' ? ScalarType.INT32 : field.scalar, false);
  return { name: `${field.parent.typeName}.${field.name}`, fields: [undefined, key, value] };
}

function delimited(name: string, content: 'message' | 'entry', inner: MessagePlan): FieldPlan {
  return { name, wireType: wireTypes.delimited, mayBePacked: false, content, inner };
}

function scalarPlan(name: string, scalar: ScalarType, isList: boolean): FieldPlan {
  const wireType = wireTypeOf(scalar);
  const content = scalar === ScalarType.STRING ? 'text' : scalar === ScalarType.BYTES ? 'bytes' : 'other';
  return { name, wireType, mayBePacked: isList && content === 'other', content, inner: undefined };
}

function wireTypeOf(scalar: ScalarType): number {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return wireTypes.delimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return wireTypes.fixed64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return wireTypes.fixed32;
    default:
      return wireTypes.varint;
  }
}
