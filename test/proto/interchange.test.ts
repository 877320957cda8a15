import { type DescField, type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileDescriptors } from '../../proto/index.js';
import { joined, messageOf, unknownFields } from '../../src/testing/arbitraries/message-of.js';
import { messagesOf } from './descriptor-rows.js';
import { decodeElsewhere, encodeElsewhere, plainOf, typesElsewhere } from './other-protobuf.js';

const schemas = fileDescriptors.flatMap(messagesOf);

/** Often enough for each field of a message to be set in some of its runs. */
const runs = 40;

/** Tries random messages of every schema, with each member of each oneof in turn. */
function forEveryMessage(holds: (desc: DescMessage, message: Message) => void): void {
  for (const desc of schemas) {
    const members: (DescField | undefined)[] = desc.oneofs.flatMap(({ fields }) => fields);
    for (const pinned of members.length > 0 ? members : [undefined]) {
      const property = fc.property(messageOf(desc, { pinned }), (message) => holds(desc, message));
      fc.assert(property, { numRuns: runs });
    }
  }
}

const plain = (desc: DescMessage, message: Message) => plainOf(reflect(desc, message));

describe('what is encoded here is understood elsewhere', () => {
  test('protobufjs finds the same messages in the .proto files', () => {
    expect(typesElsewhere().sort()).toEqual(schemas.map(({ typeName }) => typeName).sort());
  });

  test('protobufjs decodes what we encode', () => {
    const set = new Set<DescField>();
    forEveryMessage((desc, message) => {
      const fields = plain(desc, message);
      for (const field of desc.fields) if (field.name in fields) set.add(field);
      expect(decodeElsewhere(desc.typeName, toBinary(desc, message)), desc.typeName).toEqual(fields);
    });
    // None was left out by the generator, or by the way in which both are compared.
    expect(schemas.flatMap((desc) => desc.fields).filter((field) => !set.has(field))).toEqual([]);
  });

  test('we decode what protobufjs encodes', () => {
    forEveryMessage((desc, message) => {
      const fields = plain(desc, message);
      const bytes = encodeElsewhere(desc.typeName, fields);
      expect(plain(desc, fromBinary(desc, bytes)), desc.typeName).toEqual(fields);
    });
  });
});

describe('fields that the schema does not know', () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

  test('survive at every level, byte for byte', () => {
    let inner = 0; // messages that hold such fields in messages within them, and there alone
    for (const desc of schemas) {
      const property = fc.property(messageOf(desc, { unknown: true }), (message) => {
        const bytes = toBinary(desc, message);
        const known = toBinary(desc, message, { writeUnknownFields: false });
        if (message.$unknown === undefined && known.length < bytes.length) inner += 1;
        expect(hex(toBinary(desc, fromBinary(desc, bytes))), desc.typeName).toBe(hex(bytes));
      });
      fc.assert(property, { numRuns: runs });
    }
    expect(inner).toBeGreaterThan(0);
  });

  test('survive wherever they stand among the known ones, in the order in which they came', () => {
    for (const desc of schemas) {
      const fields = unknownFields(desc);
      const property = fc.property(messageOf(desc), fields, fields, (message, before, after) => {
        const known = toBinary(desc, message);
        const read = fromBinary(desc, joined(before, known, after));
        expect(hex(toBinary(desc, read)), desc.typeName).toBe(hex(joined(known, before, after)));
        expect(hex(toBinary(desc, read, { writeUnknownFields: false })), desc.typeName).toBe(hex(known));
      });
      fc.assert(property, { numRuns: runs });
    }
  });
});
