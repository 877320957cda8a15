/** What is still owed when nothing more happens before the next step. */
import type { CallLife } from './call-life.js';
import { catchUp } from './far-side.js';
import type { Run } from './run.js';

/** Ends the group that is heard. */
export function becomeQuiet(run: Run): void {
  settle(run);
  checkCallsDue(run);
  checkDriverClose(run);
  checkClosed(run);
  checkBuffer(run);
  if (run.reading) checkDelivery(run);
  for (const call of run.live) if (call.over) run.live.delete(call);
}

/** Whether the end waits for a connection or for the driver's close. */
function isHeldUp({ end, connectSettled, header, closes, closeSettled }: Run): boolean {
  if (end?.cause === 'connect_failed' || end?.cause === 'far_side') return false;
  return !connectSettled || (header.provider?.holdClose === true && closes > 0 && !closeSettled);
}

/** Does what happens without a line of its own before all is quiet. */
export function settle(run: Run): void {
  catchUp(run, () => false);
  settleAtOnce(run);
  expireDue(run, run.group.until);
}

/** Scripted code with a `result` or `throws` settles, and a driver that holds nothing accepts, before all is quiet. */
function settleAtOnce(run: Run): void {
  for (const call of run.live) {
    if (call.settlesAtOnce && call.code === 'running') {
      call.code = 'settled';
      call.take('settle');
    }
    if (run.acceptsAtOnce && call.take('accept')) run.owe(call);
  }
}

/** Results that the far side has not answered in time by then. */
export function expireDue(run: Run, at: number): void {
  if (run.end !== undefined) return;
  for (const call of run.live) if (run.expires(call, at) && call.take('expire')) run.owe(call);
}

function checkCallsDue(run: Run): void {
  for (const call of run.signalsDue) run.find('D5', `the signal of call ${call.id} did not fire`);
  if (run.end === undefined) {
    for (const call of run.stubsDue) run.find('D16', `abandonToolCall was not called for ${call.id}`);
  }
  // A result that is written ahead may wait for the journal.
  if (run.header.journal?.holdFlush !== true) for (const call of run.resultsDue) checkErrorResult(run, call);
  run.signalsDue.clear();
  run.stubsDue.clear();
  run.resultsDue.clear();
}

function checkErrorResult(run: Run, call: CallLife): void {
  if (call.stage === 'ready') run.find('D12', `call ${call.id} got no error result though ${call.refusal?.why}`);
}

function checkDriverClose(run: Run): void {
  if (run.end === undefined || run.end.cause === 'far_side' || !run.connected || run.closes > 0) return;
  run.find('D10', 'the session ended, the driver was not closed');
}

function checkClosed(run: Run): void {
  if (run.end === undefined || run.closed) return;
  const { closeMs } = run.limits;
  if (!isHeldUp(run)) run.find('D11', 'the session ended and nothing held it up, `closed` did not resolve');
  else if (closeMs > 0 && run.group.until >= run.end.at + closeMs) {
    run.find('D11', `the session ended, \`closed\` did not resolve within ${closeMs} ms`);
  }
}

function checkBuffer(run: Run): void {
  const { bufferedEvents } = run.limits;
  const { step, lines } = run.group;
  let waiting = 0;
  if (step !== undefined && 'host' in step && step.host === 'resume') {
    waiting = lines.filter(({ line }) => 'event' in line).length;
  } else if (!run.reading && run.end === undefined) {
    waiting = run.awaited.length + run.owing.size;
  }
  if (waiting > bufferedEvents + 1) run.find('D15', `${waiting} events waited, maxBufferedEvents is ${bufferedEvents}`);
}

/** The host reads everything at once, unless it pauses. */
function checkDelivery(run: Run): void {
  for (const missed of run.awaited.clear()) run.find(missed.invariant, `${missed.what} was not given to the host`);
  for (const call of run.owing) {
    if (call.report === 'due') run.find('D1', `call ${call.id} is ${call.stage}, the host was not told`);
    run.reported(call);
  }
}
