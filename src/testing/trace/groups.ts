import type { Step, TimelineEntry, TraceLine } from '../../scenario/scenario.js';

/** A trace line and its virtual time, in milliseconds since the start. */
export interface TimedLine {
  readonly at: number;
  readonly line: TraceLine;
}

/** A step and what it caused. The first group of a trace has no step: it is the start of the session. */
export interface Group {
  readonly index: number;
  readonly step: Step | undefined;
  readonly lines: readonly TimedLine[];
  /** Virtual time before and after the step, in milliseconds since the start. */
  readonly from: number;
  readonly until: number;
  /** Where the lines of an end begin: the driver's `close` and the signals right before it, at the same moment. Absent when it is not called. */
  readonly endFrom: number | undefined;
}

/** Cuts a run into groups, at least one. An `expect` causes nothing and opens none. */
export function groupsOf(entries: readonly TimelineEntry[]): readonly [Group, ...Group[]] {
  const start = entries[0]?.at ?? 0;
  const groups: Group[] = [];
  let step: Step | undefined;
  let lines: TimedLine[] = [];
  let from = 0;
  const finish = () => {
    const until = step !== undefined && 'clock' in step ? from + step.clock : from;
    groups.push({ index: groups.length, step, lines, from, until, endFrom: endOf(lines) });
    from = until;
  };
  for (const entry of entries) {
    if ('line' in entry) {
      lines.push({ at: entry.at - start, line: entry.line });
    } else if (!('expect' in entry.step)) {
      finish();
      step = entry.step;
      lines = [];
    }
  }
  finish();
  return groups as [Group, ...Group[]];
}

function endOf(lines: readonly TimedLine[]): number | undefined {
  let index = lines.findIndex(({ line }) => 'provider' in line && line.provider === 'close');
  if (index === -1) return undefined;
  const at = lines[index]?.at;
  while (index > 0 && isSignal(lines[index - 1], at)) index--;
  return index;
}

/** A signal of another moment is a timeout's, which left no other line. */
function isSignal(timed: TimedLine | undefined, at: number | undefined): boolean {
  return timed !== undefined && 'signal' in timed.line && timed.at === at;
}
