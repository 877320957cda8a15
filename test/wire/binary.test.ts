import { describe, expect, test } from 'vitest';
import { decodeBinary, encodeBinary } from '../../src/wire/index.js';
import {
  appended,
  badFrameOf,
  bytes,
  event,
  finished,
  hexOf,
  inPiecesOf,
  type Part,
  readAll,
  started,
} from './streams.js';

/** Reads a stream whole, and byte by byte, and makes sure that this is the same. */
async function reading(...parts: Part[]) {
  const whole = bytes(...parts);
  const read = await readAll(decodeBinary([whole]));
  expect(await readAll(decodeBinary(inPiecesOf(1, whole)))).toEqual(read);
  return read;
}

const whole = (...events: ReturnType<typeof event>[]) => ({ events: events.map(hexOf), error: undefined });

describe('a frame', () => {
  test('is an event behind its length', async () => {
    expect(Buffer.from(encodeBinary(started)).toString('hex')).toBe('080a060a0163120172');
    expect(await reading(encodeBinary(started), encodeBinary(finished))).toEqual(whole(started, finished));
  });

  test('of no bytes is an event without a type', async () => {
    expect(await reading([0, 0])).toEqual(whole(event({}), event({})));
  });

  test('has a length of several bytes where it is long, or needlessly', async () => {
    const long = appended('x'.repeat(20_000));
    expect(await reading(encodeBinary(long), encodeBinary(started))).toEqual(whole(long, started));
    expect(await reading([0x88, 0x80, 0x80, 0x80, 0x00], encodeBinary(started).subarray(1))).toEqual(whole(started));
  });

  test.each([
    ['ff ff ff ff 10', 'a length of 32 bits at most', 'a longer one'],
    ['80 80 80 80 80 00', 'a length of 32 bits at most', 'a longer one'],
    ['ff ff ff ff 0f', 'a frame of at most 16777216 bytes', 'a longer one'],
    ['81 80 80 08', 'a frame of at most 16777216 bytes', 'a longer one'],
    ['80 80 80', 'a frame', 'the end of the source within its length'],
    ['05', 'a frame of 5 bytes', '0 and the end of the source'],
    ['05 0a 03 0a 01', 'a frame of 5 bytes', '4 and the end of the source'],
    ['02 08 00', 'wire type 2 for init of warp.multi_agent.v1.ResponseEvent', '0 at byte 0 of the message'],
    [
      '03 0a 05 0a 03 63 63 63',
      'init of warp.multi_agent.v1.ResponseEvent to end within its message',
      'its end at byte 3 of the message',
    ],
  ])('that is bad: %s', async (hex, expected, found) => {
    const bad = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const read = await reading(encodeBinary(started), encodeBinary(finished), bad);
    expect(read.events).toEqual([started, finished].map(hexOf));
    expect(badFrameOf(read)).toEqual({ index: 2, offset: 14, expected, found });
  });

  test('may be as long as was allowed', async () => {
    const frame = encodeBinary(started);
    expect(await readAll(decodeBinary([frame], { maxFrameBytes: 8 }))).toEqual(whole(started));
    expect(badFrameOf(await readAll(decodeBinary([frame], { maxFrameBytes: 7 })))).toMatchObject({
      expected: 'a frame of at most 7 bytes',
    });
  });

  test('that is too long is refused at its length, with nothing of it asked for', async () => {
    let asked = 0;
    function* endless() {
      yield bytes(encodeBinary(started), [0x81, 0x80, 0x80, 0x08]);
      for (;;) {
        asked += 1;
        yield bytes([0]);
      }
    }
    expect(badFrameOf(await readAll(decodeBinary(endless())))).toMatchObject({
      index: 1,
      offset: 9,
      found: 'a longer one',
    });
    expect(asked).toBe(0);
  });
});
