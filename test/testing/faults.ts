/** A fault of a trace, and the ways to make one in its `closed`. */
import type { TraceLine } from '../../src/scenario/scenario.js';
import * as t from './runs.js';

/** How the finding begins, what was done to the run, the legal run, and the change that makes it illegal. */
export type Fault = readonly [expected: string, what: string, run: t.Run, change: t.Change];

/** The line `closed` of a run. */
export const callsOf = ({ entries }: t.Run) => {
  const line = entries.flatMap((entry) => ('line' in entry && 'closed' in entry.line ? [entry.line] : []))[0];
  if (line === undefined) throw new RangeError('the run has no `closed`');
  return line;
};

/** `closed` with one call said to have ended otherwise, or, without a state, not named. */
export function ended(run: t.Run, id: string, state?: string): t.Change {
  const line = callsOf(run) as Extract<TraceLine, { closed: unknown }>;
  const calls = new Map(line.closed.calls);
  if (state === undefined) calls.delete(id);
  else calls.set(id, state);
  return t.replace(line, { closed: { reason: line.closed.reason, calls } });
}

/** `closed` with another reason. */
export const because = (run: t.Run, reason: Extract<TraceLine, { closed: unknown }>['closed']['reason']): t.Change => {
  const line = callsOf(run) as Extract<TraceLine, { closed: unknown }>;
  return t.replace(line, { closed: { reason, calls: line.closed.calls } });
};
