import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type ByteSource, decodeBinary, decodeJsonLines, decodeSse, encodeSse } from '../../src/wire/index.js';
import { appended, bytes, finished, hexOf, inPiecesOf, readAll, started } from './streams.js';

const events = [started, appended('a'), appended('b'), finished];
const frames = events.map(encodeSse);
const whole = { events: events.map(hexOf), error: undefined };

/** A source that tells what is done with it. Without `pieces` left it waits for ever. */
class Source implements AsyncIterableIterator<Uint8Array, undefined> {
  asked = 0;
  readonly released: unknown[] = [];
  /** What a release gives. */
  onRelease: () => Promise<unknown> = () => Promise.resolve();
  readonly #pieces: (Uint8Array | Error)[];
  readonly #ends: boolean;

  constructor(pieces: readonly (Uint8Array | Error)[], then: 'end' | 'wait' = 'wait') {
    this.#pieces = [...pieces];
    this.#ends = then === 'end';
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.asked += 1;
    const piece = this.#pieces.shift();
    if (piece instanceof Error) return Promise.reject(piece);
    if (piece !== undefined) return Promise.resolve({ done: false, value: piece });
    return this.#ends ? Promise.resolve({ done: true, value: undefined }) : new Promise(() => {});
  }

  async return(value?: unknown): Promise<IteratorResult<Uint8Array, undefined>> {
    this.released.push(value);
    await this.onRelease();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The same as a `ReadableStream`. */
function streamOf(source: Source): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        source.released.push(reason);
        await source.onRelease();
      },
    },
    { highWaterMark: 0 },
  );
}

const kinds = [
  ['an async iterator', (source: Source) => source],
  ['a ReadableStream', streamOf],
] as const;

describe('bytes come', () => {
  test('from an array, a generator, an async generator, a Node stream, a ReadableStream, a response', async () => {
    const body = new Response(bytes(...frames) as Uint8Array<ArrayBuffer>).body;
    const sources: ByteSource[] = [
      frames,
      new Set(frames),
      (function* () {
        yield* frames;
      })(),
      (async function* () {
        yield* frames;
      })(),
      Readable.from(frames.map((frame) => Buffer.from(frame))),
      new Source(frames, 'end'),
      streamOf(new Source(frames, 'end')),
      new ReadableStream({
        type: 'bytes',
        start(controller) {
          // which takes the bytes away from whoever has them
          for (const frame of frames) controller.enqueue(new Uint8Array(frame));
          controller.close();
        },
      }),
      body ?? [],
    ];
    for (const source of sources) expect(await readAll(decodeSse(source))).toEqual(whole);
  });

  test('in pieces of nothing too', async () => {
    const none = new Uint8Array(0);
    expect(await readAll(decodeSse(frames.flatMap((frame) => [none, frame, none])))).toEqual(whole);
    expect(await readAll(decodeSse([]))).toEqual({ events: [], error: undefined });
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'data: x\n\n'],
    ['bytes that are in no list', frames[0]],
    ['a function', () => frames],
    ['an object', {}],
  ])('from a source, and not from %s', (_, source) => {
    for (const decode of [decodeSse, decodeBinary, decodeJsonLines]) {
      expect(() => decode(source as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    }
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 31, '7', null])(
    'with a longest frame that is a number of bytes, and not %s',
    (maxFrameBytes) => {
      for (const decode of [decodeSse, decodeBinary, decodeJsonLines]) {
        expect(() => decode([], { maxFrameBytes: maxFrameBytes as number })).toThrow(
          expect.objectContaining({
            code: 'invalid_input',
            message: expect.stringMatching(/maxFrameBytes: expected an integer of 1/),
          }),
        );
      }
    },
  );

  test('with options, where there are some', () => {
    expect(() => decodeSse([], null as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  test('with a signal that is one', () => {
    expect(() => decodeSse([], { signal: {} as AbortSignal })).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  test.each([
    ['a text', 'data: x'],
    ['a number', 7],
    ['words', new Uint16Array(2)],
    ['nothing', undefined],
  ])('as bytes, and not as %s, which releases the source', async (_, piece) => {
    const source = new Source([frames[0] as Uint8Array]);
    const next = source.next.bind(source);
    source.next = async () => (source.asked === 0 ? next() : { done: false, value: piece as never });
    const read = await readAll(decodeSse(source));
    expect(read.events).toEqual([hexOf(started)]);
    expect(read.error).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(/a Uint8Array/) });
    expect(source.released).toHaveLength(1);
  });

  test('as results of an iterator', async () => {
    const source = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(7 as never) }) };
    expect((await readAll(decodeSse(source))).error).toMatchObject({ code: 'invalid_input' });
  });

  test('from a stream that nobody else reads', async () => {
    const stream = streamOf(new Source(frames, 'end'));
    const reader = stream.getReader();
    expect((await readAll(decodeSse(stream))).error).toBeInstanceOf(TypeError);
    reader.releaseLock();
    expect(await readAll(decodeSse(stream))).toEqual(whole);
  });
});

describe.each(kinds)('%s', (_, sourceOf) => {
  test('that ends is not released: it has done so itself', async () => {
    const source = new Source(frames, 'end');
    const opened = sourceOf(source);
    const reader = decodeSse(opened);
    expect(await readAll(reader)).toEqual(whole);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(await reader.return?.()).toEqual({ done: true, value: undefined });
    expect(source.released).toEqual([]);
    if (opened instanceof ReadableStream) expect(opened.locked).toBe(false);
  });

  test('that fails passes its error on once, and is not released', async () => {
    const broken = new Error('connection reset');
    const source = new Source([frames[0] as Uint8Array, broken]);
    const opened = sourceOf(source);
    const reader = decodeSse(opened);
    expect(await readAll(reader)).toEqual({ events: [hexOf(started)], error: broken });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(source.released).toEqual([]);
    if (opened instanceof ReadableStream) expect(opened.locked).toBe(false);
  });

  test('is asked for a piece only when somebody waits for what is in it', async () => {
    const source = new Source([bytes(...frames.slice(0, 3)), ...frames.slice(3)]);
    const reader = decodeSse(sourceOf(source));
    expect(source.asked).toBe(0);
    for (let i = 0; i < 3; i++) expect((await reader.next()).done).toBe(false);
    expect(source.asked).toBe(1);
    await reader.next();
    expect(source.asked).toBe(2);
  });

  test('is released once when the loop is left', async () => {
    for (const leave of ['break', 'throw'] as const) {
      const source = new Source(frames);
      const opened = sourceOf(source);
      const reader = decodeSse(opened);
      const loop = async () => {
        for await (const event of reader) {
          expect(event.type.case).toBe('init');
          if (leave === 'break') break;
          throw new RangeError('enough');
        }
      };
      if (leave === 'break') await loop();
      else await expect(loop()).rejects.toThrow('enough');
      expect(source.released).toEqual([undefined]);
      expect(await reader.next()).toEqual({ done: true, value: undefined });
      await reader.return?.();
      expect(source.released).toHaveLength(1);
      expect(source.asked).toBe(1);
      if (opened instanceof ReadableStream) expect(opened.locked).toBe(false);
    }
  });

  test('is released at a bad frame, with nothing behind it read', async () => {
    const source = new Source([...frames.slice(0, 2), bytes('data: !\n\n', ...frames), ...frames]);
    const reader = decodeSse(sourceOf(source));
    const read = await readAll(reader);
    expect(read.events).toHaveLength(2);
    expect(read.error).toMatchObject({ code: 'bad_frame', index: 2 });
    expect(source.released).toHaveLength(1);
    expect(source.asked).toBe(3);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(source.released).toHaveLength(1);
  });

  test('is released at a bad frame though its release never ends, or fails', async () => {
    for (const onRelease of [() => new Promise(() => {}), () => Promise.reject(new Error('no'))]) {
      const source = new Source([bytes('data: !\n\n')]);
      source.onRelease = onRelease;
      expect((await readAll(decodeSse(sourceOf(source)))).error).toMatchObject({ code: 'bad_frame' });
      expect(source.released).toHaveLength(1);
    }
  });

  test('whose release fails says so to a loop that was left', async () => {
    const source = new Source(frames);
    source.onRelease = () => Promise.reject(new Error('cannot close'));
    const reader = decodeSse(sourceOf(source));
    await reader.next();
    await expect(reader.return?.()).rejects.toThrow('cannot close');
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test('that is left before it was read is released', async () => {
    const source = new Source(frames);
    const reader = decodeSse(sourceOf(source));
    expect(await reader.return?.()).toEqual({ done: true, value: undefined });
    expect(source.released).toHaveLength(1);
    expect(source.asked).toBe(0);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test('that hangs can be left: who waits gets the end, and nothing waits for the source', async () => {
    const source = new Source([]);
    source.onRelease = () => new Promise(() => {});
    const reader = decodeSse(sourceOf(source));
    const waiting = [reader.next(), reader.next()];
    expect(await reader.return?.()).toEqual({ done: true, value: undefined });
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(source.released).toHaveLength(1);
  });

  test('is released by throw(), which gives the error back', async () => {
    const source = new Source(frames);
    const reader = decodeSse(sourceOf(source));
    await reader.next();
    await expect(reader.throw?.(new RangeError('mine'))).rejects.toThrow('mine');
    expect(source.released).toHaveLength(1);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test('gives its events to those who ask ahead, in order', async () => {
    const reader = decodeSse(sourceOf(new Source(frames, 'end')));
    const results = await Promise.all(Array.from({ length: 6 }, () => reader.next()));
    expect(results.map(({ value }) => value && hexOf(value))).toEqual([...whole.events, undefined, undefined]);
  });

  test('that fails fails the first who asked ahead, and ends the others', async () => {
    const reader = decodeSse(sourceOf(new Source([bytes('data: !\n\n')])));
    const results = await Promise.allSettled([reader.next(), reader.next()]);
    expect(results).toMatchObject([
      { status: 'rejected', reason: { code: 'bad_frame' } },
      { status: 'fulfilled', value: { done: true } },
    ]);
  });
});

describe.each(kinds)('an abort, reading %s', (_, sourceOf) => {
  const reason = new RangeError('enough');

  function reading(pieces: readonly Uint8Array[]) {
    const source = new Source(pieces);
    const abort = new AbortController();
    const reader = decodeSse(sourceOf(source), { signal: abort.signal });
    return { source, abort, reader };
  }

  async function expectEnd({ source, abort, reader }: ReturnType<typeof reading>) {
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(source.released).toHaveLength(1);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  }

  test('before it was called: nothing is read', async () => {
    const source = new Source(frames);
    const signal = AbortSignal.abort(reason);
    const reader = decodeSse(sourceOf(source), { signal });
    await expect(reader.next()).rejects.toBe(reason);
    expect(source.asked).toBe(0);
    expect(source.released).toHaveLength(1);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test('before the first event was asked for', async () => {
    const run = reading(frames);
    run.abort.abort(reason);
    await expect(run.reader.next()).rejects.toBe(reason);
    expect(run.source.asked).toBe(0);
    await expectEnd(run);
  });

  test('while the source is waited for, which never answers, not to the release either', async () => {
    const run = reading([]);
    run.source.onRelease = () => new Promise(() => {});
    const waiting = [run.reader.next(), run.reader.next()];
    run.abort.abort(reason);
    await expect(waiting[0]).rejects.toBe(reason);
    expect(await waiting[1]).toEqual({ done: true, value: undefined });
    await expectEnd(run);
  });

  test('in the middle of a frame', async () => {
    const run = reading(inPiecesOf(5, frames[0] as Uint8Array).slice(0, 3));
    const waiting = run.reader.next();
    run.abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expectEnd(run);
  });

  test('between two events: what was read ahead is not given any more', async () => {
    const run = reading([bytes(...frames)]);
    await run.reader.next();
    run.abort.abort(reason);
    expect(run.source.released).toHaveLength(1);
    await expect(run.reader.next()).rejects.toBe(reason);
    await expectEnd(run);
  });

  test('while the release is waited for', async () => {
    const run = reading(frames);
    run.source.onRelease = () => new Promise(() => {});
    await run.reader.next();
    const left = run.reader.return?.();
    run.abort.abort(reason);
    await expect(left).rejects.toBe(reason);
    await expectEnd(run);
  });

  test('after the loop was left, and after the end, changes nothing', async () => {
    const run = reading(frames);
    await run.reader.next();
    await run.reader.return?.();
    run.abort.abort(reason);
    await expectEnd(run);

    const abort = new AbortController();
    const source = new Source(frames, 'end');
    const reader = decodeSse(sourceOf(source), { signal: abort.signal });
    expect(await readAll(reader)).toEqual(whole);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    abort.abort(reason);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    expect(source.released).toEqual([]);
  });

  test('after a bad frame changes nothing', async () => {
    const run = reading([bytes('data: !\n\n')]);
    await expect(run.reader.next()).rejects.toMatchObject({ code: 'bad_frame' });
    run.abort.abort(reason);
    await expectEnd(run);
  });
});

test('a source that asks for events while it gives bytes is no harm', async () => {
  const asked: Promise<unknown>[] = [];
  const iterator = {
    next: () => {
      asked.push(reader.next());
      const value = frames[asked.length - 1];
      return Promise.resolve(value === undefined ? { done: true as const, value } : { done: false as const, value });
    },
  };
  const reader = decodeSse({
    [Symbol.asyncIterator]() {
      asked.push(reader.next());
      asked.length = 0;
      return iterator;
    },
  });
  expect(await readAll(reader)).toMatchObject({ error: undefined });
  await Promise.all(asked);
});

test('a stream is told why it is cancelled', async () => {
  const source = new Source([]);
  const abort = new AbortController();
  const waiting = decodeSse(streamOf(source), { signal: abort.signal }).next();
  abort.abort('because');
  await expect(waiting).rejects.toBe('because');
  expect(source.released).toEqual(['because']);
});

describe('memory', () => {
  test('stays bounded, whatever a source sends without end', async () => {
    const piece = new Uint8Array(1 << 16);
    const endless = (text: string) =>
      function* () {
        const start = bytes(text);
        for (let i = 0; i < 1024; i++) {
          piece.fill(0x41);
          if (i === 0) piece.set(start);
          yield piece;
        }
      };
    const before = process.memoryUsage().arrayBuffers;
    for (const text of [':', 'id: ', 'event: ', 'retry', '\n', 'data']) {
      expect(await readAll(decodeSse(endless(text)(), { maxFrameBytes: 1 << 10 }))).toEqual({
        events: [],
        error: undefined,
      });
    }
    for (const decode of [decodeSse, decodeJsonLines]) {
      const read = await readAll(decode(endless('data: ')(), { maxFrameBytes: 1 << 10 }));
      expect(read.error).toMatchObject({ code: 'bad_frame', found: 'a longer one' });
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
  });
});
