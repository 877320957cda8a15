import { describe, expect, test } from 'vitest';
import { encodeSse } from '../../src/wire/encode.js';
import { decodeSse } from '../../src/wire/index.js';
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

/** The text of an event, as it stands behind `data: `. */
const init = 'CgYKAWMSAXI=';
const done = 'GgISAA==';
const both = { events: [hexOf(started), hexOf(finished)], error: undefined };
const base64 = 'base64url with its padding';

/** Reads a stream whole, and byte by byte, and makes sure that this is the same. */
async function reading(...parts: Part[]) {
  const whole = bytes(...parts);
  const read = await readAll(decodeSse([whole]));
  expect(await readAll(decodeSse(inPiecesOf(1, whole)))).toEqual(read);
  return read;
}

const bad = async (...parts: Part[]) => badFrameOf(await reading(...parts));

describe('lines', () => {
  test.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('end with %s', async (_, lineEnd) => {
    const text = `data: ${init}\n\n: comment\n\n\ndata: ${done}\n\n`.replaceAll('\n', lineEnd);
    expect(await reading(text)).toEqual(both);
  });

  test('end each in its own way', async () => {
    expect(await reading(`data: ${init}\r\n\ndata: ${done}\r\r\n`)).toEqual(both);
    expect(await reading(`data: ${init}\r\rdata: ${done}\n\r`)).toEqual(both);
  });

  test('that nobody asked for are left out, however long they are', async () => {
    const long = 'x'.repeat(1000);
    const noise = `: ${long}\nid: ${long}\nretry: 3000\n${long}\n${long}:\ndatabase: ${long}\nevents: ${long}\n:\nid\nDATA: x\n data: x\n`;
    const whole = bytes(noise, `data: ${init}\n`, noise, `\n`, noise, `data: ${done}\n`, noise, '\n');
    expect(await readAll(decodeSse([whole], { maxFrameBytes: 16 }))).toEqual(both);
    for (const size of [1, 100])
      expect(await readAll(decodeSse(inPiecesOf(size, whole), { maxFrameBytes: 16 }))).toEqual(both);
  });

  test('have one space behind the colon, or none', async () => {
    expect(await reading(`data:${init}\n\ndata: ${done}\n\n`)).toEqual(both);
    expect(await bad(`data:  ${init}\n\n`)).toMatchObject({ expected: base64 });
  });

  test('that are no UTF-8 are left out where nobody reads them', async () => {
    expect(await reading(': ', [0xff, 0xfe], `\ndata: ${init}\n\ndata: ${done}\n\n`)).toEqual(both);
  });
});

describe('a byte order mark', () => {
  const mark = [0xef, 0xbb, 0xbf];

  test('may stand at the beginning', async () => {
    expect(await reading(mark, `data: ${init}\n\ndata: ${done}\n\n`)).toEqual(both);
  });

  test('is part of a line everywhere else, and so is half of one', async () => {
    const rest = `\n\ndata: ${init}\n\ndata: ${done}\n\n`;
    expect(await reading(mark, mark, `data: +`, rest)).toEqual(both);
    expect(await reading(mark.slice(0, 2), `data: +`, rest)).toEqual(both);
    expect(await reading(mark.slice(0, 1), rest)).toEqual(both);
    expect(await reading('\n', mark, `data: +`, rest)).toEqual(both);
  });
});

describe('data', () => {
  test('may stand in double quotes', async () => {
    expect(await reading(`data: "${init}"\n\ndata:"${done}"\n\n`)).toEqual(both);
  });

  test.each([`"${init}`, `${init}"`, '"', `"${init}" `, ` "${init}"`])(
    'with a quote at one end only is bad: %s',
    async (text) => {
      expect(await bad(`data: ${text}\n\n`)).toEqual({
        index: 0,
        offset: 0,
        expected: 'a double quote at both ends or at none',
        found: 'one at one end only',
      });
    },
  );

  test.each(['data', 'data:', 'data: ', 'data: ""'])('that is empty is an event without a type: %s', async (line) => {
    expect(await reading(`${line}\n\n`)).toEqual({ events: [hexOf(event({}))], error: undefined });
  });

  test('of several lines has a line feed in it, which is bad', async () => {
    const found = 'a line feed, since the data has several lines';
    expect(await bad(`data: ${init}\n\ndata: GgIS\ndata: AA==\n\n`)).toEqual({
      index: 1,
      offset: 20,
      expected: base64,
      found,
    });
    expect(await bad(`data:\ndata:\n\n`)).toMatchObject({ found });
  });

  test.each([
    ['CgYKAWMSAXI', '11 characters, which is no multiple of four'],
    ['CgYKAWMSAXI==', '13 characters, which is no multiple of four'],
    ['GgISAA=', '7 characters, which is no multiple of four'],
    ['GgISA===', "'=' at character 5"],
    ['GgI=SAA=', "'=' at character 3"],
    ['====', "'=' at character 0"],
    ['GgISAA=A', "'=' at character 6"],
    ['CgYKAWMSAXJ=', 'bits that belong to no byte at character 10'],
    ['GgISAB==', 'bits that belong to no byte at character 5'],
    ['Cg+KAWMSAXI=', "'+' at character 2"],
    ['Cg/KAWMSAXI=', "'/' at character 2"],
    ['CgYK AWMSAXI=', 'byte 0x20 at character 4'],
    ['CgYKAWMSAXI= ', 'byte 0x20 at character 12'],
    ['CgYKAWMSAX\u00e9', 'byte 0xc3 at character 10'],
    ['CgYKAWMSA\0I=', 'byte 0x00 at character 9'],
    ['[DONE]', "'[' at character 0"],
    ['{"init":{}}', "'{' at character 0"],
  ])('that is no base64url is bad: %s', async (text, found) => {
    expect(await bad(`data: ${init}\n\ndata: ${text}\n\ndata: ${done}\n\n`)).toEqual({
      index: 1,
      offset: 20,
      expected: base64,
      found,
    });
  });

  test('takes the alphabet of URLs', async () => {
    const read = appended('ÿþ>>>???~~~');
    const frame = encodeSse(read);
    expect(Buffer.from(frame).toString()).toMatch(/[-_]/);
    expect(await reading(frame)).toEqual({ events: [hexOf(read)], error: undefined });
  });
});

describe('an event', () => {
  test('of another type is left out, whatever it holds', async () => {
    const others = `event: ping\ndata: ${done}\n\ndata: no base64\nevent:ping\n\nevent: message2\ndata: \ndata:\n\nevent: ${'x'.repeat(99)}\ndata:"\n\n`;
    expect(await reading(others, `data: ${init}\n\n`, others, `data: ${done}\n\n`)).toEqual(both);
  });

  test('of type message is one, and so is one of an empty type', async () => {
    expect(await reading(`event: message\ndata: ${init}\n\nevent:\ndata: ${done}\nevent\n\n`)).toEqual(both);
  });

  test('has the type that was named last', async () => {
    expect(
      await reading(
        `event: ping\nevent: message\ndata: ${init}\n\nevent: message\nevent: ping\ndata: x\n\ndata: ${done}\n\n`,
      ),
    ).toEqual(both);
  });

  test('hands its type on to none, even where it has no data', async () => {
    expect(await reading(`event: ping\n\ndata: ${init}\n\ndata: ${done}\n\n`)).toEqual(both);
  });

  test('whose blank line is missing is dropped, good or bad', async () => {
    for (const rest of [`data: ${done}`, `data: ${done}\n`, 'data: [DONE]\n', 'data: ', 'dat']) {
      expect(await reading(`data: ${init}\n\ndata: ${done}\n\n${rest}`)).toEqual(both);
    }
  });

  test('whose protobuf is bad is a bad frame', async () => {
    // 08 00: a number, where StreamInit is a message
    expect(await bad(`: a comment\n\ndata: ${init}\n\n: more\ndata: CAA=\n\n`)).toEqual({
      index: 1,
      offset: 40,
      expected: 'wire type 2 for init of warp.multi_agent.v1.ResponseEvent',
      found: '0 at byte 0 of the message',
    });
  });
});

describe('the longest frame', () => {
  test.each([0, 1, 2, 3])('is measured in bytes of its event: %i more', async (more) => {
    const longest = appended('x'.repeat(100 + more));
    const frame = encodeSse(longest);
    const length = hexOf(longest).length / 2;
    const quoted = bytes(
      Buffer.from(frame)
        .toString()
        .replace(/: (.*)/, ': "$1"'),
    );
    for (const written of [frame, quoted]) {
      for (const pieces of [[written], inPiecesOf(1, written)]) {
        expect(await readAll(decodeSse(pieces, { maxFrameBytes: length }))).toEqual({
          events: [hexOf(longest)],
          error: undefined,
        });
        expect(badFrameOf(await readAll(decodeSse(pieces, { maxFrameBytes: length - 1 })))).toEqual({
          index: 0,
          offset: 0,
          expected: `a frame of at most ${length - 1} bytes`,
          found: 'a longer one',
        });
      }
    }
  });

  test('is refused before it is whole, with what was asked for bounded', async () => {
    let asked = 0;
    function* endless() {
      yield bytes(`data: ${init}\n\ndata: `);
      for (;;) {
        asked += 1;
        yield bytes('A'.repeat(64));
      }
    }
    const read = await readAll(decodeSse(endless(), { maxFrameBytes: 3000 }));
    expect(read.events).toEqual([hexOf(started)]);
    expect(badFrameOf(read)).toMatchObject({ index: 1, offset: 20, found: 'a longer one' });
    // `data: "…"` around 4,000 characters, and one more byte, of which six came before
    expect(asked).toBe(Math.ceil((8 + 4000 + 1 - 6) / 64));
  });
});
