/** How the session ended, and what it says became of its calls. */
import type { CloseReason } from '../../contract/index.js';
import type { CallStates, TraceLine } from '../../scenario/scenario.js';
import type { CallLife } from './call-life.js';
import { catchUp } from './far-side.js';
import { expireDue, settle } from './quiet.js';
import type { Run } from './run.js';

type ClosedLine = Extract<TraceLine, { readonly closed: unknown }>['closed'];
type SummaryLine = Extract<TraceLine, { readonly summary: unknown }>['summary'];

/** The driver is about to be closed: if nothing known so far was the reason, the session ends here. */
export function closeIsNear(run: Run, at: number): void {
  catchUp(run, () => false);
  expireDue(run, at);
  if (run.end === undefined && run.connected) run.endSession('unknown', at);
}

/** The driver's `close` was called. */
export function takeDriverClose(run: Run): void {
  run.closes++;
  if (run.closes > 1) run.find('D10', `the driver was closed ${run.closes} times`);
  else if (!run.connected) run.find('D10', 'the driver was closed though there was no connection');
  else if (run.end?.cause === 'far_side') run.find('D10', 'the driver was closed though the far side had closed');
}

/** `session.closed` resolved. */
export function takeClosed(run: Run, { reason, calls }: ClosedLine, at: number): void {
  catchUp(run, () => false);
  if (run.end === undefined) {
    run.find('D11', '`closed` resolved though nothing had ended the session');
    run.endSession('unknown', at);
  }
  if (run.closed) run.find('D11', '`closed` resolved twice');
  if (run.connected && run.closes === 0 && run.end?.cause !== 'far_side') {
    run.find('D11', '`closed` resolved before the driver was closed');
  }
  run.closed = true;
  checkReason(run, reason);
  checkTime(run, at);
  checkCalls(run, calls, '`closed`');
}

function checkReason(run: Run, reason: CloseReason): void {
  if (run.end === undefined || run.end.foggy) return;
  const { cause, group } = run.end;
  if (cause !== 'unknown') {
    if (cause !== reason) run.find('D11', `the reason is ${reason}, the first cause was ${cause}`);
    return;
  }
  const flushFailed = group.step !== undefined && 'flush' in group.step && group.step.flush === 'reject';
  const expected = flushFailed ? 'journal_failed' : 'overflow';
  if (reason !== expected) {
    run.find('D11', `the reason is ${reason}, nothing of the kind had happened`);
  } else if (reason === 'overflow' && !run.everPaused && !mayBeCrowded(run)) {
    run.find('D7', 'the session ended with overflow though the host had read everything');
  }
}

function mayBeCrowded(run: Run): boolean {
  for (const call of run.calls.values()) if (call.mayBeRefused) return true;
  return false;
}

function checkTime(run: Run, at: number): void {
  const { closeMs } = run.limits;
  if (run.end === undefined || closeMs === 0 || at <= run.end.at + closeMs) return;
  run.find('D11', `\`closed\` resolved ${at - run.end.at} ms after the end, closeTimeoutMs is ${closeMs}`);
}

/** The summary of the trace. */
export function takeSummary(run: Run, { state, calls }: SummaryLine): void {
  settle(run);
  checkCalls(run, calls, 'the summary');
  const expected = run.end === undefined ? (run.connected ? 'open' : 'connecting') : run.closed ? 'closed' : 'closing';
  if (state.split('.')[0] === expected) return;
  run.find('D11', `the summary says that the session is ${state}, the trace that it is ${expected}`);
}

function checkCalls(run: Run, states: CallStates, where: string): void {
  for (const [id, state] of states) {
    const call = run.calls.get(id);
    if (call === undefined) run.find('D1', `${where} names call ${id}, which was never asked for`);
    else if (!call.mayBe(state)) {
      const invariant = call.disturbed ? 'D4' : 'D1';
      run.find(invariant, `${where} says that call ${id} is ${state}, the trace that it is ${call.stage}`);
    }
  }
  const named: string[] = [];
  for (const call of run.calls.values()) {
    if (states.has(call.id)) named.push(call.id);
    else if (!mayBeUnadmitted(run, call)) run.find('D1', `${where} does not name call ${call.id}`);
  }
  const given = [...states.keys()].filter((id) => run.calls.has(id));
  if (given.some((id, index) => id !== named[index]))
    run.find('D1', `${where} names the calls in another order than that of admission`);
}

/** A call whose `tool_started` found no place in the buffer was never admitted. */
function mayBeUnadmitted(run: Run, call: CallLife): boolean {
  if (run.end === undefined || run.end.group.index !== call.admittedIn) return false;
  return run.end.foggy || (run.end.cause === 'unknown' && run.everPaused);
}
