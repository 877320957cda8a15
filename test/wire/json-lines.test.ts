import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { ClientActionSchema } from '../../proto/index.js';
import { BadFrameError, isCommitpointError } from '../../src/contract/errors.js';
import { decodeJsonLine, decodeJsonLines, encodeJsonLine } from '../../src/wire/index.js';
import { badFrameOf, bytes, event, finished, hexOf, inPiecesOf, type Part, readAll, started } from './streams.js';

const init = '{"init":{"conversationId":"c","requestId":"r"}}';
const done = '{"finished":{"done":{}}}';
const both = { events: [hexOf(started), hexOf(finished)], error: undefined };
const event3 = 'a ResponseEvent in proto3 JSON';

/** Reads a stream whole, and byte by byte, and makes sure that this is the same. */
async function reading(...parts: Part[]) {
  const whole = bytes(...parts);
  const read = await readAll(decodeJsonLines([whole]));
  expect(await readAll(decodeJsonLines(inPiecesOf(1, whole)))).toEqual(read);
  return read;
}

describe('lines', () => {
  test('are events, the last with its line feed or without', async () => {
    expect(await reading(`${init}\n${done}\n`)).toEqual(both);
    expect(await reading(`${init}\n${done}`)).toEqual(both);
    expect(await reading(`${init}\r\n${done}\r\n`)).toEqual(both);
    expect(await reading('')).toEqual({ events: [], error: undefined });
  });

  test('that are blank or begin with // are skipped', async () => {
    expect(await reading(`\n// a comment\n  \t\n${init}\n  // {"nothing":1}\r\n\n${done}\n\n//`)).toEqual(both);
  });

  test('may begin with a byte order mark, the first alone', async () => {
    expect(await reading([0xef, 0xbb, 0xbf], `${init}\n${done}`)).toEqual(both);
    expect(await reading([0xef, 0xbb, 0xbf], `\n${init}\n${done}`)).toEqual(both);
    expect(badFrameOf(await reading(`${init}\n`, [0xef, 0xbb, 0xbf], done))).toMatchObject({ index: 1, line: 2 });
  });

  test('have keys in snake_case too', async () => {
    expect(await reading('{"init":{"conversation_id":"c","request_id":"r"}}\n{"finished":{"done":{}}}')).toEqual(both);
  });

  test('are one event without a type where they are {}', async () => {
    expect(await reading('{}\n{}')).toEqual({ events: ['', ''], error: undefined });
  });

  test.each([
    ['{"clientActionz":{}}', 'key "clientActionz" is unknown'],
    ['{"init":{},"finished":{}}', /oneof set multiple times by init and finished/],
    ['{"init":{"conversationId":"c","conversation_id":"c"}}', /conversation_id.*set multiple times/],
    ['{"init":{"requestId":"r","requestId":"r"}}', /duplicate object key "requestId"/],
    ['{"init":{"requestId":7}}', /request_id.*expected string/],
    ['{"init":{"requestId":"\\ud800"}}', /request_id.*UTF8/],
    ['[]', /Array/],
    ['7', '7'],
    ['null', 'null'],
    ['"text"', /text/],
    ['{"init":{', /JSON/],
    ['[DONE]', /JSON/],
    ['{} {}', /JSON/],
  ])('that are no ResponseEvent are bad: %s', async (line, found) => {
    const read = await reading(`// first\n${init}\n\n${line}\n${done}\n`);
    expect(read.events).toEqual([hexOf(started)]);
    expect(badFrameOf(read)).toEqual({
      index: 1,
      offset: 58,
      line: 4,
      expected: event3,
      found: typeof found === 'string' ? found : expect.stringMatching(found),
    });
    expect(() => decodeJsonLine(line, 4)).toThrow(BadFrameError);
    expect(isCommitpointError(read.error) && read.error.message).toMatch(
      /^bad frame 1 at line 4, byte 58: expected a ResponseEvent/,
    );
  });

  test('that are no UTF-8 are bad, comments too', async () => {
    expect(badFrameOf(await reading(`${init}\n// `, [0xff], '\n'))).toEqual({
      index: 1,
      offset: 48,
      line: 2,
      expected: 'a line in UTF-8',
      found: 'other bytes',
    });
  });

  test('are not shown whole in an error', async () => {
    const found = (badFrameOf(await reading(`{"${'x'.repeat(5000)}":1}`)) as { readonly found: string }).found;
    expect(found.length).toBeLessThan(250);
  });

  test('nested deeper than 100 are bad, and do no harm', async () => {
    const args = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const call = (levels: number) =>
      `{"clientActions":{"actions":[{"addMessagesToTask":{"messages":[{"toolCall":{"callMcpTool":{"args":${args(levels)}}}}]}}]}}`;
    expect((await reading(call(50))).error).toBeUndefined();
    expect(badFrameOf(await reading(call(200)))).toMatchObject({
      found: expect.stringMatching(/maximum recursion depth/),
    });
    expect(badFrameOf(await readAll(decodeJsonLines([bytes('['.repeat(1_000_000))])))).toMatchObject({ line: 1 });
  });

  test('may be as long as was allowed', async () => {
    const longest = { maxFrameBytes: init.length };
    expect(await readAll(decodeJsonLines([bytes(`${init}\n${done}`)], longest))).toEqual(both);
    for (const pieces of [[bytes(`${init} \n`)], inPiecesOf(1, bytes(`${init} \n`)), [bytes(`${init} `)]]) {
      expect(badFrameOf(await readAll(decodeJsonLines(pieces, longest)))).toEqual({
        index: 0,
        offset: 0,
        line: 1,
        expected: `a frame of at most ${init.length} bytes`,
        found: 'a longer one',
      });
    }
  });
});

describe('a field mask', () => {
  const append = (mask: string) => `{"clientActions":{"actions":[{"appendToMessageContent":{"mask":${mask}}}]}}`;
  const pathsOf = (line: string) => {
    const { type } = decodeJsonLine(line);
    const action = type.case === 'clientActions' ? type.value.actions[0]?.action : undefined;
    return action?.case === 'appendToMessageContent' ? action.value.mask?.paths : undefined;
  };

  test('is one text of lowerCamelCase paths, which are snake_case in the event', () => {
    expect(pathsOf(append('"agentOutput.text,toolCall.toolCallId"'))).toEqual([
      'agent_output.text',
      'tool_call.tool_call_id',
    ]);
    expect(pathsOf(append('""'))).toEqual([]);
    expect(pathsOf(append('null'))).toBeUndefined();
  });

  test.each(['"agent_output.text"', '["agentOutput.text"]', '{"paths":["agent_output.text"]}', '7'])(
    'that is none is bad: %s',
    (mask) => {
      expect(() => decodeJsonLine(append(mask), 3)).toThrow(
        expect.objectContaining({
          code: 'bad_frame',
          line: 3,
          found: expect.stringMatching(/google\.protobuf\.FieldMask/),
        }),
      );
    },
  );

  const appendOf = (...paths: string[]) => {
    const action = create(ClientActionSchema, {
      action: { case: 'appendToMessageContent', value: { mask: { paths } } },
    });
    return event({ type: { case: 'clientActions', value: { actions: [action] } } });
  };

  test.each([['agentOutput.text'], [''], ['a,b'], ['a', ',']])(
    'that JSON cannot say is not written: %j %j',
    (...paths) => {
      expect(() => encodeJsonLine(appendOf(...paths))).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    },
  );

  test.each([[], ['agent_output.text'], ['', ''], ['a', '']])('comes back as it was: %j %j', (...paths) => {
    expect(pathsOf(Buffer.from(encodeJsonLine(appendOf(...paths))).toString())).toEqual(paths);
  });
});

test('zero keeps its sign', async () => {
  const value = { requestCost: { exact: -0 }, tokenUsage: [{ modelId: '"', costInCents: -0 }, {}] };
  const negative = event({ type: { case: 'finished', value } });
  const line = encodeJsonLine(negative);
  expect(await readAll(decodeJsonLines([line]))).toEqual({ events: [hexOf(negative)], error: undefined });
  expect(Buffer.from(line).toString()).toContain('"exact":-0}');
});
