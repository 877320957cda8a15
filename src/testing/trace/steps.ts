/** What the steps mean to the session, before any line of their group is heard. */
import type { Step } from '../../scenario/scenario.js';
import { catchUp, farSideActs } from './far-side.js';
import type { Run } from './run.js';

type HostStep = Extract<Step, { readonly host: string }>;

/** Takes the step of the group that is heard. */
export function takeStep(run: Run, step: Step): void {
  if ('far' in step || 'far_stream' in step) farSideActs(run, step);
  else if ('connect' in step) connectSettles(run, step.connect === 'resolve');
  else if ('publish' in step) farSideAnswers(run, step.publish, 'accept' in step);
  else if ('close' in step) run.closeSettled = run.closes > 0;
  else if ('host' in step) hostActs(run, step);
  else if ('clock' in step) clockMoves(run);
  else if ('tool' in step) codeSettles(run, step.tool);
}

function connectSettles(run: Run, connected: boolean): void {
  run.connectSettled = true;
  run.connected = connected;
  if (!connected && run.end === undefined) run.endSession('connect_failed', run.group.from);
  run.foggy = connected && run.end === undefined && run.backlog.length > 1 && run.group.endFrom !== undefined;
  if (run.foggy) run.expectLastError();
  // One act alone leaves no doubt of what comes before what.
  if (run.backlog.length === 1) catchUp(run, () => false);
}

function farSideAnswers(run: Run, id: string, accepts: boolean): void {
  const call = run.calls.get(id);
  if (call === undefined || run.end !== undefined || !call.take(accepts ? 'accept' : 'reject')) return;
  run.owe(call);
}

function hostActs(run: Run, step: HostStep): void {
  switch (step.host) {
    case 'pause':
      run.reading = false;
      run.everPaused = true;
      break;
    case 'resume':
      run.reading = true;
      break;
    case 'close':
    case 'abort':
      if (run.end === undefined) run.endSession(step.host === 'close' ? 'host' : 'aborted', run.group.from);
      break;
    case 'approve':
    case 'deny':
      if (!wasRefused(run, step.host)) decide(run, step.id, step.host === 'approve');
      break;
    default:
      break;
  }
}

function wasRefused({ group, end }: Run, act: string): boolean {
  return end !== undefined || group.lines.some(({ line }) => 'host' in line && line.host === act);
}

function decide(run: Run, id: string, approved: boolean): void {
  const call = run.calls.get(id);
  if (call === undefined) return;
  if (approved) {
    call.approved = true;
  } else if (call.take('refuse')) {
    call.refusal = { why: 'it was denied', invariant: 'D12' };
    run.resultsDue.add(call);
  }
}

function clockMoves(run: Run): void {
  const { connectMs } = run.limits;
  if (run.end !== undefined || run.connectSettled || connectMs === 0 || run.group.until < connectMs) return;
  run.endSession('connect_failed', connectMs);
}

function codeSettles(run: Run, id: string): void {
  const call = run.calls.get(id);
  if (call?.code !== 'running') return;
  call.code = 'settled';
  call.take('settle');
}
