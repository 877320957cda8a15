import { fromJsonString, toJsonString } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordSchema } from '../../proto/gen/commitpoint/journal/v1/journal_pb.js';
import { JournalDamagedError } from '../../src/contract/errors.js';
import { parseRecord, parseRecords, printRecord } from '../../src/journal/index.js';
import { property } from '../properties/property.js';
import { messageOf } from './messages.js';
import { entry, records } from './records.js';

/** JSON has one zero. */
const printable = records.filter(({ at }) => !Object.is(at, -0));

property('a record comes back from its line as it was', printable, (record) => {
  const line = printRecord(record);
  expect(line).not.toContain('\n');
  expect(parseRecord(line)).toStrictEqual(record);
});

property('a line is the JSON of proto3, and that is read as a line', printable, (record) => {
  expect(fromJsonString(RecordSchema, printRecord(record))).toEqual(messageOf(record));
  expect(parseRecord(toJsonString(RecordSchema, messageOf(record)))).toStrictEqual(record);
});

test('a line is made for people', () => {
  const data = { occurrence: { call: 'call-1', room: 0 } };
  const passed = { text: [3, 2], audio: [0, 0] } as const;
  expect(printRecord({ seq: 9, ...entry(1), cause: 2 ** 53 - 1, passed, data })).toBe(
    '{"seq":9,"at":1700000000001,"actor":"session-1/call-1","kind":"ACTOR_KIND_CALL","event":"placed","from":"queued",' +
      '"to":"executing","cause":9007199254740991,"did":[{"effect":"execute","digest":"1.digest"},{"effect":"armTimeout"}],' +
      '"passed":{"textTaken":3,"textDelivered":2},"occurrence":{"call":"call-1","room":0}}',
  );
});

test('a policy may have the name of a field', () => {
  const policies = { seq: 'a', version: '7', __proto__: 'b' };
  const conversation = { machines: 1, mode: 'warp', policies, maxDiagnostics: 1, durable: false };
  const record = { seq: 1, ...entry(1), data: { conversation } };
  expect(parseRecord(printRecord(record))).toEqual(record);
});

describe('what is no record', () => {
  test.each([
    ['no JSON', '{"seq":1', 'holds no record'],
    ['another kind of JSON', '[1,2]', 'holds no record'],
    ['a field of another type', '{"seq":1,"kind":"ACTOR_KIND_CALL","did":7}', 'holds no record'],
    ['no seq', '{"kind":"ACTOR_KIND_CALL"}', 'a seq from 1'],
    ['no kind', '{"seq":1}', 'the kind of an actor'],
    ['an unknown kind', '{"seq":1,"kind":"ACTOR_KIND_CAT"}', 'the kind of an actor'],
    ['a seq that is too large', '{"seq":"18446744073709551615","kind":1}', '2^53 - 1'],
  ])('%s: says so, with the line', (_, line, problem) => {
    const text = `${printRecord({ seq: 1, ...entry(1) })}\n\n${line}\n`;
    const parse = () => [...parseRecords(text, 'run.jsonl')];
    expect(parse).toThrow(JournalDamagedError);
    expect(parse).toThrow(expect.objectContaining({ offset: 3, message: expect.stringContaining(problem) }));
    expect(parse).toThrow(expect.objectContaining({ message: expect.stringContaining('run.jsonl') }));
  });

  test('a line that comes before the one before it', () => {
    const text = [2, 3, 3].map((seq) => printRecord({ seq, ...entry(1) })).join('\r\n');
    expect(() => [...parseRecords(text)]).toThrow(expect.objectContaining({ offset: 3 }));
    expect([...parseRecords(text.slice(0, text.lastIndexOf('\r\n')))].map(({ seq }) => seq)).toEqual([2, 3]);
  });

  property('any text: the error, or a record', fc.oneof(fc.string(), fc.json()), (text) => {
    try {
      parseRecord(text);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(JournalDamagedError);
    }
  });
});
