/**
 * What the far side does to the session.
 *
 * One thing needs care. What it does before the connection is there is handled
 * all at once when the connection comes, and the trace does not say which line
 * came before which of these events. They stay in a backlog and are taken as
 * late as the lines allow: a line that makes sense only after an event calls for it.
 */
import type { BidiEvent } from '../../contract/index.js';
import type { TraceEvent } from '../../scenario/scenario.js';
import { type Abandonment, CallLife, type Refusal } from './call-life.js';
import { readFarEvent } from './far-event.js';
import type { FarAct, Run } from './run.js';
import { judgeInput } from './tool-input.js';

/** Takes an act of the far side, or keeps it until the connection is there. */
export function farSideActs(run: Run, act: FarAct): void {
  if (run.end !== undefined) return;
  if (run.connected) handle(run, act);
  else run.backlog.push(act);
}

/** Takes acts from the backlog until a line makes sense, or none is left. */
export function catchUp(run: Run, until: () => boolean): void {
  while (run.connected && run.end === undefined && !until()) {
    const act = run.backlog.shift();
    if (act === undefined) return;
    handle(run, act);
  }
}

/** Whether the step of this group is a far event of this type. */
export function stepIs(run: Run, type: string): boolean {
  const { step } = run.group;
  if (step === undefined || !('far' in step)) return false;
  const reading = readFarEvent(step.far);
  return reading.kind === 'event' && reading.event.type === type;
}

function handle(run: Run, act: FarAct): void {
  if ('far_stream' in act) {
    run.expectLastError();
    run.endSession(act.far_stream === 'end' ? 'stream_ended' : 'stream_failed', run.group.from);
    return;
  }
  const reading = readFarEvent(act.far);
  if (reading.kind === 'failure') protocolFailure(run, 'D7');
  else if (reading.kind === 'event') event(run, reading.event);
}

function protocolFailure(run: Run, invariant: string): void {
  run.expectLastError(invariant);
  run.endSession('protocol_failure', run.group.from);
}

function event(run: Run, event: BidiEvent): void {
  switch (event.type) {
    case 'tool_call':
      admit(run, event);
      break;
    case 'tool_call_cancelled':
      for (const call of run.live) if (event.ids.includes(call.id)) abandon(run, call, 'withdrawal');
      break;
    case 'interrupted':
      interrupt(run);
      break;
    case 'closed':
      run.expect('D7', 'the `closed` of the far side', event);
      run.endSession('far_side', run.group.from);
      break;
    case 'text':
      run.expect('D7', `the text ${JSON.stringify(event.text)} of the far side`, event);
      break;
    case 'audio':
      run.expect('D7', `the audio ${JSON.stringify(event.data)} of the far side`, event);
      break;
    case 'error':
      run.expect('D7', `the error ${JSON.stringify(event.message)} of the far side`, event);
      break;
    case 'turn_complete':
      run.expect('D7', 'the `turn_complete` of the far side', event);
      break;
    default:
      break;
  }
}

function interrupt(run: Run): void {
  if (run.header.options?.dropUnreadAudio === true && !run.reading) run.awaited.dropAudio(!run.foggy);
  run.expect('D7', 'the `interrupted` of the far side', { type: 'interrupted' });
  for (const call of run.live) {
    if (call.policy !== 'deliver') abandon(run, call, 'interruption');
    else if (call.published !== undefined) call.disturbed = true;
  }
}

function abandon(run: Run, call: CallLife, why: Abandonment): void {
  if (call.published !== undefined) call.disturbed = true;
  if (!call.take('abandon')) return;
  call.abandonment = why;
  call.abandonedIn = run.group.index;
  if (run.mayOverflow) call.others.add('cancelled');
  const event: TraceEvent = { type: 'tool_abandoned', toolUseId: call.id, toolName: call.name };
  run.expect(why === 'interruption' ? 'D3' : 'D1', `the abandonment of call ${call.id}`, event);
  const aborts = why === 'withdrawal' || call.policy === 'cancel';
  if (aborts && call.code === 'running' && !call.signalled && !call.settlesAtOnce) run.signalsDue.add(call);
  if (why === 'interruption' && run.header.provider?.abandonToolCall === true) run.stubsDue.add(call);
}

function admit(run: Run, { id, name, arguments: text }: BidiEvent & { readonly type: 'tool_call' }): void {
  if (run.calls.has(id)) {
    run.repeated = id;
    protocolFailure(run, 'D13');
    return;
  }
  const tools = run.header.tools ?? {};
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  const verdict = judgeInput(text, tool);
  const crowded = isCrowded(run);
  const refusal: Refusal | undefined =
    crowded && !run.countsUnsure
      ? { why: `${run.limits.openCalls} calls were open`, invariant: 'D15' }
      : verdict.kind === 'refused'
        ? { why: verdict.because, invariant: 'D12' }
        : undefined;
  const input = verdict.kind === 'refused' ? undefined : verdict.input;
  const mayBeRefused = crowded || run.countsUnsure || verdict.kind === 'unknown';
  const call = new CallLife(id, name, tool, input, refusal, mayBeRefused, run.group.index);
  run.calls.set(id, call);
  run.live.add(call);
  run.expect('D1', `the start of call ${id}`, { type: 'tool_started', toolUseId: id, toolName: name });
  if (refusal === undefined) return;
  call.take('refuse');
  run.resultsDue.add(call);
}

function isCrowded(run: Run): boolean {
  let open = 0;
  for (const call of run.live) if (call.open) open++;
  const crowded = open >= run.limits.openCalls;
  // What was open at this moment depends on what of the backlog was already settled.
  const { step } = run.group;
  if (crowded && step !== undefined && 'connect' in step) run.countsUnsure = true;
  return crowded;
}
