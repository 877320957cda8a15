/** Subscribers that fail: noted on `lifecycle$`, felt by nobody else (duplex page, §3). */
import {
  concatMap,
  finalize,
  firstValueFrom,
  lastValueFrom,
  map,
  mergeMap,
  type OperatorFunction,
  Subject,
  Subscriber,
  share,
  shareReplay,
  switchMap,
  take,
  tap,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { BidiTurnEvent } from '../../src/contract/turn-event.js';
import type { Session } from '../../src/runtime/index.js';
import { expectNoHarm } from './no-harm.js';
import { echo, subscribe, text, word } from './reading.js';
import { outcomeOf, readAll, stage, toolCall } from './stage.js';

describe('subscribers that fail reach nobody', () => {
  expectNoHarm();

  const bad = () => {
    throw new RangeError('bad subscriber');
  };
  const badLater = async () => {
    throw new RangeError('bad subscriber');
  };
  const operators: [string, OperatorFunction<BidiTurnEvent, unknown>][] = [
    ['map', map(bad)],
    ['tap', tap(bad)],
    ['concatMap that rejects', concatMap(badLater)],
    ['mergeMap that rejects', mergeMap(badLater)],
    ['switchMap that throws', switchMap(bad)],
    ['finalize that throws', finalize(bad)],
    ['take and finalize that throws', (source) => source.pipe(take(1), finalize(bad))],
    ['share and map', (source) => source.pipe(share(), map(bad))],
    ['shareReplay and map', (source) => source.pipe(shareReplay(1), map(bad))],
  ];

  /** Runs a session with a bad subscriber between two good ones and a loop beside them. */
  async function among(attach: (session: Session) => void) {
    const on = await stage({ tools: [echo] });
    const loop = readAll(on.session);
    const before = subscribe(on.session.events$);
    attach(on.session);
    const after = subscribe(on.session.events$);
    await on.emit(text('a'), text('b'), toolCall('c', 'echo'), { type: 'closed' });
    await loop.ended;
    const all = ['a', 'b', 'tool_started', 'tool_completed', 'closed'];
    expect(loop.seen.map(word)).toEqual(all);
    expect(before.log).toEqual([...all, '|']);
    expect(after.log).toEqual([...all, '|']);
    expect(await on.session.closed).toMatchObject({ reason: 'far_side' });
    return on.lifecycle.flatMap((event) => (event.type === 'diagnostic' ? [event] : []));
  }

  it.each<[string, (session: Session) => void]>([
    ['a function', ({ events$ }) => events$.subscribe(bad)],
    ['an asynchronous function', ({ events$ }) => events$.subscribe(badLater as () => void)],
    ['an observer', ({ events$ }) => events$.subscribe({ next: bad })],
    [
      'a subscriber of the host’s own make',
      ({ events$ }) =>
        events$.subscribe(
          new (class extends Subscriber<BidiTurnEvent> {
            override next(): void {
              bad();
            }
          })(),
        ),
    ],
    ['an observer, complete', ({ events$ }) => events$.subscribe({ complete: bad })],
    ['three functions', ({ events$ }) => events$.subscribe(bad, bad, bad)],
    [
      'an observer whose fields throw',
      ({ events$ }) => events$.subscribe(Object.defineProperty({}, 'next', { get: bad })),
    ],
  ])('%s: noted on lifecycle$', async (_, attach) => {
    const diagnostics = await among(attach);
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const diagnostic of diagnostics) {
      expect(diagnostic).toEqual({ type: 'diagnostic', code: 'host_callback_threw', detail: 'bad subscriber' });
    }
  });

  it('an asynchronous `complete` that fails after the end', async () => {
    await among(({ events$ }) => events$.subscribe({ complete: badLater as () => void }));
  });

  it.each(operators)('behind %s', async (_, operator) => {
    await among(({ events$ }) => events$.pipe(operator).subscribe());
    await among(({ events$ }) => events$.pipe(operator).subscribe(() => {}));
    await among(({ events$ }) => events$.pipe(operator).subscribe({ next: bad, error: bad, complete: bad }));
  });

  it('an error of an operator goes to the subscriber that wants it', async () => {
    const errors: unknown[] = [];
    await among(({ events$ }) => events$.pipe(map(bad)).subscribe({ error: (error) => errors.push(error) }));
    expect(errors).toEqual([expect.any(RangeError)]);
  });

  it('a promise that the host asked for rejects to the host alone', async () => {
    const outcomes: Promise<unknown>[] = [];
    await among(({ events$ }) => {
      outcomes.push(
        outcomeOf(firstValueFrom(events$.pipe(map(bad)))),
        outcomeOf(lastValueFrom(events$.pipe(tap(bad)))),
        outcomeOf(events$.forEach(bad)),
      );
    });
    expect(await Promise.all(outcomes)).toEqual(Array(3).fill({ error: expect.any(RangeError) }));
  });

  it('a subject of the host’s own may be the subscriber', async () => {
    const seen: string[] = [];
    const subject = new Subject<BidiTurnEvent>();
    subject.subscribe((event) => seen.push(word(event)));
    await among(({ events$ }) => events$.subscribe(subject));
    expect(seen).toEqual(['a', 'b', 'tool_started', 'tool_completed', 'closed']);
  });

  it('on lifecycle$ a subscriber that always fails is noted once, and there is an end to it', async () => {
    const on = await stage({ tools: [echo] });
    let calls = 0;
    on.session.lifecycle$.subscribe(() => {
      calls++;
      throw new RangeError('bad lifecycle subscriber');
    });
    on.session.lifecycle$.subscribe(async () => {
      calls++;
      throw new RangeError('bad lifecycle subscriber, later');
    });
    on.session.lifecycle$.pipe(map(bad)).subscribe();
    on.session.lifecycle$.pipe(finalize(bad)).subscribe();
    await on.emit(toolCall('c', 'echo'), text('a'), { type: 'closed' });
    const details = on.lifecycle.flatMap((event) => (event.type === 'diagnostic' ? [event.detail] : []));
    expect(details.sort()).toEqual(['bad lifecycle subscriber', 'bad lifecycle subscriber, later', 'bad subscriber']);
    expect(calls).toBeLessThan(40);
    expect(await on.session.closed).toMatchObject({ reason: 'far_side' });
  });
});
