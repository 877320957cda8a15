/** Legal runs, told step by step, and ways to make them illegal. */
import type { ScenarioHeader, Step, TimelineEntry, TraceLine } from '../../src/scenario/scenario.js';

/** A run and the header that it was made with. */
export interface Run {
  readonly header: ScenarioHeader;
  readonly entries: readonly TimelineEntry[];
}

/** Tells a run: what the start left, then each step with the lines that it left. Virtual time moves with the clock steps. */
export function tell(
  header: ScenarioHeader,
  start: readonly TraceLine[],
  ...told: readonly [Step, ...TraceLine[]][]
): Run {
  const entries: TimelineEntry[] = start.map((line) => ({ at: 0, line }));
  let at = 0;
  for (const [step, ...lines] of told) {
    entries.push({ at, step });
    if ('clock' in step) at += step.clock;
    for (const line of lines) entries.push({ at, line });
  }
  return { header, entries };
}

// ── words ──

export const connect: TraceLine = { provider: 'connect' };
export const driverClose: TraceLine = { provider: 'close' };

export const far = (event: unknown): Step => ({ far: event });
export const call = (id: string, name: string, text = '{}'): Step =>
  far({ type: 'tool_call', id, name, arguments: text });
export const said = (text: string): Step => far({ type: 'text', text });
export const heard = (text: string): TraceLine => ({ event: { type: 'text', text } });
export const interruption = far({ type: 'interrupted' });
export const completion = far({ type: 'turn_complete' });
export const interrupted: TraceLine = { event: { type: 'interrupted' } };
export const turnComplete: TraceLine = { event: { type: 'turn_complete' } };
export const error = (message: string): TraceLine => ({ event: { type: 'error', message } });

export const started = (toolUseId: string, toolName: string): TraceLine => ({
  event: { type: 'tool_started', toolUseId, toolName },
});
export const abandoned = (toolUseId: string, toolName: string): TraceLine => ({
  event: { type: 'tool_abandoned', toolUseId, toolName },
});
export const completed = (toolUseId: string, toolName: string, output: string, isError = false): TraceLine => ({
  event: { type: 'tool_completed', toolUseId, toolName, output, isError },
});
export const executes = (tool: string, execute: unknown = {}): TraceLine => ({ tool, execute });
export const aborted = (tool: string): TraceLine => ({ tool, signal: 'aborted' });
export const late = (tool: string, settled_late: 'resolved' | 'rejected' = 'resolved'): TraceLine => ({
  tool,
  settled_late,
});
export const result = (id: string, output: string, isError = false): TraceLine => ({
  provider: 'sendToolResult',
  id,
  output,
  isError,
});
export const stub = (id: string): TraceLine => ({ provider: 'abandonToolCall', id });
export const refused = (host: 'send' | 'start' | 'approve', message: string): TraceLine => ({
  host,
  rejected: message,
});
export const closed = (
  reason: Extract<TraceLine, { closed: unknown }>['closed']['reason'],
  calls: Readonly<Record<string, string>> = {},
): TraceLine => ({ closed: { reason, calls: new Map(Object.entries(calls)) } });
export const summary = (state: string, calls: Readonly<Record<string, string>> = {}): TraceLine => ({
  summary: { state, calls: new Map(Object.entries(calls)), violations: [] },
});

// ── changes ──

/** A way to change the entries of a run. */
export type Change = (entries: readonly TimelineEntry[]) => readonly TimelineEntry[];

const textOf = (entry: TimelineEntry) => JSON.stringify('line' in entry ? entry.line : entry.step, printMap);
const printMap = (_key: string, value: unknown) => (value instanceof Map ? [...value] : value);

/** Where the only, or the nth, entry is that is this line or step. */
function find(entries: readonly TimelineEntry[], wanted: TraceLine | Step, nth = 1): number {
  const text = JSON.stringify(wanted, printMap);
  const places = entries.flatMap((entry, index) => (textOf(entry) === text ? [index] : []));
  const place = places[nth - 1];
  if (place === undefined) throw new RangeError(`the run has no ${text} number ${nth}`);
  return place;
}

/** Without this line. */
export const drop =
  (line: TraceLine, nth?: number): Change =>
  (entries) =>
    entries.toSpliced(find(entries, line, nth), 1);

/** With further lines right after this line or step. */
export const after =
  (place: TraceLine | Step, ...lines: readonly TraceLine[]): Change =>
  (entries) => {
    const index = find(entries, place);
    const at = entries[index]?.at ?? 0;
    return entries.toSpliced(index + 1, 0, ...lines.map((line) => ({ at, line })));
  };

/** With this line twice. */
export const twice = (line: TraceLine): Change => after(line, line);

/** With another line in place of this one. */
export const replace =
  (line: TraceLine, other: TraceLine): Change =>
  (entries) => {
    const index = find(entries, line);
    return entries.with(index, { at: entries[index]?.at ?? 0, line: other });
  };

/** With these two lines in each other's place. */
export const swap =
  (one: TraceLine, other: TraceLine): Change =>
  (entries) => {
    const [first, second] = [find(entries, one), find(entries, other)];
    const [oneEntry, otherEntry] = [entries[first] as TimelineEntry, entries[second] as TimelineEntry];
    return entries.with(first, otherEntry).with(second, oneEntry);
  };

/** One change after another. */
export const both =
  (...changes: readonly Change[]): Change =>
  (entries) =>
    changes.reduce((changed, change) => change(changed), entries);
