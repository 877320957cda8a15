/** A machine as a graph that can be laid out: its states as boxes in boxes, its transitions as lines with labels. */
import type { MachineDiagram } from '../diagram.js';

/** What the layout needs to know of a state. */
export interface GraphState {
  readonly id: string;
  readonly label: string;
  readonly parent: string | undefined;
  readonly isInitial: boolean;
  readonly isFinal: boolean;
  readonly isFrame: boolean;
}

/** All transitions from one state to another. */
export interface GraphTransition {
  readonly from: string;
  readonly to: string;
  readonly labels: readonly string[];
}

export interface Graph {
  readonly states: readonly GraphState[];
  readonly transitions: readonly GraphTransition[];
}

/**
 * The states of a machine, and the transitions that leave one for another. A
 * transition that a frame takes into itself is drawn from each other state in
 * it; what happens without a state being left is not drawn.
 */
export function graphOf({ states, initial }: MachineDiagram): Graph {
  const parentOf = (name: string) => (name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : undefined);
  const initials = new Set([initial, ...states.map((state) => state.initial)]);
  const byEnds = new Map<string, { from: string; to: string; labels: string[] }>();
  for (const state of states) {
    for (const { event, guard, target } of state.transitions) {
      if (target === undefined) continue;
      const isInside = target.startsWith(`${state.name}.`);
      const within = states.filter(({ name }) => parentOf(name) === state.name && name !== target);
      for (const { name } of isInside ? within : [state]) {
        const ends = `${name} ${target}`;
        const known = byEnds.get(ends) ?? { from: name, to: target, labels: [] };
        byEnds.set(ends, known);
        const label = guard === undefined ? event : `${event} [${guard}]`;
        if (!known.labels.includes(label)) known.labels.push(label);
      }
    }
  }
  return {
    states: states.map(({ name, type }) => ({
      id: name,
      label: name.slice(name.lastIndexOf('.') + 1),
      parent: parentOf(name),
      isInitial: initials.has(name),
      isFinal: type === 'final',
      isFrame: type === 'compound' || type === 'parallel',
    })),
    transitions: [...byEnds.values()],
  };
}
