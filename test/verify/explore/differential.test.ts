/** Paths of the explorer, replayed through the real runtime: the same states, the same records, the same lines. */
import { describe, expect, test } from 'vitest';
import { printScenario } from '../../../src/scenario/print.js';
import { type SessionExploration, sessionBounds } from '../../../src/verify/explore/session/bounds.js';
import { retrace } from '../../../src/verify/explore/session/path.js';
import { samplePath } from '../../../src/verify/explore/session/sample.js';
import { scenarioOf } from '../../../src/verify/explore/session/scenario-of.js';
import { SessionSystem } from '../../../src/verify/explore/session/system.js';
import { differenceOf } from './alike.js';
import { randomOf } from './random.js';

const tools = [
  { name: 'look', effect: 'read', timeoutMs: 1 },
  { name: 'search', onInterruption: 'cancel', timeoutMs: 1, needsApproval: () => true },
  { name: 'order', onInterruption: 'deliver' },
] as const;

const regions: readonly (readonly [string, SessionExploration])[] = [
  ['three calls of three policies', { tools, calls: 3 }],
  ['one place for all', { tools, calls: 3, options: { maxConcurrentTools: 1 } }],
  ['intents made durable', { tools, calls: 3, durable: true, options: { maxConcurrentTools: 2 } }],
  ['more calls than may be open', { tools, calls: 4, options: { maxOpenCalls: 1 } }],
  [
    'a host that stops reading',
    {
      tools,
      calls: 3,
      far: ['text', 'audio', 'tool_call', 'interrupted', 'turn_complete', 'withdraw', 'error', 'closed'],
      options: { maxBufferedEvents: 3 },
    },
  ],
  [
    'a host that stops reading audio that goes when it is interrupted',
    {
      tools,
      calls: 2,
      far: ['audio', 'text', 'tool_call', 'interrupted', 'withdraw'],
      options: { maxBufferedEvents: 3, dropUnreadAudio: true },
    },
  ],
];

/** By hand: `COMMITPOINT_RUNS=10000`. */
const runs = Math.ceil(Number(process.env.COMMITPOINT_RUNS ?? 300) / regions.length);
const seed = Number(process.env.COMMITPOINT_SEED ?? 1);

describe('what the explorer walks through is what the runtime does', () => {
  const seen = new Map<string, number>();

  test.each(regions)('%s', { timeout: 30_000 + runs * 100 }, async (_title, region) => {
    const system = new SessionSystem(sessionBounds(region));
    const random = randomOf(seed);
    for (let run = 0; run < runs; run++) {
      const path = retrace(system, samplePath(system, random, 24));
      for (const { happening } of path.steps) seen.set(happening.of, (seen.get(happening.of) ?? 0) + 1);
      const difference = await differenceOf(path);
      if (difference === undefined) continue;
      expect.fail(`run ${run}, seed ${seed}: ${difference}\n${printScenario(scenarioOf(path, 'differs').scenario)}`);
    }
  });

  test('led through everything that can happen', () => {
    for (const of of [
      'connect',
      'close',
      'flush',
      'far',
      'stream',
      'tool_call',
      'repeat',
      'withdraw',
      'code',
      'publish',
      'timeout',
      'approve',
      'deny',
      'host',
    ]) {
      expect(seen.get(of) ?? 0, of).toBeGreaterThan(0);
    }
  });
});
