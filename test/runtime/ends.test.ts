/** How `events()` and `events$` end (duplex page, §3). */
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { readSome, subscribe, text, texts, word } from './reading.js';
import { quiet, readAll, stage } from './stage.js';

describe('ends', () => {
  type End = [
    reason: string,
    last: string[],
    end: (on: Awaited<ReturnType<typeof stage>>, abort: AbortController) => unknown,
  ];
  const farEnds: End[] = [
    ['far_side', ['closed'], ({ emit }) => emit({ type: 'closed', reason: 'bye' })],
    ['protocol_failure', ['error'], ({ emit }) => emit({ type: 'text' } as never)],
    ['stream_ended', ['error'], ({ far }) => far.end()],
    ['stream_failed', ['error'], ({ far }) => far.fail(new TypeError('cut'))],
  ];
  const localEnds: End[] = [
    ['host', [], ({ session }) => session.close()],
    ['aborted', [], (_, abort) => abort.abort(new TypeError('enough'))],
  ];

  it.each(farEnds)('%s: a slow reader still gets what waits, then %s, then the end', async (reason, last, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b'));
    end(on, abort);
    await quiet();
    expect(await on.session.closed).toMatchObject({ reason });
    await on.emit(text('too late'));
    expect(await readSome(on.session, 9)).toEqual(['a', 'b', ...last]);
    expect(on.driverCalls.filter(({ method }) => method === 'close')).toHaveLength(reason === 'far_side' ? 0 : 1);
  });

  it.each(farEnds)('%s: a slow first subscriber still gets what waits, then %s, then the end', async (_, last, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b'));
    end(on, abort);
    await quiet();
    expect(subscribe(on.session.events$).log).toEqual(['a', 'b', ...last, '|']);
    expect(subscribe(on.session.events$).log).toEqual(['|']);
  });

  it.each(localEnds)('%s: nothing more is delivered, not even what waits', async (reason, _, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b'));
    end(on, abort);
    expect(await readSome(on.session, 9)).toEqual([]);
    expect(subscribe(on.session.events$).log).toEqual(['|']);
    expect(await on.session.closed).toMatchObject({ reason });
  });

  it.each(localEnds)('%s within the loop: the loop ends there', async (_, __, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    await on.emit(...texts('a', 'b', 'c'));
    const seen: string[] = [];
    for await (const event of on.session.events()) {
      seen.push(word(event));
      if (seen.length === 2) end(on, abort);
    }
    expect(seen).toEqual(['a', 'b']);
  });

  it.each(localEnds)('%s within a subscriber: the others get the event at hand and no more', async (_, __, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    const before = subscribe(on.session.events$);
    on.session.events$.subscribe(() => {
      end(on, abort);
    });
    const after = subscribe(on.session.events$);
    await on.emit(...texts('a', 'b'));
    expect([before.log, after.log]).toEqual([
      ['a', '|'],
      ['a', '|'],
    ]);
  });

  it.each([...farEnds, ...localEnds])('%s: a loop that waits and every subscriber end', async (_, last, end) => {
    const abort = new AbortController();
    const on = await stage({ signal: abort.signal });
    const loop = readAll(on.session);
    const reader = subscribe(on.session.events$);
    await on.emit(text('a'));
    end(on, abort);
    await loop.ended;
    expect(loop.seen.map(word)).toEqual(['a', ...last]);
    expect(reader.log).toEqual(['a', ...last, '|']);
  });

  it('`closed` of the far side is the last, whatever else it sends, and keeps its reason', async () => {
    const { session, emit } = await stage();
    const loop = readAll(session);
    await emit(text('a'), { type: 'closed', reason: 'gone home' }, text('b'), { type: 'closed' });
    await loop.ended;
    expect(loop.seen.map(word)).toEqual(['a', 'closed']);
    expect(loop.seen.at(-1)).toMatchObject({ reason: 'gone home' });
  });

  it('a stream that ends or throws without `closed` is told as one error that says so', async () => {
    const ended = await stage();
    ended.far.end();
    const failed = await stage();
    failed.far.fail(new TypeError('socket lost'));
    await quiet();
    const [first, second] = await Promise.all(
      [ended, failed].map(({ session }) => lastValueFrom(session.events$.pipe(toArray()))),
    );
    expect(first).toMatchObject([{ type: 'error', message: expect.stringContaining('closed') }]);
    expect(second).toMatchObject([{ type: 'error', message: expect.stringContaining('socket lost') }]);
  });
});
