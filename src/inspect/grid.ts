/** A machine as tables: every state against every event, and every transition with its actions. */
import {
  actionLabel,
  type DiagramState,
  type DiagramTransition,
  type Drawable,
  jsonOf,
  type MachineDiagram,
} from './diagram.js';

/** Stands where a state ignores an event. */
export const ignored = '·';

/** The states in which a machine can rest: all but frames. */
export function restingStates({ states }: MachineDiagram): readonly DiagramState[] {
  return states.filter(({ type }) => type === 'atomic' || type === 'final');
}

/**
 * What an event may do in a state, in the order in which guards are tried: the
 * state's own transitions, then those of the frames around it. Nothing behind
 * a transition without a guard; nothing at all in a final state of the machine.
 */
export function stepsOf(diagram: MachineDiagram, state: string, event: string): readonly DiagramTransition[] {
  const steps: DiagramTransition[] = [];
  const own = diagram.states.find(({ name }) => name === state);
  if (own?.type === 'final' && !state.includes('.')) return steps;
  for (let name = state; ; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const { transitions } = name === '' ? diagram : (diagram.states.find((other) => other.name === name) ?? diagram);
    for (const transition of transitions) {
      if (transition.event !== event) continue;
      steps.push(transition);
      if (transition.guard === undefined) return steps;
    }
    if (name === '') return steps;
  }
}

/**
 * The grid of a machine as a Markdown table: a row for each event, a column for
 * each state in which it can rest, in each cell where the event leads.
 * @param events the alphabet, so that an event that no state names has a row too
 * @throws {TypeError} as `jsonOf` does
 */
export function gridOf(machine: Drawable, events: readonly string[]): string {
  const diagram = jsonOf(machine);
  const columns = restingStates(diagram);
  return table(
    ['event', ...columns.map(({ name }) => name)],
    events.map((event) => [event, ...columns.map(({ name }) => cellOf(stepsOf(diagram, name, event)))]),
  );
}

/**
 * Every transition of a machine as a Markdown table, with guard, target and
 * actions; entry and exit actions as rows of their own.
 * @throws {TypeError} as `jsonOf` does
 */
export function transitionsOf(machine: Drawable): string {
  const diagram = jsonOf(machine);
  const rows: string[][] = [];
  const add = (state: string, transitions: readonly DiagramTransition[]) => {
    const guarded = new Set<string>();
    for (const { event, guard, target, actions } of transitions) {
      const condition = guard ?? (guarded.has(event) ? 'else' : '');
      if (guard !== undefined) guarded.add(event);
      rows.push([state, event, condition, target ?? 'stays', actions.map(actionLabel).join(', ')]);
    }
  };
  for (const { name, entry, exit, transitions } of diagram.states) {
    if (entry.length > 0) rows.push([name, '(entry)', '', '', entry.map(actionLabel).join(', ')]);
    add(name, transitions);
    if (exit.length > 0) rows.push([name, '(exit)', '', '', exit.map(actionLabel).join(', ')]);
  }
  add('(every state)', diagram.transitions);
  return table(['state', 'event', 'when', 'leads to', 'actions'], rows);
}

/** Guards that lead to one place, one after the other, are said once. */
function cellOf(steps: readonly DiagramTransition[]): string {
  if (steps.length === 0) return ignored;
  const ways: { readonly to: string; readonly guards: string[]; isElse: boolean }[] = [];
  for (const { guard, target = 'stays' } of steps) {
    let way = ways.at(-1);
    if (way?.to !== target) {
      way = { to: target, guards: [], isElse: false };
      ways.push(way);
    }
    if (guard === undefined) way.isElse = true;
    else way.guards.push(guard);
  }
  return ways
    .map(({ to, guards, isElse }) => {
      if (isElse) return ways.length === 1 ? to : `else: ${to}`;
      return `${guards.join(' or ')}: ${to}`;
    })
    .join('; ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return `${[row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')}\n`;
}
