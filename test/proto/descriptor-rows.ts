/**
 * What descriptors declare, as tab-separated rows: file, message, field, number, type, oneof. A message without fields has a
 * row of dashes; an enum has a row for each value, an extension one in the place of a field.
 */
import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescFile,
  type DescMessage,
  ScalarType,
} from '@bufbuild/protobuf';

export const header = 'file\tmessage\tfield\tnumber\ttype\toneof';

/** All rows of a file, in the order in which it declares them; nested messages after the one that holds them. */
export function rowsOf(file: DescFile): string[] {
  const name = `${file.name.slice(file.name.lastIndexOf('/') + 1)}.proto`;
  const rows = [
    ...file.messages.flatMap(messageRows),
    ...file.enums.flatMap(enumRows),
    ...file.extensions.map(extensionRow),
  ];
  return rows.map((row) => [name, ...row].join('\t'));
}

/** The messages of a file with those nested in them, however deep. An entry of a map is no message of anybody's. */
export function messagesOf({ messages }: { readonly messages: readonly DescMessage[] }): DescMessage[] {
  return messages.flatMap((message) => [message, ...messagesOf({ messages: message.nestedMessages })]);
}

function messageRows(message: DescMessage): string[][] {
  const fields = message.fields.map((field) => [
    message.typeName,
    field.name,
    String(field.number),
    typeOf(field),
    field.oneof?.name ?? '-',
  ]);
  const own = fields.length > 0 ? fields : [[message.typeName, '-', '-', '-', '-']];
  return [...own, ...message.nestedEnums.flatMap(enumRows), ...message.nestedMessages.flatMap(messageRows)];
}

function enumRows(desc: DescEnum): string[][] {
  return desc.values.map((value) => [`enum ${desc.typeName}`, value.name, String(value.number), '-', '-']);
}

function extensionRow(extension: DescExtension): string[] {
  return [`extend ${extension.extendee.typeName}`, extension.name, String(extension.number), typeOf(extension), '-'];
}

function typeOf(field: DescField | DescExtension): string {
  switch (field.fieldKind) {
    case 'map':
      return `map<${ScalarType[field.mapKey].toLowerCase()},${single(field.mapKind, field)}>`;
    case 'list':
      return `repeated ${single(field.listKind, field)}`;
    default:
      return single(field.fieldKind, field);
  }
}

function single(kind: 'message' | 'enum' | 'scalar', field: DescField | DescExtension): string {
  if (kind === 'message') return field.message?.typeName ?? '';
  if (kind === 'enum') return field.enum?.typeName ?? '';
  return field.scalar === undefined ? '' : ScalarType[field.scalar].toLowerCase();
}
