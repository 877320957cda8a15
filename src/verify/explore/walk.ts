/**
 * Breadth first through everything that can happen.
 *
 * Invariants kept here:
 *
 * W1. Each state is expanded once, in the order in which states were met: the
 *     first path to a state, and so the first that shows a violation, is a
 *     shortest one.
 * W2. What a violation led to is not expanded: what follows from a fault is not
 *     told as faults of its own.
 * W3. `complete` is said only where every state that was met was expanded and
 *     nothing was cut off.
 */
import { StateSet } from './state-set.js';

/** An invariant that a step has broken. */
export interface Finding {
  /** `D3`, `C1`. */
  readonly invariant: string;
  /** What was done that must not be. */
  readonly what: string;
}

/** What can be walked through: states are rows of integers, events have numbers. */
export interface System {
  /** Of a row. */
  readonly width: number;
  /** The first state. */
  begin(into: Int32Array): readonly Finding[];
  /** Everything that can happen next. `visit` is told each event, where it leads to and what was found on the way; it gives whether to go on. */
  expand(row: Int32Array, visit: (code: number, next: Int32Array, findings: readonly Finding[]) => boolean): void;
}

/** What ends a walk early. */
export interface Bounds {
  readonly maxDepth: number;
  readonly maxStates: number;
  /** Walk on past this many different invariants. */
  readonly maxViolations: number;
}

/** How far a walk has come. */
export interface Progress {
  /** Different states that were met. */
  readonly states: number;
  /** Events that were tried. */
  readonly transitions: number;
  /** Events between the beginning and the states at hand. */
  readonly depth: number;
  /** States that were met and not yet expanded. */
  readonly frontier: number;
}

/** A violation and the numbers of the events that lead to it. */
export interface Found extends Finding {
  readonly path: readonly number[];
}

/** What a walk has seen. */
export interface Walked extends Omit<Progress, 'frontier'> {
  /** Everything that can happen was seen. */
  readonly complete: boolean;
  /** The first of each invariant. */
  readonly found: readonly Found[];
  /** Bytes that the states took. */
  readonly bytes: number;
}

const progressEvery = 2048;

/** Walks through a system, up to the bounds. */
export function walk(system: System, bounds: Bounds, onProgress?: (progress: Progress) => void): Walked {
  const states = new StateSet(system.width);
  const row = new Int32Array(system.width);
  const found = new Map<string, Found>();
  let transitions = 0;
  let depth = 0;
  let cut = false;

  const note = (findings: readonly Finding[], path: () => readonly number[]): void => {
    for (const { invariant, what } of findings) {
      if (!found.has(invariant)) found.set(invariant, { invariant, what, path: path() });
    }
  };

  const first = system.begin(row);
  note(first, () => []);
  states.add(row, -1, -1, 1);
  let endOfLevel = states.size;

  for (let at = 0; at < states.size && found.size < bounds.maxViolations; at++) {
    if (at === endOfLevel) {
      depth++;
      endOfLevel = states.size;
    }
    if (depth === bounds.maxDepth) {
      cut = true;
      break;
    }
    if (at % progressEvery === 0) onProgress?.({ states: states.size, transitions, depth, frontier: states.size - at });
    states.read(at, row);
    system.expand(row, (code, next, findings) => {
      transitions++;
      if (findings.length > 0) {
        note(findings, () => [...states.pathTo(at), code]);
        return found.size < bounds.maxViolations;
      }
      if (!states.add(next, at, code, bounds.maxStates)) cut = true;
      return true;
    });
  }
  const { size, bytes } = states;
  // a walk that found what it was looking for has not seen the rest
  const complete = !cut && found.size < bounds.maxViolations;
  return { states: size, transitions, depth, complete, found: [...found.values()], bytes };
}
