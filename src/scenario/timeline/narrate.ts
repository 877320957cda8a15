/**
 * Tells a run in rows. A step and its plain consequence (the host hears what the
 * far side said) share one row; all else has a row of its own.
 */
import { isJsonObject } from '../json.js';
import type { Step, TimelineEntry, TraceLine } from '../scenario.js';
import { type Told, tellLine } from './line-rows.js';
import { merge } from './merge.js';
import type { Row } from './row.js';
import { tellStep } from './step-rows.js';

/** The rows of a run, and the calls in them. */
export interface Story {
  readonly rows: readonly Row[];
  /** Names by id, in order of admission. */
  readonly calls: ReadonlyMap<string, string>;
}

/** Tells a run. */
export function narrate(entries: readonly TimelineEntry[]): Story {
  const narrator = new Narrator(entries.some((entry) => 'step' in entry && 'connect' in entry.step));
  const rows: Row[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as TimelineEntry;
    let told: Told | undefined;
    if ('line' in entry) {
      told = narrator.line(entry.line);
    } else {
      const next = entries[index + 1];
      // A summary follows from no step.
      const line = next !== undefined && 'line' in next && !('summary' in next.line) ? next.line : undefined;
      const { row, mergesLine } = narrator.step(entry.step, line);
      told = row;
      if (mergesLine) index++;
    }
    if (told !== undefined) rows.push(Object.assign({ at: entry.at, consequence: 'line' in entry }, told));
  }
  return { rows, calls: narrator.calls };
}

/** Whoever tells has to know a little of how things stand. */
class Narrator {
  readonly calls = new Map<string, string>();
  /** Calls whose code runs. */
  private readonly running = new Set<string>();
  private ended = false;
  private paused = false;

  constructor(private connecting: boolean) {}

  line(line: TraceLine): Told | undefined {
    if ('execute' in line) this.running.add(line.tool);
    if ('settled_late' in line) this.running.delete(line.tool);
    if ('event' in line && line.event.type === 'tool_started' && !this.calls.has(line.event.toolUseId)) {
      this.calls.set(line.event.toolUseId, line.event.toolName);
    }
    this.ended ||= 'closed' in line || ('provider' in line && line.provider === 'close');
    return tellLine(line, this.running);
  }

  /** Tells a step, and with it the line after it where that says nothing more than that the step got through. */
  step(step: Step, line: TraceLine | undefined): { row: Told | undefined; mergesLine: boolean } {
    if ('connect' in step) this.connecting = false;
    if ('host' in step && (step.host === 'pause' || step.host === 'resume')) this.paused = step.host === 'pause';
    if ('tool' in step) this.running.delete(step.tool);
    const told = tellStep(step);
    if (told === undefined) return { row: told, mergesLine: false };
    const row = this.ended ? afterTheEnd(step, told) : this.admit(step, told);
    const merged = line === undefined ? undefined : merge(step, row, line);
    if (merged !== undefined) return { row: merged, mergesLine: true };
    return { row: line === undefined ? this.withoutConsequence(step, row) : row, mergesLine: false };
  }

  /** A call that is asked for gets its lane, unless it is too late for that. */
  private admit(step: Step, row: Told): Told {
    const call = callOf(step);
    if (call === undefined || this.calls.has(call.id)) return row;
    this.calls.set(call.id, call.name);
    return { ...row, to: { call: call.id }, marks: [{ call: call.id, mark: 'asked', life: 'waiting' }] };
  }

  private withoutConsequence(step: Step, row: Told): Told {
    const remark = this.remark(step);
    return remark === undefined ? row : { ...row, text: `${row.text} — ${remark}`, tone: 'quiet' };
  }

  /** Why nothing follows from what the far side did. */
  private remark(step: Step): string | undefined {
    if ('publish' in step)
      return this.ended ? 'nobody listens' : 'reject' in step || this.paused ? undefined : 'too late';
    if (!('far' in step)) return undefined;
    if (this.ended) return 'nobody listens';
    if (this.connecting) return 'not connected yet';
    return this.paused && isForTheHost(step.far) ? 'unread' : 'nothing for the host';
  }
}

const forTheHost: ReadonlySet<unknown> = new Set([
  'text',
  'audio',
  'tool_call',
  'turn_complete',
  'interrupted',
  'error',
  'closed',
]);

function isForTheHost(payload: unknown): boolean {
  return isJsonObject(payload) && forTheHost.has(payload['type']);
}

/** Code that settles then is over; nothing else changes. */
function afterTheEnd(step: Step, row: Told): Told {
  if ('tool' in step) return { ...row, marks: [{ call: step.tool, mark: 'settles', life: 'over' }], tone: 'quiet' };
  return 'publish' in step ? { ...row, marks: [], tone: 'quiet' } : row;
}

function callOf(step: Step): { readonly id: string; readonly name: string } | undefined {
  if (!('far' in step) || !isJsonObject(step.far)) return undefined;
  const { type, id, name, arguments: text } = step.far;
  const wellFormed =
    type === 'tool_call' && typeof id === 'string' && id !== '' && typeof name === 'string' && typeof text === 'string';
  return wellFormed ? { id, name } : undefined;
}
