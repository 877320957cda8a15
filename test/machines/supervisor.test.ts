/**
 * The supervisor: every state against every event of its alphabet, as in `grid.test.ts` (`npm test -- -u` writes the table anew),
 * what its head promises (V1 … V5), and when an end is followed by a restart.
 */
import { describe, expect, test } from 'vitest';
import {
  type EndReason,
  RestartWindow,
  restartsAfter,
  type SupervisorEventType,
  type SupervisorSnapshot,
  sessionMachine,
  supervisorEvents,
  supervisorMachine,
  supervisorStepper,
} from '../../machines/index.js';
import { jsonOf } from '../../src/inspect/diagram.js';
import { walk } from './reachable.js';

const initial = supervisorStepper.initial(undefined as never).snapshot;
const nameOf = ({ value }: SupervisorSnapshot) => value as string;
const reachable = walk(initial, nameOf, (from) =>
  supervisorEvents.map((type) => supervisorStepper.step(from, type).snapshot),
);
const effectsOf = (from: SupervisorSnapshot, type: SupervisorEventType) =>
  supervisorStepper.step(from, type).effects.map((effect) => effect.type);

test('the alphabet has no event twice, none that no state names, and every one that a state names', () => {
  expect(new Set(supervisorEvents).size).toBe(supervisorEvents.length);
  const { states } = jsonOf(supervisorMachine);
  const named = new Set(states.flatMap(({ transitions }) => transitions.map(({ event }) => event)));
  expect([...named].sort()).toEqual([...supervisorEvents].sort());
});

test('the grid', async () => {
  expect(reachable.map(nameOf)).toEqual(jsonOf(supervisorMachine).states.map(({ name }) => name));
  const rows = supervisorEvents.map((event) => [
    event,
    ...reachable.map((from) => {
      const { snapshot: to, effects } = supervisorStepper.step(from, event);
      if (to === from && effects.length === 0) return '-';
      const where = to === from ? 'stays' : nameOf(to);
      return effects.length === 0 ? where : `${where}: ${effects.map(({ type }) => type).join(', ')}`;
    }),
  ]);
  const table = [['', ...reachable.map(nameOf)], ['---', ...reachable.map(() => '---')], ...rows];
  const grid = `${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
  await expect(grid).toMatchFileSnapshot('./supervisor.grid.txt');
});

describe('the supervisor', () => {
  test('starts things only while it runs (V1)', () => {
    for (const from of reachable) {
      const started = supervisorEvents.filter((type) =>
        effectsOf(from, type).some((effect) => effect.startsWith('open') || effect === 'armRestart'),
      );
      expect(started.length > 0).toBe(nameOf(from) === 'running');
    }
  });

  test('asks at every end of a child for a restart or for its release, and never for both (V3, V4)', () => {
    const ends = ['incarnation_ended', 'session_ended', 'session_failed', 'conversation_ended'] as const;
    for (const from of reachable.filter((snapshot) => nameOf(snapshot) !== 'stopped')) {
      for (const end of ends) {
        const effects = effectsOf(from, end);
        expect(effects.filter((effect) => effect === 'armRestart' || effect === 'releaseChild')).toHaveLength(1);
        if (end === 'session_failed') expect(effects).toEqual(['reportFailure', 'releaseChild']);
      }
    }
  });

  test('drains once and stops once (V2), and may be given another deadline meanwhile (V5)', () => {
    const draining = supervisorStepper.step(initial, 'shutdown').snapshot;
    expect(nameOf(draining)).toBe('draining');
    expect(supervisorStepper.step(draining, 'shutdown').snapshot).toBe(draining);
    expect(effectsOf(draining, 'shutdown')).toEqual(['armDeadline']);
    const stopped = supervisorStepper.step(draining, 'emptied').snapshot;
    expect(stopped.status).toBe('done');
    for (const type of supervisorEvents) expect(supervisorStepper.step(stopped, type).snapshot).toBe(stopped);
  });
});

describe('a restart', () => {
  const reasons = ['host', 'aborted', 'far_side', 'protocol_failure', 'stream_ended', 'stream_failed'] as const;
  const every: readonly EndReason[] = [...reasons, 'connect_failed', 'overflow', 'journal_failed'];

  test('is asked about for every reason that the session has', () => {
    const said = JSON.stringify(jsonOf(sessionMachine));
    // two of them are set by actions that say more than the reason
    for (const reason of every.filter((name) => !['far_side', 'connect_failed'].includes(name))) {
      expect(said).toContain(`"reason":"${reason}"`);
    }
  });

  test('follows by type and reason', () => {
    const restarting = (type: Parameters<typeof restartsAfter>[0]) =>
      every.filter((reason) => restartsAfter(type, reason));
    expect(restarting('temporary')).toEqual([]);
    expect(restarting('permanent')).toEqual(every);
    expect(restarting('transient')).toEqual([
      'far_side',
      'stream_ended',
      'stream_failed',
      'connect_failed',
      'overflow',
    ]);
  });

  test('is one of `intensity` in any period, and counts how many there are', () => {
    const window = new RestartWindow(2, 1000);
    expect([window.take(0), window.take(500), window.take(999)]).toEqual([1, 2, undefined]);
    // the first is a whole period ago
    expect(window.take(1000)).toBe(2);
    expect(window.take(1400)).toBeUndefined();
    expect(window.take(9000)).toBe(1);
    expect(new RestartWindow(0, 1000).take(0)).toBeUndefined();
  });
});
