/** The walk itself: what it leads through, what it takes for one state, and where it stops. */
import { describe, expect, test } from 'vitest';
import { sessionMachine, toolInvocationMachine } from '../../../machines/index.js';
import { defineTool } from '../../../src/runtime/index.js';
import { explore, type Progress } from '../../../src/verify/explore/index.js';
import { type SessionExploration, sessionBounds } from '../../../src/verify/explore/session/bounds.js';
import type { Happening } from '../../../src/verify/explore/session/happening.js';
import { isPossible } from '../../../src/verify/explore/session/possible.js';
import { samplePath } from '../../../src/verify/explore/session/sample.js';
import { SessionSystem } from '../../../src/verify/explore/session/system.js';
import type { World } from '../../../src/verify/explore/session/world.js';
import { StateSet } from '../../../src/verify/explore/state-set.js';
import { walk } from '../../../src/verify/explore/walk.js';
import { randomOf } from './random.js';

const endless = { maxDepth: Number.POSITIVE_INFINITY, maxStates: 100_000, maxViolations: 1 };

/** The events that a table names, by state, those of outer states counted to the inner ones. */
function edgesOf(table: { states?: object; on?: object }, path = '', outer: readonly string[] = []): string[] {
  const events = [...outer, ...Object.keys(table.on ?? {})];
  const states = Object.entries(table.states ?? {});
  if (states.length === 0) return events.map((event) => `${path} ${event}`);
  return states.flatMap(([name, state]) => edgesOf(state, path === '' ? name : `${path}.${name}`, events));
}

describe('what is led through', () => {
  const taken = new Set<string>();
  const lead = (given: SessionExploration) => {
    const system = new SessionSystem(sessionBounds(given));
    system.onTaken = ({ moves }) => {
      for (const { call, event, from } of moves)
        taken.add(`${call === undefined ? 'session' : 'call'} ${from} ${event}`);
    };
    expect(walk(system, endless).complete).toBe(true);
  };

  test('every transition of the tables, and no state is left out', () => {
    const far = [
      'audio',
      'unknown',
      'usage',
      'text',
      'tool_call',
      'bad_input',
      'interrupted',
      'turn_complete',
      'withdraw',
      'error',
      'closed',
      'malformed',
      'repeat',
      'stream_end',
      'stream_fail',
    ] as const;
    for (const onInterruption of ['abandon', 'cancel'] as const) {
      const tools = [{ name: 'look', onInterruption, timeoutMs: 1, needsApproval: () => true }];
      lead({ tools, calls: 1, far, slowValidation: true });
      lead({ tools, calls: 1, durable: true, journalFails: true });
    }
    lead({ tools: [{ name: 'look' }], calls: 2, options: { maxConcurrentTools: 1 } });
    lead({ tools: [{ name: 'look' }], calls: 2, poolPlaces: 1, far: ['tool_call', 'interrupted', 'turn_complete'] });
    lead({ calls: 0, far, options: { maxBufferedEvents: 1 } });
    const edges = [
      ...edgesOf(sessionMachine.config as object).map((edge) => `session ${edge}`),
      ...edgesOf(toolInvocationMachine.config as object).map((edge) => `call ${edge}`),
    ];
    // notes that go wrong are told of as what nobody knows is: one word of the walk stands for both
    const missed = edges.filter((edge) => !taken.has(edge) && !edge.endsWith(' ill_formed_note') && !isNote(edge));
    expect(missed).toEqual([]);
  });
});

/** One of the three kinds of notes stands for all. */
function isNote(edge: string): boolean {
  return edge.endsWith(' input_text') || edge.endsWith(' expiring');
}

describe('what is taken for one', () => {
  /** The same world with its released calls the other way round. */
  function turned(world: World): { readonly world: World; readonly to: (call: number) => number } {
    const released = world.calls.flatMap(({ released }, place) => (released ? [place] : []));
    const places = world.calls.map((_, place) => place);
    for (const [index, place] of released.entries()) places[place] = released.at(-1 - index) as number;
    const to = (call: number) => (call < places.length ? places.indexOf(call) : call);
    const { session, calls } = world;
    const flushes = session.flushes.map(to);
    const unconfirmed = session.unconfirmed.map(to);
    return {
      world: {
        session: { ...session, flushes, unconfirmed },
        calls: places.map((place) => ({ ...(calls[place] as World['calls'][number]) })),
      },
      to,
    };
  }

  const copyOf = ({ session, calls }: World): World => ({
    session: { ...session },
    calls: calls.map((call) => ({ ...call })),
  });

  function renamed(happening: Happening, to: (call: number) => number): Happening {
    if ('call' in happening) return { ...happening, call: to(happening.call) } as Happening;
    return happening.of === 'withdraw' ? { ...happening, calls: happening.calls.map(to) } : happening;
  }

  test.each([{ calls: 3 }, { calls: 3, durable: true }, { calls: 4, options: { maxOpenCalls: 2 } }])(
    'released calls may change places: what follows is the same (%j)',
    (given) => {
      const system = new SessionSystem(sessionBounds(given));
      const rowOf = (world: World) => {
        const row = new Int32Array(system.width);
        system.write(world, row);
        return row.join();
      };
      const random = randomOf(3);
      let compared = 0;
      for (let run = 0; run < 40; run++) {
        const { world } = system.first();
        for (const code of samplePath(system, random, 30)) {
          const happening = system.happenings[code] as Happening;
          if (!isPossible(world, happening, system.bounds)) break;
          system.step(world, happening);
          system.order(world);
          if (world.calls.filter(({ released }) => released).length < 2) continue;
          for (const next of system.happenings) {
            if (!isPossible(world, next, system.bounds)) continue;
            const there = copyOf(world);
            const { world: here, to } = turned(world);
            const findings = system.step(there, next);
            expect(system.step(here, renamed(next, to))).toHaveLength(findings.length);
            expect(rowOf(here)).toBe(rowOf(there));
            compared++;
          }
        }
      }
      expect(compared).toBeGreaterThan(100);
    },
  );

  test('a row is in a set once, found again after it has grown, and led to by its first path', () => {
    const set = new StateSet(2);
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 10_000; i++) expect(set.add([i % 100, Math.floor(i / 100)], i - 1, i, 20_000)).toBe(true);
      expect(set.size).toBe(10_000);
    }
    expect(set.add([-1, 5], 0, 1, 10_000)).toBe(false);
    expect(set.pathTo(4)).toEqual([1, 2, 3, 4]);
    const row = new Int32Array(2);
    set.read(1234, row);
    expect([...row]).toEqual([34, 12]);
  });
});

test('tools of a host are explored as they are', () => {
  const pay = defineTool({
    name: 'pay',
    description: 'pays a bill',
    input: { type: 'object', properties: { cents: { type: 'integer' } } },
    onInterruption: 'deliver',
    timeoutMs: 1000,
    needsApproval: ({ cents }) => Number(cents) > 100,
    execute: () => 'paid',
  });
  const { complete, violations, states } = explore({ tools: [pay], calls: 1 });
  expect({ complete, violations }).toEqual({ complete: true, violations: [] });
  // with an approval and without one
  expect(states).toBeGreaterThan(explore({ tools: [{ ...pay, needsApproval: false }], calls: 1 }).states);
});

describe('where it stops', () => {
  test('a bound of depth or of states is said to have cut something off', () => {
    expect(explore({ calls: 1, depth: 3 })).toMatchObject({ complete: false, depth: 3 });
    expect(explore({ calls: 1, states: 50 })).toMatchObject({ complete: false, states: 50 });
    expect(explore({ calls: 0 }).complete).toBe(true);
  });

  test('a depth is how many things happen one after another', () => {
    const system = new SessionSystem(sessionBounds({ calls: 1 }));
    const { world } = system.first();
    const possible = system.happenings.filter((happening) => isPossible(world, happening, system.bounds));
    expect(explore({ calls: 1, depth: 1 }).transitions).toBe(possible.length);
    const one = explore({ calls: 1, depth: 1 });
    expect(explore({ calls: 1, depth: 2 }).transitions).toBeGreaterThan(one.transitions);
  });

  test('progress is told, and only grows', () => {
    const told: Progress[] = [];
    explore({ calls: 2, states: 10_000, onProgress: (progress) => told.push(progress) });
    expect(told.length).toBeGreaterThan(2);
    for (const [index, { states, transitions }] of told.entries()) {
      expect(states).toBeGreaterThanOrEqual(told[index - 1]?.states ?? 0);
      expect(transitions).toBeGreaterThanOrEqual(told[index - 1]?.transitions ?? 0);
    }
  });

  test.each([
    [{ calls: 7 }],
    [{ calls: 1.5 }],
    [{ tools: [] }],
    [{ tools: [{ name: 'a' }, { name: 'a' }] }],
    [{ depth: 0 }],
    [{ states: -1 }],
    [{ far: ['nothing'] }],
    [{ stream: { mode: 'nothing' } }],
    [{ stream: { inputs: ['nothing'] } }],
    [{ stream: { levels: 0 } }],
  ])('%j cannot be explored, and that is said', (options) => {
    expect(() => explore(options as never)).toThrow(expect.objectContaining({ name: 'InvalidInputError' }));
  });
});
