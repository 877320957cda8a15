/** Machines as charts: every state and transition of the table, each at a place; L1 of `lay-out.ts`. */
import { expect, test } from 'vitest';
import { toolInvocationMachine } from '../../../machines/index.js';
import { type LayoutEngine, layOut } from '../../../src/inspect/charts/lay-out.js';
import { jsonOf } from '../../../src/inspect/diagram.js';
import { chartsOfMachines } from '../../../src/inspect/server/charts.js';

test('every machine is drawn, and every state of it lies within its frame', async () => {
  const charts = await chartsOfMachines();
  expect(charts.map(({ machine }) => machine)).toEqual([
    'session',
    'call',
    'response-stream',
    'transaction',
    'supervisor',
  ]);
  for (const { states, transitions, width, height } of charts) {
    const byId = new Map(states.map((state) => [state.id, state]));
    for (const { x, y, width: w, height: h, parent } of states) {
      expect(w).toBeGreaterThan(0);
      const frame = parent === undefined ? { x: 0, y: 0, width, height } : byId.get(parent);
      if (frame === undefined) throw new TypeError(`no state ${parent}`);
      expect(x).toBeGreaterThanOrEqual(frame.x);
      expect(y).toBeGreaterThanOrEqual(frame.y);
      expect(x + w).toBeLessThanOrEqual(frame.x + frame.width);
      expect(y + h).toBeLessThanOrEqual(frame.y + frame.height);
    }
    for (const { from, to, points, labels } of transitions) {
      expect(byId.has(from) && byId.has(to)).toBe(true);
      expect(labels.length).toBeGreaterThan(0);
      expect(points.length).toBeGreaterThanOrEqual(2);
      // the line begins at the state that is left, and ends at the one that is entered
      expect(touches(byId.get(from), points[0])).toBe(true);
      expect(touches(byId.get(to), points.at(-1))).toBe(true);
    }
  }
});

test('no event that leaves a state is missing', async () => {
  const [, call] = await chartsOfMachines();
  const { states } = jsonOf(toolInvocationMachine);
  for (const { name, transitions } of states) {
    for (const { event, target } of transitions) {
      if (target === undefined) continue;
      const drawn = call?.transitions.find(({ from, to }) => from === name && to === target);
      expect(drawn?.labels.some((label) => label.split(' ')[0] === event)).toBe(true);
    }
  }
});

test('the largest machine fits into a pane as wide as it can be read, and is drawn the same again', async () => {
  const charts = await chartsOfMachines();
  for (const { machine, width } of charts) expect(width, machine).toBeLessThan(1000);
  const elk = await import('elkjs/lib/elk.bundled.js');
  const Engine = elk.default as unknown as new () => LayoutEngine;
  expect(await layOut('call', toolInvocationMachine, new Engine())).toEqual(charts[1]);
});

function touches(
  state: { x: number; y: number; width: number; height: number } | undefined,
  point: { x: number; y: number } | undefined,
): boolean {
  if (state === undefined || point === undefined) return false;
  const { x, y, width, height } = state;
  return point.x >= x - 1 && point.x <= x + width + 1 && point.y >= y - 1 && point.y <= y + height + 1;
}
