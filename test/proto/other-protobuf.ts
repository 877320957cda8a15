/**
 * The same schema in another implementation: protobufjs, which parses our `.proto` files by itself. Both sides are compared
 * as plain objects: the fields that are set, under the names of the `.proto` files; numbers of 64 bits as text, bytes as arrays.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { DescField } from '@bufbuild/protobuf';
import type { ReflectMessage } from '@bufbuild/protobuf/reflect';
import protobufjs from 'protobufjs';
import { fileDescriptors } from '../../proto/index.js';

const require = createRequire(import.meta.url);
const protos = fileURLToPath(new URL('../../proto/', import.meta.url));

/** A message as both implementations are made to show it. */
export type Plain = { [name: string]: unknown };

const root = new protobufjs.Root();
root.resolvePath = (_, file) =>
  file.startsWith('google/') ? require.resolve(`protobufjs/${file}`) : `${protos}${file.replace(protos, '')}`;
root.loadSync(
  fileDescriptors.map(({ name }) => `${name}.proto`),
  { keepCase: true },
);
root.resolveAll();

/** All messages that protobufjs found in the package, nested ones included. */
export function typesElsewhere(): string[] {
  const names: string[] = [];
  const walk = (space: protobufjs.NamespaceBase) => {
    for (const child of space.nestedArray) {
      if (child instanceof protobufjs.Type) names.push(child.fullName.slice(1));
      if (child instanceof protobufjs.Namespace) walk(child);
    }
  };
  walk(root.lookup('warp.multi_agent.v1') as protobufjs.Namespace);
  return names;
}

/** What protobufjs reads in these bytes. */
export function decodeElsewhere(typeName: string, bytes: Uint8Array): Plain {
  const type = root.lookupType(typeName);
  return type.toObject(type.decode(bytes), { longs: String, bytes: Array });
}

/** The bytes that protobufjs writes for these fields. */
export function encodeElsewhere(typeName: string, plain: Plain): Uint8Array {
  const type = root.lookupType(typeName);
  return type.encode(type.fromObject(plain)).finish();
}

/** A message of ours in the form that protobufjs shows. */
export function plainOf(message: ReflectMessage): Plain {
  const plain: Plain = {};
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    // The types of google.protobuf come with protobufjs, which spells their fields in its own way.
    const name = field.parent.typeName.startsWith('google.protobuf.') ? field.localName : field.name;
    plain[name] = plainValueOf(field, message.get(field));
  }
  return plain;
}

function plainValueOf(field: DescField, value: unknown): unknown {
  const single = (item: unknown) => (field.message ? plainOf(item as ReflectMessage) : scalarOf(item));
  if (field.fieldKind === 'list') return Array.from(value as Iterable<unknown>, single);
  if (field.fieldKind !== 'map') return single(value);
  return Object.fromEntries(Array.from(value as Iterable<[string, unknown]>, ([key, item]) => [key, single(item)]));
}

function scalarOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value);
  return typeof value === 'bigint' ? String(value) : value;
}
