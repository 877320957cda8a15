import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isSettled, outcomeOf, quiet, watchProcess } from '../stage.js';
import { FarSide, stage, text, watch } from './stage.js';

let processWatch: ReturnType<typeof watchProcess>;
beforeEach(() => {
  processWatch = watchProcess();
});
afterEach(async () => {
  expect(await processWatch.stop()).toEqual([]);
});

describe('a transient session', () => {
  test('is begun again after its far side has closed, and goes on for whoever reads', async () => {
    const far = new FarSide();
    const { start, pass, supervisor } = stage();
    const session = await start(far, { restart: { type: 'transient' } });
    const { seen, words, ended } = watch(session);
    far.last.far.emit(text('one'));
    far.last.far.emit({ type: 'closed', reason: 'tired' });
    await quiet();
    expect(session.current).toBeUndefined();
    expect(await outcomeOf(session.send({ type: 'text', text: 'hello?' }))).toMatchObject({
      error: { code: 'session_restarting', reason: 'far_side' },
    });
    await pass(100);
    far.last.far.emit(text('two'));
    await quiet();
    expect(words).toEqual(['one', 'restarting', 'closed', 'restarted', 'two']);
    expect(new Set(seen.map(({ sessionId }) => sessionId)).size).toBe(2);
    expect(supervisor.stats).toMatchObject({ sessions: 1, restarts: 1, restarting: 0 });
    await session.close();
    await ended;
    expect(supervisor.list()).toEqual([]);
    expect(await session.closed).toMatchObject({ reason: 'host', incarnations: 2, failed: false });
    expect(await isSettled(session.closed)).toBe(true);
  });
});
