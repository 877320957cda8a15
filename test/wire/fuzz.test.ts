/**
 * Spoilt streams. How many: `COMMITPOINT_FUZZ`, by default few enough for every run of the tests; `COMMITPOINT_SEED` repeats one run.
 * What holds for each, in every format:
 *
 * - it is read to an end: the events before the fault, and then one `BadFrameError`, or none
 * - whole or in pieces, from a source that spoils what it gave, it is the same
 * - every event that comes out can be encoded again, and comes back the same
 * - of a source whose pieces come one by one, none is asked for after the fault
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResponseEvent } from '../../proto/index.js';
import { BadFrameError } from '../../src/contract/errors.js';
import { Broken } from '../properties/property.js';
import { mutate } from './mutations.js';
import {
  badFrameOf,
  bytes,
  cutAt,
  event,
  type Format,
  formatNames,
  formats,
  hexOf,
  randomEvents,
  readAll,
  reusing,
} from './streams.js';

const inputs = integerOf('COMMITPOINT_FUZZ', 5_000);
const seed = integerOf('COMMITPOINT_SEED', Math.floor(Math.random() * 2 ** 31));

function integerOf(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value)) throw new RangeError(`${name}: expected an integer, found ${text}`);
  return value;
}

/** Numbers below 2³², the same for the same seed. */
function dice(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** Streams to spoil, and for each format what may stand between its frames. */
function corpus(format: Format): Uint8Array[] {
  const { encode } = formats[format];
  const streams = fc.sample(randomEvents(format), { seed: 7, numRuns: 120 });
  const good = streams.map((events) => bytes(...events.map(encode)));
  const noise: Record<Format, string[]> = {
    sse: [
      ': keep-alive\r\n\r\n',
      'event: message\nid: 7\ndata:"CgYKAWMSAXI="\n\n',
      'event: ping\rdata: x\r\r',
      '\ufeffdata\n\n',
    ],
    binary: ['\0', '\x02\x12\0'],
    json: [
      '// a comment\n\n',
      '{"init":{"conversation_id":"c"}}\r\n',
      '{"clientActions":{"actions":[{"createTask":{}}]}}',
    ],
  };
  return [
    ...good,
    ...noise[format].map((text) => bytes(text)),
    ...good.map((one, i) => bytes(noise[format][i % 2] as string, one)),
  ];
}

interface Tally {
  whole: number;
  bad: number;
  events: number;
}

async function check(
  format: Format,
  input: Uint8Array,
  positions: readonly number[],
  options: object,
  tally: Tally,
): Promise<void> {
  const { decode, encode } = formats[format];
  const events: ResponseEvent[] = [];
  let error: unknown;
  try {
    for await (const one of decode([input], options)) events.push(one);
  } catch (thrown) {
    error = thrown;
  }
  if (error !== undefined && !(error instanceof BadFrameError)) throw error;
  const read = { events: events.map(hexOf), error };
  tally[error === undefined ? 'whole' : 'bad'] += 1;
  tally.events += events.length;
  if (error !== undefined) expect(badFrameOf(read)).toMatchObject({ index: events.length });

  const pieces = cutAt(input, positions);
  let given = 0;
  const counted = (function* () {
    for (const piece of reusing(pieces)) {
      given += piece.length;
      yield piece;
    }
  })();
  const cut = await readAll(decode(counted, options));
  expect({ events: cut.events, error: badFrameOf(cut) }).toEqual({ events: read.events, error: badFrameOf(read) });
  if (error instanceof BadFrameError && given < input.length) {
    const again = await readAll(decode([input.subarray(0, given)], options));
    // what was given was enough for the fault
    expect(badFrameOf(again)).toEqual(badFrameOf(read));
  }

  for (const one of events) {
    const back = await readAll(decode([encode(one)]));
    expect(back).toEqual({ events: [hexOf(one)], error: undefined });
  }
}

describe.each(formatNames)('spoilt streams of %s', (format) => {
  test('end in events and one error of ours', { timeout: 60_000 + inputs * 20 }, async () => {
    const roll = dice(seed);
    const streams = corpus(format);
    const tally: Tally = { whole: 0, bad: 0, events: 0 };
    for (let i = 0; i < inputs / formatNames.length; i++) {
      let input = streams[roll() % streams.length] as Uint8Array;
      for (let changes = 1 + (roll() % 3); changes > 0; changes--) input = mutate(input, roll(), roll(), roll());
      const positions = Array.from({ length: roll() % 12 }, () => roll() % (input.length + 1));
      const options = roll() % 4 === 0 ? { maxFrameBytes: 1 + (roll() % 64) } : {};
      try {
        await check(format, input, positions, options, tally);
      } catch (thrown) {
        const again = `COMMITPOINT_SEED=${seed} COMMITPOINT_FUZZ=${inputs}`;
        const story = `input ${i}: ${Buffer.from(input).toString('hex')}\ncut at ${positions}\n${JSON.stringify(options)}\nagain: ${again}`;
        throw new Broken([thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)], story);
      }
    }
    // that it spoils, and that it does not spoil everything
    expect(tally.bad).toBeGreaterThan(inputs / 50);
    expect(tally.whole).toBeGreaterThan(inputs / 50);
    expect(tally.events).toBeGreaterThan(inputs / 50);
  });

  test('that are nothing but noise do too', async () => {
    const property = fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.nat(200), { maxLength: 8 }),
      (input, positions) => check(format, input, positions, {}, { whole: 0, bad: 0, events: 0 }),
    );
    await fc.assert(property, { numRuns: Math.ceil(inputs / 10), seed });
  });
});

test('an event without anything in it is one', async () => {
  for (const format of formatNames) {
    const { decode, encode } = formats[format];
    expect(await readAll(decode([encode(event({}))]))).toEqual({ events: [''], error: undefined });
  }
});
