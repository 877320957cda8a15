import { expect, test } from 'vitest';
import type { SupervisorStats } from '../../../src/runtime/index.js';
import { outcomeOf, quiet } from '../stage.js';
import { FarSide, stage } from './stage.js';

test('the counts come once for each turn in which something changed, however much (T1)', async () => {
  const far = new FarSide();
  const { start, supervisor, pass, clock } = stage({ maxSessions: 1000 });
  const values: SupervisorStats[] = [];
  const subscription = supervisor.stats$.subscribe((value) => values.push(value));
  expect(values).toHaveLength(1);
  const sessions = await Promise.all(Array.from({ length: 1000 }, () => start(far)));
  expect(await outcomeOf(start(far))).toMatchObject({ error: { code: 'supervisor_limit' } });
  await pass(0);
  expect(values).toHaveLength(2);
  expect(values[1]).toMatchObject({ sessions: 1000, started: 1000, refused: 1 });
  await Promise.all(sessions.slice(1).map((session) => session.close()));
  await pass(0);
  expect(values).toHaveLength(3);
  expect(values[2]).toMatchObject({ sessions: 1, ended: 999 });
  subscription.unsubscribe();
  await sessions[0]?.close();
  // nothing is scheduled while nobody looks
  expect(clock.pending).toBe(0);
  expect(supervisor.stats).toMatchObject({ sessions: 0, ended: 1000 });
});

test('the last ones are those of the stopped supervisor, and then they are complete', async () => {
  const far = new FarSide();
  const { start, supervisor } = stage();
  await start(far);
  const said: unknown[] = [];
  supervisor.stats$.subscribe({ next: ({ sessions }) => said.push(sessions), complete: () => said.push('complete') });
  await supervisor.shutdown();
  expect(said).toEqual([1, 0, 'complete']);
  supervisor.stats$.subscribe({ next: ({ sessions }) => said.push(sessions), complete: () => said.push('complete') });
  await quiet();
  expect(said.slice(3)).toEqual([0, 'complete']);
});

/** A registry that counts what is done to it: to start and to stop costs the same, however many there are. */
test('to start and to end a child is a bounded number of operations on the registry, however many live (P7)', async () => {
  const { prototype } = Map;
  const work = { count: 0 };
  const originals = ['get', 'set', 'has', 'delete', 'values', 'entries', 'keys', 'forEach'] as const;
  const kept = new Map(originals.map((name) => [name, prototype[name]]));
  const counted = async (live: number): Promise<readonly [start: number, stop: number]> => {
    const far = new FarSide();
    const { start, supervisor } = stage();
    const sessions = await Promise.all(Array.from({ length: live }, () => start(far)));
    expect(supervisor.stats.sessions).toBe(live);
    for (const name of originals) {
      const original = kept.get(name) as (...args: unknown[]) => unknown;
      Object.assign(prototype, {
        [name](this: unknown, ...args: unknown[]) {
          // walking a map costs what it holds
          work.count +=
            name === 'values' || name === 'entries' || name === 'keys' || name === 'forEach'
              ? (this as Map<unknown, unknown>).size
              : 1;
          return original.apply(this, args);
        },
      });
    }
    try {
      work.count = 0;
      const session = await start(far);
      const started = work.count;
      work.count = 0;
      await session.close();
      return [started, work.count];
    } finally {
      for (const [name, original] of kept) Object.assign(prototype, { [name]: original });
      await Promise.all(sessions.map((session) => session.close()));
    }
  };
  // what is memoised is there already
  await counted(1);
  const few = await counted(10);
  const many = await counted(2000);
  expect(many).toEqual(few);
});

test('ten thousand idle sessions are shut down, each closed once', async () => {
  const far = new FarSide();
  const { start, supervisor, clock } = stage();
  await Promise.all(Array.from({ length: 10_000 }, () => start(far)));
  const { children } = await supervisor.shutdown();
  expect(children).toHaveLength(10_000);
  expect(far.log.filter((line) => line.endsWith('close'))).toHaveLength(10_000);
  expect(children.filter(({ cut }) => cut)).toEqual([]);
  expect(clock.pending).toBe(0);
});
