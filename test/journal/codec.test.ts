/** The codec by hand, held to the generated code: E1–E3 (encoder.ts), D1–D4 (decoder.ts), R1–R3 (byte-cursor.ts), B1, B2 (byte-sink.ts). */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordSchema } from '../../proto/gen/commitpoint/journal/v1/journal_pb.js';
import { JournalDamagedError } from '../../src/contract/errors.js';
import type { JournalRecord } from '../../src/contract/journal.js';
import { ByteSink } from '../../src/journal/codec/byte-sink.js';
import { RecordDecoder } from '../../src/journal/codec/decoder.js';
import { writeRecord } from '../../src/journal/codec/encoder.js';
import { decodeRecord, encodeRecord } from '../../src/journal/index.js';
import { joined } from '../../src/testing/arbitraries/message-of.js';
import { property, runs } from '../properties/property.js';
import { messageOf, recordOf } from './messages.js';
import { entry, records } from './records.js';
import { reordered } from './reordered.js';

describe('what is written', () => {
  property('is read by the generated code to the same record (E1)', records, (record) => {
    expect(fromBinary(RecordSchema, encodeRecord(record))).toEqual(messageOf(record));
  });

  property('is what the generated code writes, to the byte (E1)', records, (record) => {
    expect(encodeRecord(record)).toEqual(toBinary(RecordSchema, messageOf(record)));
  });

  property(
    'is the same where what was done is a frozen list that other records share (E3)',
    fc.array(records, { minLength: 2, maxLength: 4 }),
    (several) => {
      const did = Object.freeze((several[0] as JournalRecord).did.map((effect) => Object.freeze(effect)));
      for (const record of [...several, ...several]) {
        const shared = { ...record, did };
        expect(encodeRecord(shared)).toEqual(toBinary(RecordSchema, messageOf(shared)));
      }
    },
  );

  property(
    'is the same where transitions and names were written before, with something else done by them (E3)',
    fc.tuple(records, records),
    ([one, other]) => {
      const { kind, event, from, to } = one;
      const named = one.did.map(({ effect }) => ({ effect }));
      const several = [one, { ...other, kind, event, from, to }, { ...one, kind: other.kind, did: named }, one];
      for (const record of several) {
        const expected = toBinary(RecordSchema, messageOf(record));
        expect(Buffer.compare(encodeRecord(record), expected)).toBe(0);
      }
    },
  );

  property('comes back as it was', records, (record) => {
    expect(decodeRecord(encodeRecord(record))).toStrictEqual(record);
  });

  test.each([
    ['seq', { seq: 0.5 }],
    ['seq', { seq: 2 ** 53 }],
    ['cause', { cause: -1 }],
    ['cause', { cause: Number.NaN }],
    ['machines', { data: { recovery: { machines: 2 ** 32 } } }],
    ['room', { data: { occurrence: { room: -1 } } }],
    ['room', { data: { occurrence: { room: Number.POSITIVE_INFINITY } } }],
    ['version', { did: [{ effect: 'apply', version: 1.5 }] }],
  ] as const)('a %s that no field holds is refused, and nothing of the record is left (B1, E2): %j', (_, change) => {
    const sink = new ByteSink(1);
    writeRecord(sink, 1, entry(1));
    const before = sink.written.slice();
    const record: JournalRecord = { seq: 2, ...entry(2), ...change };
    expect(() => writeRecord(sink, record.seq, record)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    expect(sink.written).toEqual(before);
  });

  test('half of a character becomes U+FFFD, in short texts and in long ones (B1)', () => {
    for (const text of ['\ud800', `\udc00${'x'.repeat(200)}`]) {
      const { actor } = decodeRecord(encodeRecord({ seq: 1, ...entry(1), actor: text }));
      expect(actor).toBe(text.replace(/\p{Surrogate}/u, '\ufffd'));
    }
  });
});

describe('what is read', () => {
  const decoder = new RecordDecoder();
  const read = (bytes: Uint8Array) => decoder.read(bytes, 0, bytes.length);

  property('is what the generated code has written (D1)', records, (record) => {
    expect(read(toBinary(RecordSchema, messageOf(record)))).toStrictEqual(record);
  });

  const inAnyOrder = records.chain((record) =>
    reordered(RecordSchema, encodeRecord(record)).map((bytes) => ({ bytes, record })),
  );
  property('may have its fields in any order, and unknown ones among them (D1, R3)', inAnyOrder, ({ bytes }) => {
    expect(read(bytes)).toStrictEqual(recordOf(fromBinary(RecordSchema, bytes)));
  });

  property('may have a message twice, which is merged (D1)', fc.tuple(records, records), ([one, other]) => {
    const twice = joined(encodeRecord(one), encodeRecord(other));
    expect(read(twice)).toStrictEqual(recordOf(fromBinary(RecordSchema, twice)));
  });

  property('is the same in the middle of other bytes', fc.tuple(records, fc.uint8Array()), ([record, around]) => {
    const bytes = encodeRecord(record);
    const all = joined(around, bytes, around);
    expect(decoder.read(all, around.length, around.length + bytes.length)).toStrictEqual(record);
  });

  property('shares lists of effects and texts with records before it, and keeps no bytes (D4)', records, (record) => {
    const bytes = encodeRecord(record);
    const first = read(bytes);
    const again = read(bytes.slice());
    bytes.fill(0);
    expect(first).toStrictEqual(record);
    expect(again).toStrictEqual(record);
    const isPlain = record.did.every(({ digest, payload, version }) => !digest && !payload && !version);
    if (isPlain && record.did.length < 5 && record.did.every(({ effect }) => effect.length < 20)) {
      expect(again.did).toBe(first.did);
      expect(Object.isFrozen(again.did)).toBe(true);
    }
  });
});

describe('bytes that hold no record', () => {
  /** A record, or the one error that there is. */
  const tried = (bytes: Uint8Array) => {
    try {
      return decodeRecord(bytes);
    } catch (thrown) {
      if (!(thrown instanceof JournalDamagedError)) throw thrown;
      expect(thrown.offset).toBeLessThanOrEqual(bytes.length);
      return thrown;
    }
  };

  property('cut off anywhere: a record of the fields that are whole, or the error (D2, R1)', records, (record) => {
    const bytes = encodeRecord(record);
    for (let end = 0; end < bytes.length; end += 1 + Math.floor(bytes.length / 50)) tried(bytes.slice(0, end));
  });

  property('random bytes: the error, or what they say (D2)', fc.uint8Array({ maxLength: 60 }), (bytes) => {
    tried(bytes);
  });

  const damaged = fc.tuple(records, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }));
  property('damaged bytes: the error, or what they say (D2, R2)', damaged, ([record, changes]) => {
    const bytes = encodeRecord(record);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    const found = tried(bytes);
    if (found instanceof JournalDamagedError) return;
    // what is read can be written, and read again
    expect(decodeRecord(encodeRecord(found))).toStrictEqual(found);
  });

  test.each([
    ['nothing', [], 'the kind of an actor'],
    ['no seq', [0x20, 1], 'a seq from 1'],
    ['no kind', [0x08, 1], 'the kind of an actor'],
    ['an unknown kind', [0x08, 1, 0x20, 9], 'found the number 9'],
    ['a text that is no UTF-8', [0x08, 1, 0x20, 1, 0x1a, 1, 0xff], 'UTF-8'],
    ['a number that is too large', [0x08, ...new Array<number>(9).fill(0xff), 1], '2^53 - 1'],
    ['a number that does not end', [0x08, ...new Array<number>(10).fill(0xff), 1], 'at most ten bytes'],
    ['a length behind the end', [0x08, 1, 0x20, 1, 0x1a, 9, 0x41], 'found the end of the bytes after 1'],
    ['the end of a group that is none', [0x08, 1, 0x20, 1, 0xa4, 1], 'the end of another group'],
    ['a wire type that is none', [0x08, 1, 0x20, 1, 0xa6, 1], 'found 6'],
    ['a policy that is none', [0x08, 1, 0x20, 1, 0x62, 5, 0x1a, 3, 0x22, 1, 0x61], 'abandon, cancel, deliver'],
  ])('%s: says so', (_, bytes, problem) => {
    const found = tried(Uint8Array.from(bytes));
    expect(found).toBeInstanceOf(JournalDamagedError);
    expect((found as JournalDamagedError).message).toContain(problem);
  });

  test('groups within groups, however many, are no way to run out of stack (R3)', () => {
    const bytes = Uint8Array.from([0x08, 1, 0x20, 1, ...new Array<number>(runs * 100).fill(0x83)].concat(0x01));
    expect(tried(bytes)).toBeInstanceOf(JournalDamagedError);
    const deep = Uint8Array.from([0x08, 1, 0x20, 1, ...Array.from({ length: 40_000 }, (_, i) => (i % 2 ? 1 : 0xa3))]);
    expect(tried(deep)).toBeInstanceOf(JournalDamagedError);
  });
});
