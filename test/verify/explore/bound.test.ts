/**
 * What CI explores: no interleaving breaks an invariant. By hand it can be more:
 * `COMMITPOINT_STATES=1000000`, for each region.
 */
import { describe, expect, test } from 'vitest';
import { conversationModes, policyValues } from '../../../src/conversation/index.js';
import { type Exploration, explore } from '../../../src/verify/explore/index.js';

const states = Number(process.env.COMMITPOINT_STATES ?? 15_000);
const patience = { timeout: 60_000 + states * 5 };

const tools = [
  { name: 'look', effect: 'read', timeoutMs: 1 },
  { name: 'search', onInterruption: 'cancel', needsApproval: () => true },
  { name: 'order', onInterruption: 'deliver', timeoutMs: 1 },
] as const;

const regions: readonly (readonly [string, Exploration])[] = [
  ['two calls', { tools, calls: 2 }],
  ['three calls', { tools, calls: 3 }],
  ['two calls and one place', { tools, calls: 2, options: { maxConcurrentTools: 1 } }],
  [
    'three calls of one tool and two places',
    { tools: [{ name: 'look' }], calls: 3, options: { maxConcurrentTools: 2 } },
  ],
  ['two calls, and one may be open', { tools, calls: 2, options: { maxOpenCalls: 1 } }],
  ['two calls, their intents made durable', { tools, calls: 2, durable: true }],
  [
    'two calls, their intents made durable one at a time',
    { tools, calls: 2, durable: true, options: { maxConcurrentTools: 1 } },
  ],
  ['two calls of a session that shares a pool of places', { tools, calls: 2, poolPlaces: 2 }],
  [
    'three calls of one tool, two places of its own and a pool',
    { tools: [{ name: 'look' }], calls: 3, poolPlaces: 2, options: { maxConcurrentTools: 2 } },
  ],
  ['two calls whose validation takes its time', { tools, calls: 2, slowValidation: true }],
  ['two calls, and a host that stops reading', { tools, calls: 2, options: { maxBufferedEvents: 3 } }],
  [
    'a call, audio, and a host that stops reading',
    {
      tools,
      calls: 1,
      far: ['audio', 'text', 'tool_call', 'interrupted', 'withdraw'],
      options: { maxBufferedEvents: 4, dropUnreadAudio: true },
    },
  ],
];

describe('sessions and calls', () => {
  test.each(regions)('%s', patience, (_title, region) => {
    const { violations, transitions } = explore({ ...region, states });
    expect(violations.map(({ file }) => file)).toEqual([]);
    expect(transitions).toBeGreaterThan(states);
  });

  test.each([
    ['a call', { tools, calls: 1 }],
    [
      'a call, its intents made durable, its validation in its time',
      { tools, calls: 1, durable: true, slowValidation: true },
    ],
    ['a session', { calls: 0 }],
  ] as const)('all there is of %s', patience, (_title, region) => {
    expect(explore(region)).toMatchObject({ complete: true, violations: [] });
  });
});

describe('response streams and transactions', () => {
  const policies = conversationModes.flatMap((mode) =>
    policyValues.nested.map((nested) => ({ mode, policies: { nested } })),
  );
  const others = [
    { onDoomedCommit: 'commit' },
    { onFailure: 'commit' },
    { onCancel: 'rollback' },
    { nested: 'savepoint', onDoomedCommit: 'commit' },
  ] as const;

  test.each([...policies, ...others.map((single) => ({ mode: 'tolerant' as const, policies: single }))])(
    'all there is of $mode $policies',
    patience,
    (stream) => {
      expect(explore({ stream: { ...stream, levels: 2 } })).toMatchObject({ complete: true, violations: [] });
    },
  );
});
