import { type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { SourceCodeInfo_LocationSchema, StructSchema, UninterpretedOptionSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fileDescriptors,
  Message_ToolCall_WriteToLongRunningShellCommandSchema,
  Message_UserQuerySchema,
  ResponseEventSchema,
} from '../../proto/index.js';
import { messageOf } from '../../src/testing/arbitraries/message-of.js';
import { Fault } from '../../src/wire/fault.js';
import { checkMessage } from '../../src/wire/protobuf/check.js';
import { planOf } from '../../src/wire/protobuf/plan.js';
import { readResponseEvent } from '../../src/wire/protobuf/response-event.js';
import { messagesOf } from '../proto/descriptor-rows.js';
import { mutated } from './mutations.js';
import { passesNaively } from './naive-check.js';
import { bytes } from './streams.js';

const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

function check(desc: DescMessage, message: Uint8Array): unknown {
  try {
    return checkMessage(planOf(desc), message, 0, message.length);
  } catch (fault) {
    return fault instanceof Fault ? `${fault.found}, not ${fault.expected}` : fault;
  }
}

const event = 'warp.multi_agent.v1.ResponseEvent';

describe('what the strict check refuses', () => {
  test.each([
    ['08 00', `0 at byte 0 of the message, not wire type 2 for init of ${event}`],
    ['0d 00 00 00 00', `5 at byte 0 of the message, not wire type 2 for init of ${event}`],
    ['0a 02 08 00', `0 at byte 2 of the message, not wire type 2 for conversation_id of ${event}.StreamInit`],
    ['0b 0c', `3 at byte 0 of the message, not wire type 2 for init of ${event}`],
    [
      '1a 02 4a 00',
      `2 at byte 2 of the message, not wire type 0 for should_refresh_model_config of ${event}.StreamFinished`,
    ],
    [
      '1a 06 52 04 09 00 00 00',
      `1 at byte 4 of the message, not wire type 5 for exact of ${event}.StreamFinished.RequestCost`,
    ],
  ])('a known field of another wire type: %s', (hex, said) => {
    expect(check(ResponseEventSchema, fromHex(hex))).toBe(said);
  });

  test.each([
    ['0a', 'its end at byte 1 of the message, not a length to end within its message'],
    ['0a 80', 'its end at byte 2 of the message, not a length to end within its message'],
    ['0a 01', `its end at byte 2 of the message, not init of ${event} to end within its message`],
    ['0a 05 0a 02 63', `its end at byte 5 of the message, not init of ${event} to end within its message`],
    ['8a', 'its end at byte 1 of the message, not a field number and wire type to end within its message'],
    ['0a 01 0a', 'its end at byte 3 of the message, not a length to end within its message'],
    ['1a 01 48', 'its end at byte 3 of the message, not a number to end within its message'],
    ['1a 03 48 80 80', 'its end at byte 5 of the message, not a number to end within its message'],
    [
      '1a 05 52 03 0d 00 00',
      `its end at byte 7 of the message, not exact of ${event}.StreamFinished.RequestCost to end within its message`,
    ],
    ['a0 06', 'its end at byte 2 of the message, not a number to end within its message'],
    ['a5 06 00', 'its end at byte 3 of the message, not field 100 to end within its message'],
    ['a1 06 00 00 00 00', 'its end at byte 6 of the message, not field 100 to end within its message'],
    ['a2 06', 'its end at byte 2 of the message, not a length to end within its message'],
    ['a2 06 03 00', 'its end at byte 4 of the message, not field 100 to end within its message'],
    ['a3 06', 'the end of its message at byte 2 of the message, not the end of group 100'],
  ])('what is cut off: %s', (hex, said) => {
    expect(check(ResponseEventSchema, fromHex(hex))).toBe(said);
  });

  test('a message that runs over its own end into what follows, which the library takes', () => {
    const overrun = fromHex('0a 02 0a 04 12 02 72 72');
    expect(fromBinary(ResponseEventSchema, overrun).type.case).toBe('init');
    expect(check(ResponseEventSchema, overrun)).toBe(
      `its end at byte 4 of the message, not conversation_id of ${event}.StreamInit to end within its message`,
    );
  });

  test.each([
    ['00 00', '0 at byte 0 of the message, not a field number from 1'],
    ['a3 06 00 00 a4 06', '0 at byte 2 of the message, not a field number from 1'],
    ['a6 06 00', '6 at byte 0 of the message, not a wire type of 0 … 5'],
    ['a7 06 00', '7 at byte 0 of the message, not a wire type of 0 … 5'],
    ['a4 06', 'the end of group 100 at byte 0 of the message, not a group to begin before it ends'],
    ['a3 06 ac 06', 'the end of group 101 at byte 2 of the message, not the end of group 100'],
    ['8a 80 80 80 10 00', 'a longer one at byte 0 of the message, not a field number and wire type of 32 bits at most'],
    [
      '8a 80 80 80 80 00 00',
      'a longer one at byte 0 of the message, not a field number and wire type of 32 bits at most',
    ],
    ['0a 80 80 80 80 10', 'a longer one at byte 1 of the message, not a length of 32 bits at most'],
    [`1a 0c 48 ${'ff '.repeat(9)} 02 00`, 'a longer one at byte 3 of the message, not a number of 64 bits at most'],
    [`1a 0c 48 ${'80 '.repeat(10)} 00`, 'a longer one at byte 3 of the message, not a number of 64 bits at most'],
  ])('what is no protobuf: %s', (hex, said) => {
    expect(check(ResponseEventSchema, fromHex(hex))).toBe(said);
  });

  test('lists of numbers that are packed and cut off', () => {
    expect(check(SourceCodeInfo_LocationSchema, fromHex('0a 02 01 80'))).toMatch(/not a number to end within/);
    expect(check(SourceCodeInfo_LocationSchema, fromHex('0a 03 01 80 01'))).toBe(0);
    expect(check(SourceCodeInfo_LocationSchema, fromHex('08 01 08 80 01'))).toBe(0);
    expect(check(SourceCodeInfo_LocationSchema, fromHex('0d 01 00 00 00'))).toMatch(/^5 .* not wire type 0 for path/);
    // numbers of 8 bytes, alone
    expect(check(UninterpretedOptionSchema, fromHex('31 00 00 00 00 00 00 f0 3f'))).toBe(0);
    expect(check(UninterpretedOptionSchema, fromHex('31 00 00 00 00 00 00 f0'))).toMatch(
      /double_value .* to end within/,
    );
  });

  test('entries of a map whose key or value is of another wire type', () => {
    const entry = (hex: string) => check(Message_UserQuerySchema, bytes([0x1a, hex.split(' ').length], fromHex(hex)));
    expect(entry('0a 01 61 12 00')).toBe(0);
    expect(entry('08 01 12 00')).toBe(
      `0 at byte 2 of the message, not wire type 2 for key of ${Message_UserQuerySchema.typeName}.referenced_attachments`,
    );
    expect(entry('0a 01 61 10 00')).toMatch(/^0 at byte 5 .* not wire type 2 for value/);
    expect(entry('0a 02 61')).toMatch(/key of .* to end within/);
  });

  test('text that is no UTF-8, by the name of its field', () => {
    const where = `of ${event}.StreamInit`;
    for (const [hex, at] of [
      ['0a 04 0a 02 c3 28', 4],
      ['0a 03 0a 01 ff', 4],
      [`0a 2a 0a 28 ${'61 '.repeat(39)} 80`, 4],
      // a surrogate, written as if it were a character
      ['0a 05 0a 03 ed a0 80', 4],
    ] as const) {
      const message = fromHex(hex);
      expect(check(ResponseEventSchema, message)).toBe(0);
      expect(() => readResponseEvent(message, 0, message.length)).toThrow(
        expect.objectContaining({
          expected: `UTF-8 in conversation_id ${where}`,
          found: `other bytes at byte ${at} of the message`,
        }),
      );
    }
  });
});

describe('what the strict check takes', () => {
  test('fields that the schema does not know, groups among them, and says so', () => {
    expect(check(ResponseEventSchema, fromHex('a0 06 ff 01'))).toBe(1);
    expect(check(ResponseEventSchema, fromHex('a3 06 08 01 0b 0c a2 06 01 00 a4 06'))).toBe(1);
    expect(check(ResponseEventSchema, fromHex('0a 05 0a 00 f8 07 01'))).toBe(1);
    expect(check(ResponseEventSchema, fromHex('0a 02 0a 00'))).toBe(0);
  });

  test('fields of type bytes, and says so', () => {
    expect(check(Message_ToolCall_WriteToLongRunningShellCommandSchema, fromHex('0a 01 00'))).toBe(1);
  });

  test('numbers with more bytes than they need', () => {
    expect(check(ResponseEventSchema, fromHex('8a 80 80 80 00 85 80 00 0a 81 80 00 63'))).toBe(0);
    expect(check(ResponseEventSchema, fromHex(`1a 0b 48 ${'ff '.repeat(9)} 01`))).toBe(0);
  });

  test('messages 100 deep and no more, as the library does', () => {
    // Struct within Value within Struct …: two messages a level
    const structOf = (value: Uint8Array) => delimited(1, bytes(delimited(1, bytes()), delimited(2, value)));
    const nested = (levels: number, innermost: string) => {
      let value = fromHex(innermost);
      for (let i = 0; i < levels; i++) value = delimited(5, structOf(value));
      return structOf(value);
    };
    const deepest = nested(49, '20 01');
    expect(check(StructSchema, deepest)).toBe(0);
    expect(() => fromBinary(StructSchema, deepest)).not.toThrow();
    for (const tooDeep of [nested(49, '2a 00'), nested(49, 'a3 06 a4 06')]) {
      expect(() => fromBinary(StructSchema, tooDeep)).toThrow();
      expect(check(StructSchema, tooDeep)).toMatch(
        /^a deeper one at byte \d+ of the message, not messages at most 100 deep$/,
      );
    }
    const groups = (levels: number) => bytes(fromHex('a3 06'.repeat(levels)), fromHex('a4 06'.repeat(levels)));
    expect(check(ResponseEventSchema, groups(99))).toBe(1);
    expect(() => fromBinary(ResponseEventSchema, groups(99))).not.toThrow();
    expect(check(ResponseEventSchema, groups(100))).toMatch(/^a deeper one/);
    expect(check(ResponseEventSchema, groups(100_000))).toMatch(/^a deeper one/);
  });

  test('everything that is encoded by the library', () => {
    for (const desc of fileDescriptors.flatMap(messagesOf)) {
      const property = fc.property(messageOf(desc, { unknown: true }), (message) => {
        expect([0, 1]).toContain(check(desc, toBinary(desc, message)));
      });
      fc.assert(property, { numRuns: 20 });
    }
  });

  test('exactly what a naive reading takes, and the library after it', () => {
    const verdicts = { taken: 0, refused: 0 };
    for (const desc of fileDescriptors.flatMap(messagesOf)) {
      const property = fc.property(messageOf(desc, { unknown: true }), mutated, (message, mutate) => {
        const spoilt = mutate(toBinary(desc, message));
        const isTaken = typeof check(desc, spoilt) === 'number';
        expect(isTaken, Buffer.from(spoilt).toString('hex')).toBe(passesNaively(desc, spoilt));
        verdicts[isTaken ? 'taken' : 'refused'] += 1;
        if (!isTaken) return;
        try {
          fromBinary(desc, spoilt);
        } catch (error) {
          expect(String(error)).toMatch(/encoded data was not valid|UTF-?8/i);
        }
      });
      fc.assert(property, { numRuns: 60 });
    }
    expect(verdicts.taken).toBeGreaterThan(500);
    expect(verdicts.refused).toBeGreaterThan(500);
  });
});

/** A field with a delimited value. */
function delimited(number: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish();
}
