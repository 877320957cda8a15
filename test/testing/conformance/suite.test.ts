import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ConformanceCase,
  type ConformanceOptions,
  providerConformance,
} from '../../../src/testing/conformance/index.js';
import { quiet } from '../../../src/testing/quiet.js';
import { type BrokenDriver, brokenDrivers, empty, unhandled } from './broken-drivers.js';
import { gaps } from './gaps.js';
import { ScriptedFarSide } from './scripted-far-side.js';

const casesOf = ({ farSide }: Pick<ConformanceOptions, 'farSide'>): readonly ConformanceCase[] =>
  providerConformance({ farSide, gaps: gaps.scripted, patienceMs: 250 }).cases;

/** Names of the cases that fail, in the order of the suite. */
async function failuresOf(driver: Pick<BrokenDriver, 'farSide'>): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of casesOf(driver)) {
    // It would fail the runner too: it has a test of its own.
    if (name === 'nothing_is_left_unhandled') continue;
    await run().catch((error: { code: string; caseName: string }) => {
      expect(error).toMatchObject({ code: 'conformance', caseName: name });
      failed.push(name);
    });
  }
  return failed;
}

describe('a driver with one thing wrong fails in the cases for that, and in no other', () => {
  it('a good one in none', async () => {
    expect(await failuresOf({ farSide: (plan) => new ScriptedFarSide(plan) })).toEqual([]);
  });

  it.each(brokenDrivers.map((driver) => [driver.what, driver] as const))('it %s', async (_, driver) => {
    expect(await failuresOf(driver)).toEqual(driver.fails);
  });

  it('it leaves a rejection to nobody', async () => {
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    onTestFinished(() => {
      for (const listener of listeners) process.on('unhandledRejection', listener);
    });
    const watched = casesOf(unhandled).find(({ name }) => name === 'nothing_is_left_unhandled');
    await expect(watched?.run()).rejects.toMatchObject({ problem: expect.stringContaining('left behind') });
    expect(process.listeners('unhandledRejection')).toEqual([]);
    // what the case leaves behind when it lets go is nobody's either
    process.on('unhandledRejection', () => {});
    for (let turn = 0; turn < 3; turn++) await quiet();
    process.removeAllListeners('unhandledRejection');
  });

  it('it has not even the methods', async () => {
    const [first] = casesOf(empty);
    await expect(first?.run()).rejects.toMatchObject({ caseName: 'connect_gives_a_session' });
  });

  it('every case has a driver that fails it', () => {
    const tried = new Set([...brokenDrivers, unhandled, empty].flatMap(({ fails }) => fails));
    // The scripted driver itself shares its script between its sessions.
    for (const name of Object.keys(gaps.scripted)) tried.add(name);
    expect(casesOf(empty).flatMap(({ name }) => (tried.has(name) ? [] : [name]))).toEqual([]);
  });
});

describe('gaps', () => {
  const farSide: ConformanceOptions['farSide'] = (plan) => new ScriptedFarSide(plan);

  it('that are none any more fail the run', async () => {
    const { cases } = providerConformance({ farSide, gaps: { history_is_taken: 'not yet' } });
    const listed = cases.find(({ name }) => name === 'history_is_taken');
    expect(listed?.gap).toBe('not yet');
    await expect(listed?.run()).rejects.toMatchObject({ problem: expect.stringContaining('take it off the list') });
  });

  it('that are still there do not', async () => {
    const [lost] = brokenDrivers.filter(({ what }) => what === 'loses a piece of the text');
    const suite = providerConformance({
      farSide: lost?.farSide ?? farSide,
      gaps: { turn_is_told_and_ends_once: 'loses text' },
      patienceMs: 250,
    });
    const listed = suite.cases.find(({ name }) => name === 'turn_is_told_and_ends_once');
    expect(await listed?.run()).toBe('gap');
  });

  it('need a case and a reason', () => {
    expect(() => providerConformance({ farSide, gaps: { nonsense: 'x' } })).toThrow(/nonsense/);
    expect(() => providerConformance({ farSide, gaps: { history_is_taken: '' } })).toThrow(/reason/);
  });

  it('a far side that cannot be brought into a situation fails the case', async () => {
    const suite = providerConformance({ farSide: () => undefined });
    await expect(suite.cases[0]?.run()).rejects.toMatchObject({ problem: expect.stringContaining('ordinary') });
  });
});

it('hands its cases to any runner', async () => {
  const names: string[] = [];
  const bodies: (() => Promise<void>)[] = [];
  providerConformance({ farSide: (plan) => new ScriptedFarSide(plan) }).register('mine', {
    describe: (name, body) => {
      names.push(name);
      body();
    },
    it: (name, body) => {
      names.push(name.split(':')[0] ?? '');
      bodies.push(body);
    },
  });
  expect(names.slice(0, 2)).toEqual(['mine', 'connect_gives_a_session']);
  await bodies[0]?.();
});
