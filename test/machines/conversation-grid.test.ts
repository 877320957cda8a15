/**
 * Every state of the machines of a conversation against every event of their
 * alphabets, as in `grid.test.ts`: what changes in a machine shows as a change
 * of a committed table, so that "ignored" is always a decision. `npm test -- -u`
 * writes the tables anew; read the difference before you commit it.
 */
import { describe, expect, test } from 'vitest';
import {
  type Effect,
  responseStreamEvents,
  responseStreamMachine,
  responseStreamStepper,
  type Stepped,
  type TransactionContext,
  type TransactionSnapshot,
  transactionEvents,
  transactionMachine,
  transactionStateOf,
  transactionStepper,
} from '../../machines/index.js';
import { ClientActionSchema, ResponseEventSchema } from '../../proto/index.js';
import { failingCodes, informingCodes } from '../../src/conversation/index.js';
import { type Drawable, jsonOf } from '../../src/inspect/diagram.js';
import { stepsOf } from '../../src/inspect/grid.js';
import { walk } from './reachable.js';

const sides = ['rollback', 'commit'] as const;
const everyRules: TransactionContext[] = (['ignore', 'savepoint', 'error'] as const).flatMap((nested) =>
  sides.flatMap((onDoomedCommit) =>
    sides.flatMap((onFailure) =>
      sides.flatMap((onCancel) =>
        [true, false].map((dooms) => ({ nested, onDoomedCommit, onFailure, onCancel, dooms })),
      ),
    ),
  ),
);

const nameOf = ({ value }: { readonly value: unknown }): string => {
  if (typeof value === 'string') return value;
  const [[outer, inner]] = Object.entries(value as object) as [[string, string]];
  return `${outer}.${inner}`;
};

/** Every state that some history leads to. */
function reachable<Snapshot extends { readonly value: unknown }, Type extends string>(
  initial: Snapshot,
  events: readonly Type[],
  step: (from: Snapshot, type: Type) => Stepped<Snapshot>,
): Snapshot[] {
  return walk(initial, nameOf, (from) => events.map((type) => step(from, type).snapshot));
}

const streams = reachable(
  responseStreamStepper.initial(undefined as never).snapshot,
  responseStreamEvents,
  responseStreamStepper.step,
);
const transactions = (rules: TransactionContext) =>
  reachable(transactionStepper.initial(rules).snapshot, transactionEvents, transactionStepper.step);

describe('the alphabets', () => {
  test('name every case of the words: an event without a column is a decision that nobody took', () => {
    // init is four events, by how it compares with what is known; finished is two, by its reason
    const cases = ResponseEventSchema.oneofs[0]?.fields.map(({ localName }) => localName);
    expect(cases).toEqual(['init', 'clientActions', 'finished']);
    const columns = [
      'init_next',
      'init_same',
      'init_renames',
      'init_foreign',
      'actions',
      'finished_done',
      'finished_failed',
    ];
    expect(responseStreamEvents.slice(0, columns.length)).toEqual(columns);
    // each action either moves transactions, splits, or is applied or fails
    const moving = {
      beginTransaction: 'begin',
      commitTransaction: 'commit',
      rollbackTransaction: 'rollback',
      startNewConversation: 'split',
    };
    const actions = ClientActionSchema.oneofs[0]?.fields.map(({ localName }) => localName);
    expect(actions).toEqual(expect.arrayContaining(Object.keys(moving)));
    expect(transactionEvents).toEqual(
      expect.arrayContaining([...Object.values(moving), 'action_applied', 'action_failed']),
    );
  });

  test.each([
    ['response stream', responseStreamMachine, responseStreamEvents],
    ['transaction', transactionMachine, transactionEvents],
  ] as const)('%s: no event twice, none that no state names, none that only a state knows', (_, machine, events) => {
    const { states, transitions } = jsonOf(machine as Drawable);
    const named = [...states.flatMap((state) => state.transitions), ...transitions].map(({ event }) => event);
    expect(new Set(events).size).toBe(events.length);
    expect(new Set(named)).toEqual(new Set(events));
  });

  test('what the machines tell of is a code that only informs', () => {
    const told = new Set<string>();
    const note = ({ type, params }: Effect) => {
      if (type === 'report') told.add((params as { readonly note: string }).note);
    };
    for (const from of streams)
      for (const type of responseStreamEvents) responseStreamStepper.step(from, type).effects.forEach(note);
    for (const rules of everyRules) {
      for (const from of transactions(rules))
        for (const type of transactionEvents) transactionStepper.step(from, type).effects.forEach(note);
    }
    expect(told.size).toBe(9);
    for (const code of told) expect(informingCodes).toContain(code);
    expect([...failingCodes, ...informingCodes].length).toBe(new Set([...failingCodes, ...informingCodes]).size);
  });
});

describe('the grid', () => {
  test('of the response stream', async () => {
    await expect(
      gridOf(responseStreamMachine, streams, responseStreamEvents, responseStreamStepper.step),
    ).toMatchFileSnapshot('./response-stream.grid.txt');
  });

  test('of a transaction', async () => {
    const grids = new Map<string, string[]>();
    for (const rules of everyRules) {
      const grid = gridOf(transactionMachine, transactions(rules), transactionEvents, transactionStepper.step);
      grids.set(grid, [...(grids.get(grid) ?? []), titleOf(rules)]);
    }
    const text = [...grids]
      .map(([grid, titles]) => `${titles.map((title) => `## ${title}`).join('\n')}\n\n${grid}`)
      .join('\n');
    await expect(text).toMatchFileSnapshot('./transaction.grid.txt');
  });

  test('leads through every state of both machines', () => {
    const resting = (machine: Drawable) =>
      jsonOf(machine)
        .states.filter(({ type }) => type !== 'compound')
        .map(({ name }) => name);
    expect(new Set(streams.map(nameOf))).toEqual(new Set(resting(responseStreamMachine)));
    expect(new Set(everyRules.flatMap(transactions).map(nameOf))).toEqual(new Set(resting(transactionMachine)));
  });
});

describe('what the tables promise', () => {
  test('X1, X2, X5: whatever ends a transaction from outside ends it, by one of keep and restore, told before', () => {
    for (const rules of everyRules) {
      const [keep, restore] = ['committed', 'rolled_back'];
      for (const from of transactions(rules).filter(({ status }) => status === 'active')) {
        for (const type of [
          'finish_done',
          'finish_failed',
          'input_ended',
          'split',
          'host_cancel',
          'commit',
          'rollback',
        ] as const) {
          const { snapshot, effects } = transactionStepper.step(from, type);
          const types = effects.map((effect) => effect.type);
          expect([keep, restore]).toContain(snapshot.value);
          expect(types.at(-1)).toBe(snapshot.value === keep ? 'keep' : 'restore');
          expect(types.slice(0, -1).every((each) => each === 'report' || each === 'passDoom')).toBe(true);
        }
      }
    }
  });

  test('X3: without dooming nothing is ever doomed; an action that was applied changes nothing', () => {
    for (const rules of everyRules) {
      const states = transactions(rules);
      expect(states.some((state) => nameOf(state) === 'open.doomed')).toBe(rules.dooms);
      for (const from of states) {
        expect(transactionStepper.step(from, 'action_applied')).toEqual({ snapshot: from, effects: [] });
        expect(transactionStateOf([from])).toBe(nameOf(from) === 'open.doomed' ? 'doomed' : 'open');
      }
    }
  });

  test('R1, R2: whatever ends the input ends the request, and an end is left by an init alone', () => {
    const ending = [
      'end_of_input',
      'transport_error',
      'bad_frame',
      'host_cancel',
      'halted',
      'finished_done',
      'finished_failed',
    ];
    for (const from of streams) {
      const isOpen = ['awaiting_init', 'streaming'].includes(from.value);
      for (const type of responseStreamEvents) {
        const { snapshot, effects } = responseStreamStepper.step(from, type);
        const hasEnded = effects.some((effect) => effect.type === 'endRequest');
        expect(hasEnded).toBe(isOpen && ending.includes(type));
        if (!isOpen && !type.startsWith('init')) expect(snapshot).toBe(from);
        if (hasEnded) {
          // R4: what is open is closed first
          expect(effects.slice(-2).map((effect) => effect.type)).toEqual(['closeTransactions', 'endRequest']);
          expect(['awaiting_init', 'streaming']).not.toContain(snapshot.value);
        }
      }
    }
  });

  test('are what the machine does: a cell is empty in the table only where a step does nothing', () => {
    const diagram = jsonOf(responseStreamMachine);
    for (const from of streams) {
      for (const type of responseStreamEvents) {
        if (stepsOf(diagram, nameOf(from), type).length > 0) continue;
        expect(responseStreamStepper.step(from, type)).toEqual({ snapshot: from, effects: [] });
      }
    }
  });
});

function titleOf({ nested, onDoomedCommit, onFailure, onCancel, dooms }: TransactionContext): string {
  const policies = `nested ${nested}, onDoomedCommit ${onDoomedCommit}, onFailure ${onFailure}, onCancel ${onCancel}`;
  return dooms ? policies : `${policies}, no doom`;
}

/** Rows are events, columns are states, in the order of the machine's table. */
function gridOf<Snapshot extends TransactionSnapshot | { readonly value: unknown }, Type extends string>(
  machine: Drawable,
  states: readonly Snapshot[],
  events: readonly Type[],
  step: (from: Snapshot, type: Type) => Stepped<Snapshot>,
): string {
  const order = jsonOf(machine).states.map(({ name }) => name);
  const sorted = [...states].sort((one, other) => order.indexOf(nameOf(one)) - order.indexOf(nameOf(other)));
  const cell = (from: Snapshot, type: Type): string => {
    const { snapshot, effects } = step(from, type);
    if (snapshot === from && effects.length === 0) return '-';
    const where = snapshot === from ? 'stays' : nameOf(snapshot);
    return effects.length === 0 ? where : `${where}: ${effects.map(effectName).join(', ')}`;
  };
  const rows = [
    ['', ...sorted.map(nameOf)],
    ['---', ...sorted.map(() => '---')],
    ...events.map((type) => [type, ...sorted.map((from) => cell(from, type))]),
  ];
  return `${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

function effectName({ type, params }: Effect): string {
  return params === undefined ? type : `${type}(${Object.values(params as object).join(', ')})`;
}
