/**
 * Holds a trace against the invariants of duplex sessions. The steps say what
 * happened to the session, the lines what it did; nothing of the runtime and
 * nothing of the machines is used, so their mistakes are not shared.
 *
 * What is checked, by the numbers of `docs/design/duplex.md` §4:
 *
 * - D1  every call gets `tool_started` and reaches one outcome, the same in its events, in `closed` and in the summary
 * - D2  one execution and one `sendToolResult` per call at most; none after abandonment or the end, none that no call asked for
 * - D3  an interruption abandons, and reports as abandoned, exactly the calls before their commit point whose policy is not
 *       `deliver`; code that had not started then never starts
 * - D4  after `sendToolResult` no interruption and no withdrawal changes the outcome
 * - D5  signals fire where policy `cancel`, a withdrawal, a timeout or the end demands it, and nowhere else
 * - D6  nothing happens to a call at a `turn_complete`
 * - D7  the host is given the far side's events in its order, none lost, repeated or made up
 * - D9  nothing reaches the host or the driver after the end
 * - D10 the driver is closed once where a connection was made and the far side did not close, else never
 * - D11 `closed` comes once, in time, with the reason that came first
 * - D12 malformed, refused, denied and unapproved input reaches no code, and malformed or denied input gets one error result
 * - D13 a repeated id ends the session with an error and runs nothing
 * - D15 waiting events, open calls and running code stay within their limits
 * - D16 `abandonToolCall` comes once for each call that an interruption abandoned, and for no other
 *
 * D8 and D14 leave no mark in a trace. Where a trace leaves open what happened, the benefit of the doubt is given.
 */
import type { ScenarioHeader, TimelineEntry } from '../scenario/scenario.js';
import { groupsOf } from './trace/groups.js';
import { Run } from './trace/run.js';
import { takeGroup } from './trace/take-group.js';

/**
 * Lists what a run did that a session must not do, each finding as
 * `D2: call t1 was published twice`; empty for a legal run.
 * @param entries steps and the lines that they caused, in order, the trace from
 * its first line on; it may stop anywhere, with or without its summary
 * @param header of the scenario that was run
 */
export function violationsOf(entries: readonly TimelineEntry[], header: ScenarioHeader): string[] {
  const groups = groupsOf(entries);
  const run = new Run(header, groups[0]);
  for (const group of groups) takeGroup(run, group);
  return run.findings;
}
