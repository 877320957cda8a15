/**
 * Every state of the machines against every event of their alphabets, as it is:
 * what changes in a machine shows as a change of a committed table, so that
 * "ignored" is always a decision. `npm test -- -u` writes the tables anew; read
 * the difference before you commit it.
 *
 * A cell says where an event leads and what the step asks for; `-`: nothing
 * changes and nothing is asked for.
 */
import { describe, expect, test } from 'vitest';
import {
  type CallEventType,
  type CallRules,
  type CallSnapshot,
  callEvents,
  type Effect,
  type FarEventType,
  farEvents,
  type SessionEventType,
  type SessionSnapshot,
  sessionEvents,
  sessionMachine,
  sessionStateOf,
  toolInvocationMachine,
} from '../../machines/index.js';
import type { BidiEvent } from '../../src/contract/provider.js';
import { type Drawable, jsonOf } from '../../src/inspect/diagram.js';
import { stepsOf } from '../../src/inspect/grid.js';
import { type Edge, everyRules, type Reachable, reachableCalls, reachableSessions } from './reachable.js';

/** A column for each event that the contract lets a driver send; a member that is missing or left over does not compile. */
const farColumns = {
  text: 'text',
  audio: 'audio',
  tool_call: 'tool_call',
  turn_complete: 'turn_complete',
  interrupted: 'interrupted',
  error: 'error',
  closed: 'closed',
  tool_call_cancelled: 'tool_call_cancelled',
  usage: 'usage',
  input_text: 'input_text',
  expiring: 'expiring',
} satisfies Record<BidiEvent['type'], FarEventType> & Record<FarEventType, BidiEvent['type']>;

describe('the alphabets', () => {
  test("hold the contract's union of far-side events, each under its own name", () => {
    expect(Object.keys(farColumns)).toEqual([...farEvents]);
    expect(Object.values(farColumns)).toEqual([...farEvents]);
    expect(sessionEvents).toEqual(expect.arrayContaining([...farEvents]));
  });

  test('have no event twice, and none that no state names', () => {
    expect(new Set(sessionEvents).size).toBe(sessionEvents.length);
    expect(new Set(callEvents).size).toBe(callEvents.length);
    expect(sessionEvents.filter((event) => !namesOf(sessionMachine).has(event))).toEqual([]);
    expect(callEvents.filter((event) => !namesOf(toolInvocationMachine).has(event))).toEqual([]);
  });

  test('hold every event that a state names', () => {
    expect([...namesOf(sessionMachine)].filter((event) => !sessionEvents.includes(event as SessionEventType))).toEqual(
      [],
    );
    expect([...namesOf(toolInvocationMachine)].filter((event) => !callEvents.includes(event as CallEventType))).toEqual(
      [],
    );
  });
});

describe('the grid', () => {
  test('of the session', async () => {
    const grid = gridOf(sessionMachine, reachableSessions(), sessionEvents, sessionName);
    await expect(grid).toMatchFileSnapshot('./session.grid.txt');
  });

  test.each(['abandon', 'cancel', 'deliver'] as const)('of a call, policy %s', async (policy) => {
    const grids = everyRules
      .filter((rules) => rules.policy === policy)
      .map(
        (rules) =>
          `## ${titleOf(rules)}\n\n${gridOf(toolInvocationMachine, reachableCalls(rules), callEvents, callName)}`,
      );
    await expect(grids.join('\n')).toMatchFileSnapshot(`./tool-invocation.${policy}.grid.txt`);
  });

  test('leads through every state of both machines', () => {
    const resting = ({ states }: ReturnType<typeof jsonOf>) =>
      states.filter(({ type }) => type !== 'compound').map(({ name }) => name);
    const seenOf = (names: readonly string[]) => new Set(names.map(stateIn));
    expect(seenOf(reachableSessions().snapshots.map(sessionName))).toEqual(new Set(resting(jsonOf(sessionMachine))));
    const calls = everyRules.flatMap((rules) => reachableCalls(rules).snapshots.map(callName));
    expect(seenOf(calls)).toEqual(new Set(resting(jsonOf(toolInvocationMachine))));
  });
});

describe('what the table says and what the machine does', () => {
  test('are one for the session: a cell is empty in the table only where a step does nothing', () => {
    agree(sessionMachine, reachableSessions(), sessionName);
  });

  test('are one for a call', () => {
    for (const rules of everyRules) agree(toolInvocationMachine, reachableCalls(rules), callName);
  });
});

/** Where no transition is named nothing happens; where something happens a transition is named that leads there. */
function agree<Snapshot, Type extends string>(
  machine: Drawable,
  { edges }: Reachable<Snapshot, Type>,
  nameOf: (snapshot: Snapshot) => string,
): void {
  const diagram = jsonOf(machine);
  for (const { from, event, to, effects } of edges) {
    const [state = '', next = ''] = [stateIn(nameOf(from)), stateIn(nameOf(to))];
    const steps = stepsOf(diagram, state, event);
    const where = `${state} at ${event}`;
    if (steps.length === 0) {
      expect(to, where).toBe(from);
      expect(effects, where).toEqual([]);
    } else if (to !== from) {
      const targets = steps.map(({ target = state }) => target);
      // a target that is left at once, or that is a frame, leads further
      const leads = targets.some((target) => next === target || next.startsWith(`${target}.`) || target === 'closing');
      expect(leads, `${where} leads to ${next}`).toBe(true);
    }
  }
}

/** Event types that a table names. */
function namesOf(machine: Drawable): Set<string> {
  const { states, transitions } = jsonOf(machine);
  const named = [...states.flatMap((state) => state.transitions), ...transitions].map(({ event }) => event);
  return new Set(named.filter((event) => event !== 'always'));
}

function titleOf({ writeStart, writePublish }: CallRules): string {
  if (writeStart) return 'Durable journal, a tool that does more than read';
  return writePublish ? 'Durable journal, a tool that reads' : 'No durable journal';
}

function sessionName(snapshot: SessionSnapshot): string {
  const { reason, connection } = snapshot.context;
  const name = sessionStateOf(snapshot);
  if (name === 'closing') return `${name} (${reason}, ${connection})`;
  return name === 'closed' ? `${name} (${reason})` : name;
}

function callName({ value, context }: CallSnapshot): string {
  const name = typeof value === 'string' ? value : `abandoned.${value.abandoned}`;
  const flags = (['codeRuns', 'holdsOutcome'] as const).filter((flag) => context[flag]);
  return flags.length === 0 ? name : `${name} (${flags.join(', ')})`;
}

interface Column {
  readonly names: string[];
  cells: readonly string[];
}

/**
 * Rows are events, columns are what the machine can come to, in the order of
 * its table. Columns that only tell where one came from (the reason of a session
 * that closes), and whose cells are all the same but for that, are one.
 */
function gridOf<Snapshot, Type extends string>(
  machine: Drawable,
  { snapshots, edges }: Reachable<Snapshot, Type>,
  events: readonly Type[],
  nameOf: (snapshot: Snapshot) => string,
): string {
  const order = jsonOf(machine).states.map(({ name }) => name);
  const place = (name: string) => order.indexOf(stateIn(name));
  const columns = new Map<string, Column>();
  const sorted = [...snapshots].sort((one, other) => place(nameOf(one)) - place(nameOf(other)));
  for (const snapshot of sorted) {
    const name = nameOf(snapshot);
    const own = new Map(edges.filter(({ from }) => from === snapshot).map((edge) => [edge.event, edge]));
    const cells = events.map((event) => cellOf(own.get(event) as Edge<Snapshot, Type>, nameOf));
    const key = JSON.stringify([stateIn(name), cells.map(withoutOrigin)]);
    const known = columns.get(key);
    if (known === undefined) columns.set(key, { names: [name], cells });
    else {
      if (!known.names.includes(name)) known.names.push(name);
      known.cells = known.cells.map((cell, row) => (cell === cells[row] ? cell : withoutOrigin(cell)));
    }
  }
  const rows = [
    ['', ...[...columns.values()].map(({ names }) => headOf(names))],
    ['---', ...[...columns.values()].map(() => '---')],
    ...events.map((event, row) => [event, ...[...columns.values()].map(({ cells }) => cells[row] as string)]),
  ];
  return `${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

const stateIn = (name: string): string => name.split(' ')[0] ?? '';

/** `closing (host, open): …` and `closing (aborted, open): …` are the same but for where one came from. */
function withoutOrigin(cell: string): string {
  return cell.replace(/^(\S+) \(.*?\)/, '$1 (…)');
}

/** `closed (host) / closed (aborted)` as `closed (host / aborted)`. */
function headOf(names: readonly string[]): string {
  const [first = ''] = names;
  if (names.length === 1) return first;
  return `${stateIn(first)} (${names.map((name) => /\((.*)\)/.exec(name)?.[1] ?? 'plain').join(' / ')})`;
}

function cellOf<Snapshot, Type>(edge: Edge<Snapshot, Type>, nameOf: (snapshot: Snapshot) => string): string {
  const { from, to, effects } = edge;
  if (to === from && effects.length === 0) return '-';
  const where = to === from ? 'stays' : nameOf(to);
  return effects.length === 0 ? where : `${where}: ${effects.map(effectName).join(', ')}`;
}

function effectName({ type, params }: Effect): string {
  return params === undefined ? type : `${type}(${Object.values(params as object).join(', ')})`;
}
