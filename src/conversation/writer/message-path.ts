/**
 * Paths of fields of a message as TypeScript has them: local names, members of a oneof beside the other fields, joined with dots
 * (`agentOutput.text`). The types come from the generated code; a field mask of the wire is made of them with the descriptor.
 */
import { type DescField, type DescMessage, type Message as ProtobufMessage, ScalarType } from '@bufbuild/protobuf';
import { type Message, MessageSchema } from '../../../proto/index.js';
import { InvalidInputError } from '../../contract/errors.js';

/** A message of any type. */
type AnyMessage = { readonly $typeName: string };

/** The names of a message's own properties that stand for fields. */
type FieldName<Type> = Exclude<keyof Type & string, keyof ProtobufMessage>;

/** The paths that begin with a property of this name and type; `Wanted`: `text` for those that end at a text. */
type PathsAt<Name extends string, Value, Wanted extends 'text' | 'any'> = Value extends string
  ? Name
  : Value extends { readonly case: infer Case; readonly value: infer Member }
    ? Case extends string
      ? PathsAt<Case, Member, Wanted>
      : never
    : Value extends AnyMessage
      ? (Wanted extends 'any' ? Name : never) | `${Name}.${PathsIn<Value, Wanted>}`
      : Wanted extends 'any'
        ? Value extends { readonly case: undefined } | undefined
          ? never
          : Name
        : never;

type PathsIn<Type, Wanted extends 'text' | 'any'> = {
  [Name in FieldName<Type>]: PathsAt<Name, Exclude<Type[Name], undefined>, Wanted>;
}[FieldName<Type>];

/** What a message is found by cannot be changed. */
type Identity = 'id' | 'taskId';

/** A path of a message that ends at a text, and so can be appended to: `agentOutput.text`, `serverMessageData`. */
export type TextPath = Exclude<PathsIn<Message, 'text'>, Identity>;

/** A path of a message that ends at any field: a text, a number, a list, a message, a member of a oneof. */
export type FieldPath = Exclude<PathsIn<Message, 'any'>, Identity>;

/** A path, resolved. */
export interface LocalPath {
  /** As a field mask of the wire has it. */
  readonly mask: string;
  readonly fields: readonly DescField[];
}

const known = new Map<string, LocalPath>();

/** @throws {InvalidInputError} for what is no path of a message, or one that a message is found by */
export function localPath(path: string): LocalPath {
  let resolved = known.get(path);
  if (resolved === undefined) {
    resolved = resolve(path);
    known.set(path, resolved);
  }
  return resolved;
}

/** @throws {InvalidInputError} for what is no path of a text */
export function textPath(path: string): LocalPath {
  const resolved = localPath(path);
  if (isText(resolved.fields.at(-1))) return resolved;
  throw new InvalidInputError('path', 'a path of a text', path);
}

/** The fields of a message in which only the text at a path is set. */
export function fieldsWithText({ fields }: LocalPath, text: string): Record<string, unknown> {
  let value: unknown = text;
  for (let at = fields.length - 1; at >= 0; at--) {
    const { localName, oneof } = fields[at] as DescField;
    value = oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } };
  }
  return value as Record<string, unknown>;
}

function resolve(path: string): LocalPath {
  const fields: DescField[] = [];
  let desc: DescMessage | undefined = MessageSchema;
  for (const name of String(path).split('.')) {
    const field: DescField | undefined = desc?.fields.find(({ localName }) => localName === name);
    if (field === undefined) throw new InvalidInputError('path', 'a path of fields of a message', path);
    fields.push(field);
    desc = field.fieldKind === 'message' && !isStruct(field.message) ? field.message : undefined;
  }
  const mask = fields.map(({ name }) => name).join('.');
  if (mask === 'id' || mask === 'task_id') throw new InvalidInputError('path', 'a field that can be changed', path);
  return { mask, fields };
}

function isText(field: DescField | undefined): boolean {
  return field?.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
}

/** Which TypeScript has as JSON, not as a message. */
function isStruct({ typeName }: DescMessage): boolean {
  return typeName === 'google.protobuf.Struct';
}
