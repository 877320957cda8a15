import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ClientActionSchema,
  Message_ToolCall_SuggestPlanSchema,
  MessageSchema,
  type ResponseEvent,
  ResponseEventSchema,
  type Task,
  TaskSchema,
} from '../../proto/index.js';
import { encodeSse } from '../../src/wire/index.js';
import { Broken, property } from '../properties/property.js';
import {
  appended,
  bytes,
  cutAt,
  cuts,
  event,
  formatNames,
  formats,
  hexOf,
  randomEvents,
  readAll,
  reusing,
} from './streams.js';

describe.each(formatNames)('%s', (format) => {
  const { decode, encode } = formats[format];

  property(
    'what was encoded is decoded to the same, however it is cut, from a source that uses its pieces again',
    fc.tuple(randomEvents(format), cuts),
    async ([events, positions]) => {
      const whole = bytes(...events.map(encode));
      const expected = { events: events.map(hexOf), error: undefined };
      for (const pieces of [[whole], cutAt(whole, positions)]) {
        // all of them first, and then a look at each: a view of a piece would show what came after it
        const read: ResponseEvent[] = [];
        for await (const one of decode(reusing(pieces))) read.push(one);
        const found = { events: read.map(hexOf), error: undefined };
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          throw new Broken(
            [`expected ${JSON.stringify(expected)}`, `found ${JSON.stringify(found)}`],
            Buffer.from(whole).toString('hex'),
          );
        }
      }
    },
  );

  test.each([
    ['another message', create(ClientActionSchema)],
    ['an object', { type: { case: undefined } }],
    ['nothing', undefined],
    ['null', null],
    ['a number out of range', event({ type: { case: 'finished', value: { tokenUsage: [{ totalInput: -1 }] } } })],
    ['half of a character', appended('x\ud83d')],
    ['half of a character in a key', userQuery({ '\udc00': {} })],
    ['messages too deep', tooDeep(30)],
    ['a message in itself', inItself()],
  ])('takes no %s', (_, wrong) => {
    expect(() => encode(wrong as ResponseEvent)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  test('takes what is deep, and what looks like half of a character', async () => {
    for (const good of [tooDeep(24), appended('\ufffd'), appended('😀 \ufffd\ufeff')]) {
      expect(await readAll(decode([encode(good)]))).toEqual({ events: [hexOf(good)], error: undefined });
    }
  });
});

describe('unknown fields and actions of a newer schema', () => {
  const newer = fromBinary(
    ResponseEventSchema,
    Uint8Array.from([0x12, 7, 0x0a, 5, 0x6a, 3, 0x0a, 1, 0x74, 0xa2, 6, 1, 9]),
  );

  test.each(['sse', 'binary'] as const)('are kept by %s', async (format) => {
    expect(hexOf(newer)).toBe('12070a056a030a0174a2060109');
    const frame = formats[format].encode(newer);
    expect(await readAll(formats[format].decode([frame]))).toEqual({ events: [hexOf(newer)], error: undefined });
  });

  test('have no place in JSON', async () => {
    const { encode, decode } = formats.json;
    expect(Buffer.from(encode(newer)).toString()).toBe('{"clientActions":{"actions":[{}]}}\n');
    expect((await readAll(decode([encode(newer)]))).events).toEqual(['12020a00']);
  });
});

test('frames of server-sent events are what others take', () => {
  const frame = Buffer.from(encodeSse(appended('ÿ'))).toString();
  expect(frame).toMatch(/^data: [A-Za-z0-9_-]+=*\n\n$/);
  const message = Buffer.from(frame.slice(6, -2), 'base64url');
  expect(new Uint8Array(message)).toEqual(toBinary(ResponseEventSchema, appended('ÿ')));
  expect(frame.slice(6, -2).length % 4).toBe(0);
});

function userQuery(referencedAttachments: { [key: string]: object }): ResponseEvent {
  const message = create(MessageSchema, { message: { case: 'userQuery', value: { referencedAttachments } } });
  return created({ messages: [message] });
}

/** A task in a plan in a call in a message in a task …: four messages a level. */
function tooDeep(levels: number): ResponseEvent {
  let task = create(TaskSchema, { id: 'innermost' });
  for (let i = 0; i < levels - 1; i++) task = planning(task);
  return created(task);
}

function inItself(): ResponseEvent {
  const proposed = create(TaskSchema);
  const task = planning(proposed);
  proposed.messages = task.messages;
  return created(task);
}

/** A task whose one message proposes another. */
function planning(proposed: Task): Task {
  const value = create(Message_ToolCall_SuggestPlanSchema, { proposedTasks: [proposed] });
  const tool = { case: 'suggestPlan' as const, value };
  return create(TaskSchema, { messages: [create(MessageSchema, { message: { case: 'toolCall', value: { tool } } })] });
}

function created(task: MessageInitShape<typeof TaskSchema>): ResponseEvent {
  return event({
    type: { case: 'clientActions', value: { actions: [{ action: { case: 'createTask', value: { task } } }] } },
  });
}
