import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { createFold } from 'commitpoint/conversation';
import { ResponseEventSchema } from 'commitpoint/proto';
import { decodeBinary, decodeSse, encodeBinary, encodeSse } from 'commitpoint/wire';
import { Meter } from '../meter.mjs';
import { append, begin, commit, history } from './response-events.mjs';

const appends = 20_000;
const pieceBytes = 16_384;
const measureMs = 700;

/**
 * A stream of small events, twenty thousand appends of twenty bytes, from bytes
 * in pieces as a socket gives them: decoded and folded, or decoded alone; or
 * `fromBinary` of each event, whose bytes were cut out before.
 * @param {{ format: 'sse' | 'binary', does: 'fold' | 'decode' | 'fromBinary' }} options
 * @returns {Promise<import('../meter.mjs').Sample>}
 */
export async function decodeAndFold({ format, does }) {
  const one = append('m500');
  const events = [...history(1_000), begin, ...Array.from({ length: appends }, () => one), commit];
  const messages = events.map((event) => toBinary(ResponseEventSchema, event));
  const { encode, decode } = formats[format];
  const bytes = Buffer.concat(events.map((event) => encode(event)));
  const pieces = [];
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    pieces.push(new Uint8Array(bytes.subarray(from, from + pieceBytes)));
  }
  const works = {
    async fold() {
      const fold = createFold();
      let state = fold.initial;
      for await (const event of decode(pieces)) state = fold.take(state, event).state;
      return state.conversation.position;
    },
    async decode() {
      let count = 0;
      for await (const _ of decode(pieces)) count += 1;
      return count;
    },
    async fromBinary() {
      let count = 0;
      for (const message of messages) if (fromBinary(ResponseEventSchema, message).type.case !== undefined) count += 1;
      return count;
    },
  };
  const work = works[does];
  const once = async () => {
    const count = await work();
    if (count !== events.length) throw new Error(`${count} events of ${events.length}`);
  };
  for (const until = performance.now() + 500; performance.now() < until; ) await once();
  const meter = new Meter();
  do {
    meter.start();
    await once();
    meter.stop(events.length);
  } while (meter.cpuMs < measureMs);
  return meter.sample;
}

const formats = {
  sse: { encode: encodeSse, decode: decodeSse },
  binary: { encode: encodeBinary, decode: decodeBinary },
};
