/** Streams to read: how they are made, cut, and read to their end. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { type ResponseEvent, ResponseEventSchema } from '../../proto/index.js';
import { BadFrameError } from '../../src/contract/errors.js';
import { messageOf } from '../../src/testing/arbitraries/message-of.js';
import {
  decodeBinary,
  decodeJsonLines,
  decodeSse,
  encodeBinary,
  encodeJsonLine,
  encodeSse,
} from '../../src/wire/index.js';

/** The formats, each with the two directions. */
export const formats = {
  sse: { decode: decodeSse, encode: encodeSse },
  binary: { decode: decodeBinary, encode: encodeBinary },
  json: { decode: decodeJsonLines, encode: encodeJsonLine },
} as const;

export type Format = keyof typeof formats;
export const formatNames = Object.keys(formats) as Format[];

/** An event of the protocol. */
export function event(init: MessageInitShape<typeof ResponseEventSchema>): ResponseEvent {
  return create(ResponseEventSchema, init);
}

export const started = event({ type: { case: 'init', value: { conversationId: 'c', requestId: 'r' } } });
export const finished = event({
  type: { case: 'finished', value: { reason: { case: 'done', value: {} } } },
});

/** An event that adds `text` to a message: what most of a stream is made of. */
export function appended(text: string): ResponseEvent {
  const message = { id: 'm', message: { case: 'agentOutput', value: { text } } } as const;
  const value = { taskId: 't', message, mask: { paths: ['agent_output.text'] } };
  const action = { case: 'appendToMessageContent', value } as const;
  return event({ type: { case: 'clientActions', value: { actions: [{ action }] } } });
}

/** A text, or bytes. */
export type Part = string | Uint8Array | readonly number[];

/** The bytes of texts and of lists of bytes, one after another. */
export function bytes(...parts: Part[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part)))),
  );
}

/** The bytes of an event, so that two can be compared: unknown fields count. */
export function hexOf(read: ResponseEvent): string {
  return Buffer.from(toBinary(ResponseEventSchema, read)).toString('hex');
}

/** What came of reading a stream to its end. */
export interface Reading {
  /** {@link hexOf} each event. */
  readonly events: readonly string[];
  readonly error: unknown;
}

export async function readAll(events: AsyncIterable<ResponseEvent>): Promise<Reading> {
  const read: string[] = [];
  try {
    for await (const one of events) read.push(hexOf(one));
    return { events: read, error: undefined };
  } catch (error) {
    return { events: read, error };
  }
}

/** A bad frame, as a test wants to see it; anything else that came instead. */
export function badFrameOf({ error }: Reading): unknown {
  if (!(error instanceof BadFrameError)) return error;
  const { index, offset, line, expected, found } = error;
  return line === undefined ? { index, offset, expected, found } : { index, offset, line, expected, found };
}

/** `whole`, cut before each of these positions. */
export function cutAt(whole: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const cuts = [0, ...positions.filter((at) => at >= 0 && at <= whole.length).sort((a, b) => a - b), whole.length];
  return cuts.slice(1).map((end, i) => whole.subarray(cuts[i], end));
}

/** `whole` in pieces of `size` bytes. */
export function inPiecesOf(size: number, whole: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => whole.subarray(i * size, (i + 1) * size));
}

/**
 * A source that gives each piece in one and the same buffer, and spoils it before the next: whoever keeps a view of a piece
 * finds that out.
 */
export function* reusing(pieces: readonly Uint8Array[]): Generator<Uint8Array, void> {
  const buffer = new Uint8Array(Math.max(1, ...pieces.map((piece) => piece.length)));
  for (const piece of pieces) {
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
    buffer.fill(0x21);
  }
}

/** Random events of any kind. JSON has no place for unknown fields, and not for every field mask. */
export function randomEvents(format: Format): fc.Arbitrary<ResponseEvent[]> {
  const any = messageOf(ResponseEventSchema, { depth: 7, unknown: format !== 'json' }) as fc.Arbitrary<ResponseEvent>;
  const one = format === 'json' ? any.filter(hasUsualMasks) : any;
  return fc.array(fc.oneof(one, fc.string({ unit: 'grapheme' }).map(appended), fc.constantFrom(started, finished)), {
    maxLength: 4,
  });
}

function hasUsualMasks({ type }: ResponseEvent): boolean {
  if (type.case !== 'clientActions') return true;
  return type.value.actions.every(({ action }) => {
    const mask = action.value !== undefined && 'mask' in action.value ? action.value.mask : undefined;
    return mask?.paths.every((path) => /^[a-z]+([._][a-z]+)*$/.test(path)) ?? true;
  });
}

/** Where to cut: many cuts in a short stream leave nothing whole. */
export const cuts = fc.array(fc.nat(400), { maxLength: 40 });
