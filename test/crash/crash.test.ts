/**
 * Processes that are killed, at any instant and at every commit point: what
 * `recover` says of their calls is true to what they did to the world.
 */
import { copyFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecoveredCall } from '../../src/runtime/index.js';
import { examine, type Found } from './examine.js';
import { intents, places } from './points.js';
import { openWorkshop, runAndKill, type Workshop } from './program.js';
import { Random } from './random.js';

const crashes = Number(process.env.COMMITPOINT_CRASHES ?? 20);
const seed = Number(process.env.COMMITPOINT_SEED ?? Date.now() % 1_000_000);
/** How long a process lives, at most. */
const longestMs = 600;

let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.remove());

/** What crashes have found, over all of them. */
class Tally {
  crashes = 0;
  records = 0;
  cutOff = 0;
  told = 0;
  ran = 0;
  readonly outcomes = new Map<string, number>();
  readonly states = new Map<string, number>();
  readonly notices = new Map<string, number>();

  add({ calls, records, cutOff, told, ran }: Found): void {
    this.told += told;
    this.ran += ran;
    this.crashes++;
    this.records += records;
    if (cutOff > 0) this.cutOff++;
    for (const call of calls) this.#count(call);
  }

  get lines(): string {
    const words = (counts: ReadonlyMap<string, number>) =>
      [...counts]
        .sort(([, a], [, b]) => b - a)
        .map(([word, count]) => `${word} ${count}`)
        .join(', ');
    return [
      `${this.crashes} crashes, ${this.cutOff} of them with a power cut; ${this.records} records (seed ${seed})`,
      `  outcomes: ${words(this.outcomes)}`,
      `  states:   ${words(this.states)}`,
      `  commits told of ${this.told}, effects of the host that ran ${this.ran}`,
      `  notices:  ${words(this.notices)}`,
    ].join('\n');
  }

  #count({ outcome, state, notice }: RecoveredCall): void {
    for (const [counts, word] of [
      [this.outcomes, outcome],
      [this.states, state],
      [this.notices, notice],
    ] as const) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
}

test(`${crashes} processes, killed at random instants`, { timeout: 20_000 + crashes * 5_000 }, async () => {
  const random = new Random(seed);
  const tally = new Tally();
  for (let crash = 0; crash < crashes; crash++) {
    const afterMs = random.below(longestMs);
    const cut = random.chance(0.5) ? random.next() : 0;
    const of = seed + crash;
    const found = await examine(await runAndKill(workshop, { name: `random-${crash}`, seed: of, afterMs }), cut);
    expect(found.wrong, `crash ${crash}: COMMITPOINT_SEED=${seed}, after ${afterMs} ms, cut ${cut}`).toEqual([]);
    tally.add(found);
  }
  console.log(tally.lines);
  // crashes that find the same little every time show nothing
  for (const outcome of ['not_started', 'outcome_unknown', 'publish_unknown', 'delivered', 'refused', 'abandoned']) {
    expect(tally.outcomes.get(outcome) ?? 0, `calls that are ${outcome}`).toBeGreaterThan(0);
  }
  for (const state of ['awaiting_approval', 'executing', 'publishing', 'abandoned.draining']) {
    expect(tally.states.get(state) ?? 0, `calls in ${state}`).toBeGreaterThan(0);
  }
  expect(tally.ran, 'effects of commits').toBeGreaterThan(crashes);
  expect(tally.notices.get('given') ?? 0, 'notices').toBeGreaterThan(crashes / 4);
});

describe('a process that is killed at a commit point', () => {
  const nths = [3, 11, 40].slice(0, crashes > 100 ? 3 : 1);
  const points = nths.flatMap((nth) => intents.flatMap((intent) => places.map((place) => ({ intent, place, nth }))));

  test.each(points)('$intent, $place ($nth)', async (stopAt) => {
    const { intent, place, nth } = stopAt;
    const remains = await runAndKill(workshop, { name: `${intent} ${place} ${nth}`, seed: seed + nth, stopAt });
    expect(remains.said, 'it came to the point').toEqual(['ready', 'here']);
    // the power may have gone as well
    const cut = { ...remains, journal: `${remains.journal}-cut` };
    await copyFile(remains.journal, cut.journal);
    expect((await examine(remains)).wrong, `COMMITPOINT_SEED=${seed}`).toEqual([]);
    expect((await examine(cut, 1)).wrong, `COMMITPOINT_SEED=${seed}, power cut`).toEqual([]);
  });
});
