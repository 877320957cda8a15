import type { TraceLine } from '../../scenario/scenario.js';

/** A trace line as a finding names it. */
export function inWords(line: TraceLine): string {
  if ('event' in line) {
    const { event } = line;
    if ('toolUseId' in event) return `\`${event.type}\` of call ${event.toolUseId}`;
    if (event.type === 'text') return `the text ${JSON.stringify(event.text)}`;
    if (event.type === 'error') return `the error ${JSON.stringify(event.message)}`;
    return `\`${event.type}\``;
  }
  if ('execute' in line) return `the start of the code of call ${line.tool}`;
  if ('signal' in line) return `the signal of call ${line.tool}`;
  if ('settled_late' in line) return `the late end of the code of call ${line.tool}`;
  if ('provider' in line) return 'id' in line ? `${line.provider} of call ${line.id}` : line.provider;
  return 'host' in line ? `a refused ${line.host}` : 'the end';
}

/** Whether a line tells of a call. */
export function concernsCall(line: TraceLine): boolean {
  if ('tool' in line) return true;
  if ('provider' in line) return 'id' in line;
  return 'event' in line && 'toolUseId' in line.event;
}
