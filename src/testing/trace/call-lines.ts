/** What was done for a call: its code, its signal, and the driver's two methods for it. */
import { sameValue } from '../../scenario/compare.js';
import type { TraceLine } from '../../scenario/scenario.js';
import type { CallLife } from './call-life.js';
import { catchUp } from './far-side.js';
import type { Run } from './run.js';

type Result = Extract<TraceLine, { readonly provider: 'sendToolResult' }>;

/** The code of a call was started. */
export function takeExecute(run: Run, id: string, input: unknown, at: number): void {
  catchUp(run, () => run.calls.has(id));
  if (run.repeated === id) run.find('D13', `the repeat of call ${id} was executed`);
  const call = run.calls.get(id);
  if (call === undefined) {
    run.find('D2', `code ran for call ${id}, which was never asked for`);
    return;
  }
  checkMayExecute(run, call);
  checkInput(run, call, input);
  call.take('execute');
  if (call.code === 'none') call.code = 'running';
  call.startedAt = at;
  checkPlaces(run);
}

function checkMayExecute(run: Run, call: CallLife): void {
  const { id } = call;
  if (run.end !== undefined) run.find('D2', `call ${id} was executed after the end`);
  if (call.code !== 'none') {
    run.find('D2', `call ${id} was executed twice`);
  } else if (call.stage === 'abandoned') {
    run.find('D2', `call ${id} was executed after it had been abandoned`);
    if (call.abandonment === 'interruption')
      run.find('D3', `call ${id} was started though an interruption had abandoned it`);
  } else if (call.published !== undefined) {
    run.find('D2', `call ${id} was executed after its result had been sent`);
  }
}

function checkInput(run: Run, call: CallLife, input: unknown): void {
  const { id, refusal } = call;
  if (refusal !== undefined) run.find(refusal.invariant, `call ${id} was executed though ${refusal.why}`);
  else if (call.tool?.needsApproval === true && !call.approved)
    run.find('D12', `call ${id} was executed before it was approved`);
  else if (!sameValue(input, call.input))
    run.find('D12', `call ${id} was executed with another input than was asked for`);
}

function checkPlaces(run: Run): void {
  const most = run.limits.concurrentTools;
  if (most === 0) return;
  catchUp(run, () => runningCalls(run) <= most);
  const running = runningCalls(run);
  if (running > most) run.find('D15', `${running} calls executed at once, maxConcurrentTools is ${most}`);
}

/** Only code that surely still runs, and holds its place, is counted. */
function runningCalls(run: Run): number {
  let running = 0;
  for (const call of run.live) if (call.stage === 'running' && !call.settlesAtOnce) running++;
  return running;
}

/** The signal of a call fired. */
export function takeSignal(run: Run, id: string, at: number): void {
  catchUp(run, () => signalHasReason(run, run.calls.get(id), at));
  const call = run.calls.get(id);
  if (call === undefined || call.code === 'none') {
    run.find('D5', `a signal fired for call ${id}, which runs no code`);
    return;
  }
  if (call.code === 'settled') run.find('D5', `the signal of call ${id} fired after its code had settled`);
  else if (call.signalled) run.find('D5', `the signal of call ${id} fired twice`);
  else if (run.closes > 0) run.find('D5', `the signal of call ${id} fired after the driver had been closed`);
  else if (!signalHasReason(run, call, at)) run.find('D5', `the signal of call ${id} fired without a reason`);
  else if (call.stage === 'running') call.take('settle');
  call.signalled = true;
  run.signalsDue.delete(call);
}

function signalHasReason(run: Run, call: CallLife | undefined, at: number): boolean {
  if (call === undefined) return false;
  if (run.end !== undefined) return run.end.group === run.group;
  if (call.stage === 'abandoned') {
    return call.abandonedIn === run.group.index && (call.abandonment === 'withdrawal' || call.policy === 'cancel');
  }
  const limit = call.tool?.timeoutMs ?? 0;
  return call.stage === 'running' && limit > 0 && at >= call.startedAt + limit;
}

/** The code of an abandoned call settled. */
export function takeSettledLate(run: Run, id: string): void {
  catchUp(run, () => run.calls.get(id)?.stage === 'abandoned');
  const call = run.calls.get(id);
  if (call?.stage !== 'abandoned' || call.code === 'none') {
    run.find('D1', `the code of call ${id} settled late, it was not abandoned while it ran`);
  } else if (call.settledLate) {
    run.find('D1', `the code of call ${id} settled late twice`);
  } else {
    call.settledLate = true;
  }
  if (run.closed) run.find('D9', `the late end of the code of call ${id} was told after \`closed\``);
}

/** `sendToolResult` was entered. */
export function takeResult(run: Run, { id, output, isError }: Result, at: number): void {
  catchUp(run, () => run.calls.has(id));
  if (run.repeated === id) run.find('D13', `the repeat of call ${id} was answered`);
  const call = run.calls.get(id);
  if (run.end !== undefined) run.find('D9', `the driver was given the result of call ${id} after the end`);
  if (call === undefined) {
    run.find('D2', `a result was sent for call ${id}, which was never asked for`);
    return;
  }
  checkMayPublish(run, call);
  if (call.refusal !== undefined && !isError) {
    run.find('D12', `call ${id} got a result that is no error though ${call.refusal.why}`);
  }
  if (call.settlesAtOnce && call.code === 'running') call.code = 'settled';
  call.published ??= { at, output, isError };
  call.take('publish');
  run.resultsDue.delete(call);
}

function checkMayPublish(run: Run, call: CallLife): void {
  const { id } = call;
  if (call.published !== undefined) {
    run.find('D2', `call ${id} was published twice`);
  } else if (run.end !== undefined) {
    run.find('D2', `call ${id} was published after the end`);
  } else if (call.stage === 'abandoned') {
    run.find('D2', `call ${id} was published after it had been abandoned`);
    if (call.abandonment === 'interruption')
      run.find('D3', `call ${id} was published though an interruption had abandoned it`);
  } else if (call.stage === 'running' && !call.settlesAtOnce) {
    run.find('D2', `call ${id} was published while its code ran`);
  } else if (call.stage === 'waiting' && !call.mayBeRefused) {
    run.find('D2', `call ${id} was published without having been executed`);
  }
}

/** `abandonToolCall` was called. */
export function takeStub(run: Run, id: string): void {
  catchUp(run, () => run.calls.get(id)?.stage === 'abandoned');
  const call = run.calls.get(id);
  if (run.end !== undefined) run.find('D9', `abandonToolCall was called for ${id} after the end`);
  if (run.header.provider?.abandonToolCall !== true)
    run.find('D16', 'abandonToolCall was called on a driver that has none');
  if (call === undefined) {
    run.find('D16', `abandonToolCall was called for ${id}, which was never asked for`);
    return;
  }
  call.stubs++;
  run.stubsDue.delete(call);
  if (call.stubs > 1) run.find('D16', `abandonToolCall was called ${call.stubs} times for ${id}`);
  else if (call.abandonment !== 'interruption') {
    run.find('D16', `abandonToolCall was called for ${id}, which no interruption had abandoned`);
  }
}
