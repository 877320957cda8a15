/** All that a machine can come to: every snapshot that some history leads to, and every step from one to another. */
import {
  type CallEventType,
  type CallRules,
  type CallSnapshot,
  callEvents,
  callStepper,
  type Effect,
  type SessionEventType,
  type SessionSnapshot,
  sessionEvents,
  sessionStepper,
} from '../../machines/index.js';

/** One step of a machine. */
export interface Edge<Snapshot, Type> {
  readonly from: Snapshot;
  readonly event: Type;
  readonly to: Snapshot;
  readonly effects: readonly Effect[];
}

export interface Reachable<Snapshot, Type> {
  readonly initial: Snapshot;
  /** In the order in which a search by breadth meets them. */
  readonly snapshots: readonly Snapshot[];
  /** Every event in every snapshot. */
  readonly edges: readonly Edge<Snapshot, Type>[];
}

/** Every way of admitting a call that the runtime uses: three policies; no durable journal, one and a tool that reads, one and a tool that does more. */
export const everyRules: readonly CallRules[] = (['abandon', 'cancel', 'deliver'] as const).flatMap((policy) => [
  { policy, writeStart: false, writePublish: false },
  { policy, writeStart: false, writePublish: true },
  { policy, writeStart: true, writePublish: true },
]);

export function reachableCalls(rules: CallRules): Reachable<CallSnapshot, CallEventType> {
  return explore(callStepper.initial(rules).snapshot, callEvents, (from, event) => callStepper.step(from, event));
}

export function reachableSessions(): Reachable<SessionSnapshot, SessionEventType> {
  const { snapshot } = sessionStepper.initial(undefined as never);
  return explore(snapshot, sessionEvents, (from, event) => sessionStepper.step(from, event));
}

function explore<Snapshot, Type>(
  initial: Snapshot,
  events: readonly Type[],
  step: (from: Snapshot, event: Type) => { readonly snapshot: Snapshot; readonly effects: readonly Effect[] },
): Reachable<Snapshot, Type> {
  const snapshots = new Set([initial]);
  const edges: Edge<Snapshot, Type>[] = [];
  // a set is walked on as it grows
  for (const from of snapshots) {
    for (const event of events) {
      const { snapshot: to, effects } = step(from, event);
      edges.push({ from, event, to, effects });
      snapshots.add(to);
    }
  }
  return { initial, snapshots: [...snapshots], edges };
}

/**
 * Walks on from a start for as long as there is something new: every state of
 * a test's own kind that some history leads to.
 * @param key what makes two states the same
 */
export function walk<State>(
  start: State,
  key: (state: State) => string,
  next: (state: State) => Iterable<State>,
): State[] {
  const known = new Map([[key(start), start]]);
  for (const state of known.values()) {
    for (const other of next(state)) {
      const name = key(other);
      if (!known.has(name)) known.set(name, other);
    }
  }
  return [...known.values()];
}

/** The types of effects, in order. */
export function typesOf(effects: readonly Effect[]): string[] {
  return effects.map(({ type }) => type);
}
