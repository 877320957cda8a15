import { isJsonObject } from '../json.js';
import type { Step, TraceLine } from '../scenario.js';
import type { Told } from './line-rows.js';

/** One row for a step and the line after it, where that line says nothing more than that the step got through. */
export function merge(step: Step, row: Told, line: TraceLine): Told | undefined {
  if ('far' in step) return mergeFar(step.far, row, line);
  if ('publish' in step) return 'accept' in step ? mergeAccept(step.publish, row, line) : undefined;
  if ('host' in step) {
    const passedOn = 'provider' in line && line.provider === step.host && step.host !== 'close';
    return passedOn ? { ...row, to: 'far' } : undefined;
  }
  if ('tool' in step && 'settled_late' in line && line.tool === step.tool) {
    const text = `${row.text}: too late, only noted`;
    return { ...row, marks: [{ call: step.tool, mark: 'late', life: 'over' }], text, tone: 'quiet' };
  }
  return undefined;
}

function mergeFar(payload: unknown, row: Told, line: TraceLine): Told | undefined {
  if (!('event' in line) || !isJsonObject(payload)) return undefined;
  const { event } = line;
  if (event.type === 'tool_started') {
    const told = payload['type'] === 'tool_call' && payload['id'] === event.toolUseId && row.marks.length > 0;
    return told ? { ...row, to: 'host' } : undefined;
  }
  if (payload['type'] !== event.type) return undefined;
  return event.type === 'closed' ? { ...row, to: 'host', ends: ['far'] } : { ...row, to: 'host' };
}

function mergeAccept(call: string, row: Told, line: TraceLine): Told | undefined {
  if (!('event' in line) || line.event.type !== 'tool_completed' || line.event.toolUseId !== call) return undefined;
  return { ...row, to: 'host', marks: [{ call, mark: 'completed', life: 'over' }], text: `${row.text}: completed` };
}
