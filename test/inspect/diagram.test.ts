/** The drawings of machines: G1 and G2 of `src/inspect/diagram.ts`, and the pages that were drawn last. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { setup } from 'xstate';
import {
  callEvents,
  responseStreamEvents,
  responseStreamMachine,
  sessionEvents,
  sessionMachine,
  toolInvocationMachine,
  transactionEvents,
  transactionMachine,
} from '../../machines/index.js';
import { actionLabel, jsonOf, mermaidOf } from '../../src/inspect/diagram.js';
import { gridOf, transitionsOf } from '../../src/inspect/grid.js';

const nothing = () => {};

/** A lamp with all that our machines use: frames, guards in order, parameters, an eventless transition, transitions everywhere. */
const lamp = setup({
  types: { context: {} as { readonly worn: boolean } },
  actions: { light: (_, _params: { readonly watts: number }) => {}, darken: nothing, count: nothing, ring: nothing },
  guards: { isWorn: ({ context }) => context.worn },
}).createMachine({
  id: 'lamp',
  context: { worn: false },
  initial: 'off',
  on: { unplug: { target: '.broken', actions: 'ring' } },
  states: {
    off: { on: { press: [{ guard: 'isWorn', target: 'broken' }, 'on'], touch: { actions: 'count' } } },
    on: {
      initial: 'dim',
      entry: { type: 'light', params: { watts: 5 } },
      exit: 'darken',
      on: { press: 'off', reset: { target: '.dim', actions: 'count' } },
      states: {
        dim: { on: { turn: 'bright' } },
        bright: {
          always: { guard: 'isWorn', target: '#lamp.broken' },
          on: { turn: { target: 'dim', actions: 'count' } },
        },
      },
    },
    broken: { type: 'final' },
  },
});

const ours: readonly (readonly [string, AnyStateMachine, readonly string[]])[] = [
  ['session', sessionMachine, sessionEvents],
  ['tool-invocation', toolInvocationMachine, callEvents],
  ['response-stream', responseStreamMachine, responseStreamEvents],
  ['transaction', transactionMachine, transactionEvents],
];

describe('mermaidOf', () => {
  test('draws states, frames, events, guards, actions and what happens without an arrow', () => {
    expect(mermaidOf(lamp)).toBe(`stateDiagram-v2
  [*] --> off
  off
  state on {
    [*] --> on_dim
    state "dim" as on_dim
    state "bright" as on_bright
    on_dim --> on_bright: turn
    on_bright --> on_dim: turn / count
    on_bright --> broken: always [isWorn]
  }
  broken
  off --> broken: press [isWorn]
  off --> on: press [else]
  on --> off: press
  on_bright --> on_dim: reset / count
  broken --> [*]
  note right of off
    touch / count
    in every state:
    unplug / ring → broken
  end note
  note left of on_dim
    in on:
    entry / light(5)
    exit / darken
    reset / count → dim
  end note
`);
  });

  test('says once what arrows to one place have in common', () => {
    const ends = (reason: string) => ({
      target: 'over',
      actions: [{ type: 'because', params: { reason } }, 'fence', 'close'],
    });
    const machine = {
      config: { initial: 'open', states: { open: { on: { cut: ends('cut'), left: ends('left') } }, over: {} } },
    };
    expect(mermaidOf(machine)).toContain(
      '  open --> over: cut / because(cut)<br/>left / because(left)<br/>the last 2, then: fence, close\n',
    );
  });

  test.each(ours)('G1: gives the same text for the same table (%s)', (_name, machine) => {
    expect(mermaidOf(machine)).toBe(mermaidOf({ config: structuredCloneOf(machine.config) }));
  });

  test.each(ours)('G2: shows every state, event, guard and action of the %s', (_name, machine) => {
    const drawing = mermaidOf(machine);
    const shown = new Set(drawing.split(/[^A-Za-z0-9_]+/));
    for (const node of nodesOf(machine.root)) {
      if (node !== machine.root) expect(shown, `state ${node.id}`).toContain(node.key);
      for (const { eventType, guard } of ownTransitionsOf(node)) {
        expect(shown, `event of ${node.id}`).toContain(eventType === '' ? 'always' : eventType);
        if (guard !== undefined) expect(shown, `guard in ${node.id}`).toContain(guard);
      }
    }
    for (const action of actionsOf(machine)) expect(shown).toContain(action);
  });
});

describe('jsonOf', () => {
  test('gives the table as plain data, targets by their whole name', () => {
    const diagram = jsonOf(lamp);
    expect(JSON.parse(JSON.stringify(diagram))).toEqual(diagram);
    expect(diagram).toEqual({
      id: 'lamp',
      initial: 'off',
      transitions: [{ event: 'unplug', target: 'broken', actions: [{ type: 'ring' }] }],
      states: [
        {
          name: 'off',
          type: 'atomic',
          entry: [],
          exit: [],
          transitions: [
            { event: 'press', guard: 'isWorn', target: 'broken', actions: [] },
            { event: 'press', target: 'on', actions: [] },
            { event: 'touch', actions: [{ type: 'count' }] },
          ],
        },
        {
          name: 'on',
          type: 'compound',
          initial: 'on.dim',
          entry: [{ type: 'light', params: { watts: 5 } }],
          exit: [{ type: 'darken' }],
          transitions: [
            { event: 'press', target: 'off', actions: [] },
            { event: 'reset', target: 'on.dim', actions: [{ type: 'count' }] },
          ],
        },
        {
          name: 'on.dim',
          type: 'atomic',
          entry: [],
          exit: [],
          transitions: [{ event: 'turn', target: 'on.bright', actions: [] }],
        },
        {
          name: 'on.bright',
          type: 'atomic',
          entry: [],
          exit: [],
          transitions: [
            { event: 'turn', target: 'on.dim', actions: [{ type: 'count' }] },
            { event: 'always', guard: 'isWorn', target: 'broken', actions: [] },
          ],
        },
        { name: 'broken', type: 'final', entry: [], exit: [], transitions: [] },
      ],
    });
  });

  test.each(ours)('G2: holds every transition of the %s, with its target, as XState reads them', (_name, machine) => {
    const found = [jsonOf(machine), ...jsonOf(machine).states].flatMap((state) => {
      const name = 'name' in state ? state.name : '';
      return state.transitions.map(({ event, guard, target }) => [name, event, guard ?? '', target ?? '']);
    });
    const expected = nodesOf(machine.root).flatMap((node) =>
      ownTransitionsOf(node).map(({ eventType, guard, target }) => [
        pathOf(node),
        eventType === '' ? 'always' : eventType,
        guard ?? '',
        target?.[0] === undefined ? '' : pathOf(target[0]),
      ]),
    );
    expect(new Set(found.map(String))).toEqual(new Set(expected.map(String)));
    expect(found).toHaveLength(expected.length);
  });

  test('refuses what is no table of states, and a target that leads nowhere', () => {
    expect(() => jsonOf({ config: {} })).toThrow(TypeError);
    expect(() => jsonOf({ config: { states: { a: { on: { go: 'nowhere' } } } } })).toThrow(/nowhere/);
  });
});

describe('the tables', () => {
  test('have a row for each event and a column for each state, with what the event leads to', () => {
    expect(gridOf(lamp, ['press', 'turn', 'unplug', 'sing'])).toBe(`| event | off | on.dim | on.bright | broken |
| --- | --- | --- | --- | --- |
| press | isWorn: broken; else: on | off | off | · |
| turn | · | on.bright | on.dim | · |
| unplug | broken | broken | broken | · |
| sing | · | · | · | · |
`);
  });

  test('list every transition in order, with its actions', () => {
    expect(transitionsOf(lamp).split('\n').slice(2, 8)).toEqual([
      '| off | press | isWorn | broken |  |',
      '| off | press | else | on |  |',
      '| off | touch |  | stays | count |',
      '| on | (entry) |  |  | light(5) |',
      '| on | press |  | off |  |',
      '| on | reset |  | on.dim | count |',
    ]);
  });

  test('print an action with the values of what it is given', () => {
    expect(actionLabel({ type: 'ring' })).toBe('ring');
    expect(actionLabel({ type: 'wait', params: { ms: 5, why: 'because' } })).toBe('wait(5, because)');
  });
});

describe('the pages that were drawn last', () => {
  test.each(ours)('docs/design/diagrams/%s.md is what the machine is now', (name, machine, events) => {
    const path = fileURLToPath(new URL(`../../docs/design/diagrams/${name}.md`, import.meta.url));
    expect(existsSync(path), 'node .ci/diagrams.mjs writes it').toBe(true);
    const page = readFileSync(path, 'utf8');
    expect(page).toContain(`\`\`\`mermaid\n${mermaidOf(machine)}\`\`\``);
    expect(page).toContain(gridOf(machine, events));
    expect(page).toContain(transitionsOf(machine));
  });
});

/** A deep copy of a table; functions in it stay what they are. */
function structuredCloneOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(structuredCloneOf) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, structuredCloneOf(field)])) as Value;
}

/** The states of a machine as XState has read them, the root first. */
function nodesOf(root: AnyStateNode): AnyStateNode[] {
  return [root, ...Object.values(root.states).flatMap((child) => nodesOf(child as AnyStateNode))];
}

/** The transitions that a state names itself. */
function ownTransitionsOf(node: AnyStateNode) {
  return [...node.transitions.values(), node.always ?? []].flat();
}

const pathOf = ({ path }: { readonly path: readonly string[] }): string => path.join('.');

/** The names of the actions that a machine can ask for or take. */
function actionsOf({ implementations }: AnyStateMachine): string[] {
  return Object.keys(implementations.actions);
}
