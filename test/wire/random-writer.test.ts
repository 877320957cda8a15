import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createFold, resultOf } from '../../src/conversation/index.js';
import { createResponseStream } from '../../src/index.js';
import { Broken, property } from '../properties/property.js';
import { formatNames, formats, hexOf, readAll } from './streams.js';
import { all, attempt, outside, shapeOf, transaction } from './writer-acts.js';

describe('whatever a host does', () => {
  property(
    'a client folds what is written without a diagnostic, and to what the writer holds',
    fc.tuple(
      fc.array(fc.oneof(outside, { weight: 2, arbitrary: transaction }), { maxLength: 12 }),
      fc.integer({ min: 4, max: 40 }),
      fc.boolean(),
    ),
    async ([acts, maxBufferedEvents, overlaps]) => {
      const stream = createResponseStream({ conversationId: 'c', requestId: 'r', maxBufferedEvents });
      const read = all(stream);
      // one after another, or several at once
      const running = acts.map((act) => () => attempt(act, stream, stream));
      if (overlaps) await Promise.all(running.map((run) => run()));
      else for (const run of running) await run();
      if (stream.state.phase === 'streaming') stream.finish();
      const events = await read;

      const fold = createFold();
      let state = fold.initial;
      for (const event of events) state = fold.take(state, event).state;
      const found = resultOf(state.conversation);
      const words = events.map(hexOf).join('\n');
      if (found.diagnostics.length > 0)
        throw new Broken(
          found.diagnostics.map(({ code, detail }) => `${code}: ${detail}`),
          words,
        );
      if (JSON.stringify(found) !== JSON.stringify(resultOf(stream.state)))
        throw new Broken(['the writer holds something else'], words);
      expect(shapeOf(events)).toMatch(/^i((bw*[cr])|w)*f$/);
      for (const format of formatNames) {
        const { encode, decode } = formats[format];
        expect(await readAll(decode(events.map(encode)))).toEqual({ events: events.map(hexOf), error: undefined });
      }
    },
  );
});
