import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import { readAppend } from '../../src/wire/protobuf/append-lane.js';
import { checkMessage } from '../../src/wire/protobuf/check.js';
import { planOf } from '../../src/wire/protobuf/plan.js';
import { property, runs } from '../properties/property.js';
import { mutated } from './mutations.js';
import { appended, hexOf, randomEvents } from './streams.js';

const plan = planOf(ResponseEventSchema);

/** What the check and the library read, or `undefined` where one of them refuses. */
function readSlowly(bytes: Uint8Array): ResponseEvent | undefined {
  try {
    checkMessage(plan, bytes, 0, bytes.length);
    return fromBinary(ResponseEventSchema, bytes);
  } catch {
    return undefined;
  }
}

/** Whether the lane took it; if so, that it is the same. */
function compare(bytes: Uint8Array): boolean {
  const padded = new Uint8Array(bytes.length + 9).fill(0x0a);
  padded.set(bytes, 4);
  const read = readAppend(padded, 4, 4 + bytes.length);
  padded.fill(0x2e);
  if (read === undefined) return false;
  const slowly = readSlowly(bytes);
  expect(read, Buffer.from(bytes).toString('hex')).toStrictEqual(slowly);
  expect(hexOf(read)).toBe(slowly && hexOf(slowly));
  return true;
}

const field = (number: number, content: Uint8Array | string): Uint8Array => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
};
const joined = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const eventOf = (append: Uint8Array) => field(2, field(1, field(5, append)));

const id = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('m', 'n', 'message-17', '\u00e9', '\u00e8\u00e9', '') },
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.integer({ min: 60, max: 140 }).map((length) => 'i'.repeat(length)),
);
const text = fc.oneof(
  id,
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.integer({ min: 120, max: 20_000 }).map((length) => 'x'.repeat(length)),
);
const extra = fc.constantFrom(field(4, 'x'), field(11, 't'), field(7, ''), field(20, 'unknown'));

const seldom = fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, extra);

/** What an append may look like: the usual fields in any order, now and then one too few, too many, or twice. */
const appends = fc
  .record({
    output: fc.shuffledSubarray([field(1, 'a'), field(2, 'b')]).chain((some) =>
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc.tuple(fc.constantFrom(1, 2), text).map(([number, value]) => [field(number, value)]),
        },
        { weight: 1, arbitrary: fc.constant(some) },
      ),
    ),
    messageId: id,
    taskId: id,
    paths: fc.array(fc.constantFrom('agent_output.text', 'agent_output.reasoning', 'x', ''), {
      minLength: 1,
      maxLength: 2,
    }),
    more: seldom,
    inMessage: seldom,
  })
  .chain(({ output, messageId, taskId, paths, more, inMessage }) => {
    const message = [field(1, messageId), field(3, joined(output)), ...(inMessage === null ? [] : [inMessage])];
    const parts = [
      field(1, joined(message)),
      field(2, joined(paths.map((path) => field(1, path)))),
      field(3, taskId),
      ...(more === null ? [] : [more]),
    ];
    const whole = fc.shuffledSubarray(parts, { minLength: parts.length });
    const cut = fc.shuffledSubarray(parts, { minLength: 2 });
    return fc.oneof({ weight: 3, arbitrary: whole }, cut).map((some) => eventOf(joined(some)));
  });

describe('the fast lane', () => {
  let taken = 0;
  property(
    'reads what the check and the library read (Q1)',
    fc.array(appends, { minLength: 1, maxLength: 6 }),
    (events) => {
      for (const event of events) if (compare(event)) taken += 1;
    },
  );
  property(
    'or leaves it to them, faults above all (Q1)',
    fc.array(fc.tuple(appends, mutated), { minLength: 1, maxLength: 6 }),
    (events) => {
      for (const [event, mutate] of events) compare(mutate(event));
    },
    3,
  );
  property('in events of every kind (Q1)', randomEvents('binary'), (events) => {
    for (const event of events) compare(toBinary(ResponseEventSchema, event));
  });

  test('is taken, by what encoders write', () => {
    for (const delta of ['Hello', 'ÿ 😀', '\ufeffé', 'x'.repeat(10_000)]) {
      expect(compare(toBinary(ResponseEventSchema, appended(delta)))).toBe(true);
    }
    for (const delta of ['', 'x'.repeat(20_000)]) {
      expect(compare(toBinary(ResponseEventSchema, appended(delta)))).toBe(false);
    }
    expect(taken).toBeGreaterThan(runs / 4);
  });

  test('reads the same, or leaves it, whichever byte is another', () => {
    for (const text of ['Hello', 'x'.repeat(130)]) {
      const whole = toBinary(ResponseEventSchema, appended(text));
      for (let at = 0; at < whole.length; at++) {
        const isText = whole[at] === 0x78;
        for (let byte = 0; byte < 256; byte += isText ? 51 : 1) {
          const spoilt = whole.slice();
          spoilt[at] = byte;
          compare(spoilt);
        }
      }
    }
  });

  test('does not take bytes for an id that it has met as characters', () => {
    const named = (bytes: Uint8Array) =>
      eventOf(
        joined([field(1, joined([field(1, bytes), field(3, field(1, 'x'))])), field(2, field(1, 'p')), field(3, 't')]),
      );
    expect(compare(named(Buffer.from('\u00e9')))).toBe(true);
    // the first byte of nothing, and the code of é
    expect(compare(named(Uint8Array.of(0xe9)))).toBe(false);
  });

  test('keeps nothing of the bytes (Q2)', () => {
    const bytes = toBinary(ResponseEventSchema, appended('y'.repeat(100)));
    const before = hexOf(fromBinary(ResponseEventSchema, bytes.slice()));
    const read = readAppend(bytes, 0, bytes.length);
    bytes.fill(0x21);
    expect(read && hexOf(read)).toBe(before);
  });
});
