/** What the host was told. */
import type { TraceEvent } from '../../scenario/scenario.js';
import { alike, mayMention } from './alike.js';
import type { CallLife } from './call-life.js';
import { catchUp, stepIs } from './far-side.js';
import { inWords } from './in-words.js';
import type { Run } from './run.js';

/** Takes an event that was delivered at this time. */
export function takeEvent(run: Run, event: TraceEvent, at: number): void {
  catchUp(run, () => isExplained(run, event, at));
  const awaited = run.awaited.find(event);
  if (event.type === 'error' && (awaited === undefined || awaited.last === true)) {
    const call = callThatOwes(run, event.message, at);
    if (call !== undefined) {
      run.reported(call);
      return;
    }
  }
  if (awaited !== undefined) {
    const skipped = run.awaited.take(awaited);
    if (skipped !== undefined) run.find(skipped.invariant, `${skipped.what} did not come before ${awaited.what}`);
  } else if (event.type === 'tool_completed') {
    completed(run, event);
  } else {
    unawaited(run, event);
  }
}

function isExplained(run: Run, event: TraceEvent, at: number): boolean {
  const awaited = run.awaited.find(event);
  if (awaited !== undefined && awaited.last !== true) return true;
  if (event.type === 'tool_completed') return run.calls.has(event.toolUseId);
  return event.type === 'error' && callThatOwes(run, event.message, at) !== undefined;
}

/** The call whose refused or unanswered publish an error may tell of. */
function callThatOwes(run: Run, message: string, at: number): CallLife | undefined {
  const refused = mentioned(message, run.owing, (call) => call.stage !== 'completed' && !call.others.has('completed'));
  if (refused !== undefined || run.end !== undefined) return refused;
  const expired = mentioned(message, run.live, (call) => run.expires(call, at));
  if (expired?.take('expire') === true) run.owe(expired);
  return expired;
}

/** Of the calls that fit the one whose id a text mentions: the longest id, for it may hold another. */
function mentioned(text: string, calls: Iterable<CallLife>, fits: (call: CallLife) => boolean): CallLife | undefined {
  let found: CallLife | undefined;
  for (const call of calls) {
    if (fits(call) && mayMention(text, call.id) && (found === undefined || call.id.length > found.id.length))
      found = call;
  }
  return found;
}

function completed(run: Run, event: TraceEvent & { readonly type: 'tool_completed' }): void {
  const id = event.toolUseId;
  const call = run.calls.get(id);
  if (call === undefined) {
    run.find('D1', `call ${id} was reported as completed, which was never asked for`);
    return;
  }
  if (call.report === 'done') run.find('D1', `the end of call ${id} was reported twice`);
  if (run.end !== undefined && !run.owing.has(call))
    run.find('D9', `the host was given ${inWords({ event })} after the end`);
  if (run.acceptsAtOnce) call.take('accept');
  if (call.published === undefined) run.find('D1', `call ${id} was reported as completed, its result was never sent`);
  else checkResult(run, call, event);
  if (!call.mayBe('completed'))
    run.find('D1', `call ${id} was reported as completed, the trace says that it is ${call.stage}`);
  if (call.published !== undefined) call.stage = 'completed';
  call.others.clear();
  run.reported(call);
}

function checkResult(run: Run, call: CallLife, event: TraceEvent & { readonly type: 'tool_completed' }): void {
  const { published, id, name } = call;
  if (published === undefined) return;
  if (!alike(event.output, published.output) || event.isError !== published.isError) {
    run.find('D1', `call ${id} was reported as completed with another result than was sent`);
  }
  if (event.toolName !== name) run.find('D1', `call ${id} of ${name} was reported as one of ${event.toolName}`);
}

function unawaited(run: Run, event: TraceEvent): void {
  if (run.end !== undefined) {
    run.find('D9', `the host was given ${inWords({ event })} after the end`);
  } else if (event.type === 'tool_started') {
    const id = event.toolUseId;
    const known = run.calls.has(id) ? 'a second time' : 'which was never asked for';
    run.find('D1', `call ${id} was reported as started, ${known}`);
  } else if (event.type === 'tool_abandoned') {
    wronglyAbandoned(run, event.toolUseId);
  } else {
    run.find('D7', `the host was given ${inWords({ event })}, which the far side had not sent`);
  }
}

function wronglyAbandoned(run: Run, id: string): void {
  const call = run.calls.get(id);
  if (call === undefined) {
    run.find('D1', `call ${id} was reported as abandoned, which was never asked for`);
  } else if (call.published !== undefined) {
    run.find('D4', `call ${id} was reported as abandoned after its commit point`);
  } else if (call.stage === 'abandoned') {
    run.find('D1', `call ${id} was reported as abandoned a second time`);
  } else if (call.policy === 'deliver' && stepIs(run, 'interrupted')) {
    run.find('D3', `call ${id} was abandoned by an interruption though its policy is deliver`);
  } else {
    run.find('D3', `call ${id} was reported as abandoned, nothing had abandoned it`);
  }
  if (call?.take('abandon') === true) call.abandonment = 'unexplained';
}
