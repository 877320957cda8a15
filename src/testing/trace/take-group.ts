import { takeExecute, takeResult, takeSettledLate, takeSignal, takeStub } from './call-lines.js';
import { closeIsNear, takeClosed, takeDriverClose, takeSummary } from './end-lines.js';
import { stepIs } from './far-side.js';
import type { Group, TimedLine } from './groups.js';
import { takeEvent } from './host-lines.js';
import { concernsCall, inWords } from './in-words.js';
import { becomeQuiet } from './quiet.js';
import type { Run } from './run.js';
import { takeStep } from './steps.js';

/** Takes a whole group: what the step means, each line that it caused, and what it left undone. */
export function takeGroup(run: Run, group: Group): void {
  run.group = group;
  run.repeated = undefined;
  run.foggy = false;
  if (group.step !== undefined) takeStep(run, group.step);
  if (run.endsUnexplained) run.expectLastError();
  for (const [index, line] of group.lines.entries()) {
    if (index === group.endFrom) closeIsNear(run, line.at);
    takeLine(run, line);
  }
  becomeQuiet(run);
}

function takeLine(run: Run, { at, line }: TimedLine): void {
  if (run.end === undefined && concernsCall(line) && stepIs(run, 'turn_complete')) {
    run.find('D6', `there was ${inWords(line)} at a \`turn_complete\``);
  }
  if ('event' in line) takeEvent(run, line.event, at);
  else if ('execute' in line) takeExecute(run, line.tool, line.execute, at);
  else if ('signal' in line) takeSignal(run, line.tool, at);
  else if ('settled_late' in line) takeSettledLate(run, line.tool);
  else if ('closed' in line) takeClosed(run, line.closed, at);
  else if ('summary' in line) takeSummary(run, line.summary);
  else if ('provider' in line) takeDriverCall(run, line, at);
}

type DriverCall = Extract<TimedLine['line'], { readonly provider: string }>;

function takeDriverCall(run: Run, line: DriverCall, at: number): void {
  switch (line.provider) {
    case 'sendToolResult':
      takeResult(run, line, at);
      break;
    case 'abandonToolCall':
      takeStub(run, line.id);
      break;
    case 'close':
      takeDriverClose(run);
      break;
    case 'send':
    case 'interrupt':
      if (run.end !== undefined) run.find('D9', `the driver's ${line.provider} was called after the end`);
      break;
    default:
      break;
  }
}
