/** Performs what a call's machine asks for: its code, its result, its signal, its reports. */
import type { AbortCause, Asked, CallChange } from '../../machines/index.js';
import { CallInterruptedError, CallTimeoutError, CallWithdrawnError, messageOf } from '../contract/errors.js';
import type { Journal } from '../contract/journal.js';
import type { LateOutcome, Tool } from '../contract/tool.js';
import { failureOf, resultOf } from './arguments.js';
import { attempt } from './attempt.js';
import type { Call } from './call.js';
import { validate } from './call-input.js';
import { armPublishTimeout, armTimeout, disarmPublishTimeout, disarmTimeout } from './call-timers.js';
import type { PendingAct } from './host-acts.js';
import { reportError } from './reports.js';
import type { Payload, SessionLife } from './session-life.js';

export function performForCall(life: SessionLife, call: Call, effect: Asked<Call>, payload: Payload): void {
  const { sessionId, turnId, limits } = life.settings;
  const toolUseId = call.id;
  const toolName = call.name;
  switch (effect.type) {
    case 'reportStarted':
      life.delivery.push({ type: 'tool_started', sessionId, turnId, toolUseId, toolName });
      break;
    case 'reportCompleted': {
      const { output, isError } = call.result;
      life.delivery.push({ type: 'tool_completed', sessionId, turnId, toolUseId, toolName, output, isError });
      break;
    }
    case 'reportAbandoned':
      life.delivery.push({ type: 'tool_abandoned', sessionId, turnId, toolUseId, toolName });
      break;
    case 'reportRejected':
      reportError(life, `the far side refused the result of call ${call.id}: ${messageOf(payload.error)}`);
      break;
    case 'reportUnconfirmed':
      reportError(
        life,
        `the far side did not answer the result of call ${call.id} within ${limits.publishTimeoutMs} ms`,
      );
      break;
    case 'validate':
      validate(life, call);
      break;
    case 'requestApproval':
      life.note({ type: 'approval_requested', id: call.id, name: call.name, input: call.input });
      break;
    case 'performAct':
      (payload.act as PendingAct).resolve();
      break;
    case 'flush':
      flush(life, call);
      break;
    case 'execute':
      execute(life, call);
      break;
    case 'armTimeout':
      armTimeout(life, call);
      break;
    case 'disarmTimeout':
      disarmTimeout(life, call);
      break;
    case 'publish':
      publish(life, call);
      break;
    case 'armPublishTimeout':
      armPublishTimeout(life, call);
      break;
    case 'disarmPublishTimeout':
      disarmPublishTimeout(life, call);
      break;
    case 'abortSignal':
      call.abortSignal(abortReason(life, call, (effect.params as { because: AbortCause }).because));
      break;
    case 'stub':
      stub(life, call);
      break;
    case 'noteSettledLate':
      noteSettledLate(life, call);
      break;
    case 'tellLate':
      tellLate(life, call);
      break;
    case 'callChanged':
      noteChange(life, call, effect.params as CallChange);
      break;
  }
}

function flush(life: SessionLife, call: Call): void {
  const journal = life.settings.journal as Journal;
  attempt(
    () => journal.flush(),
    () => life.callHappens(call, 'flushed'),
    (error) => life.happens('flush_failed', { error }),
  );
}

function execute(life: SessionLife, call: Call): void {
  const tool = call.tool as Tool;
  call.codeRuns = true;
  attempt(
    () => tool.execute(call.input as never, call.contextFor(life.settings)),
    (value) =>
      life.callHappens(call, 'code_resolved', { result: resultOf(value), late: { status: 'resolved', value } }),
    (error) =>
      life.callHappens(call, 'code_rejected', { result: failureOf(error), late: { status: 'rejected', error } }),
  );
}

function publish(life: SessionLife, call: Call): void {
  const { output, isError } = call.result;
  attempt(
    () => life.driver.sendToolResult(call.id, output, isError),
    () => life.callHappens(call, 'publish_accepted'),
    (error) => life.callHappens(call, 'publish_rejected', { error }),
  );
}

function stub(life: SessionLife, { id }: Call): void {
  const { driver } = life;
  attempt(
    () => (typeof driver.abandonToolCall === 'function' ? driver.abandonToolCall(id) : undefined),
    () => {},
    (error) => life.diagnose('abandon_failed', `abandonToolCall(${id}) was rejected: ${messageOf(error)}`),
  );
}

function abortReason(life: SessionLife, call: Call, because: AbortCause): unknown {
  switch (because) {
    case 'timeout':
      return new CallTimeoutError(call.id, call.tool?.timeoutMs ?? 0);
    case 'interruption':
      return new CallInterruptedError(call.id);
    case 'withdrawal':
      return new CallWithdrawnError(call.id);
    case 'session_end':
      return life.endError;
  }
}

function noteChange(life: SessionLife, call: Call, { from, to }: CallChange): void {
  if (!life.isNoted) return;
  const { id, name, input, result } = call;
  const at = life.settings.clock.now();
  const hasInput = from === 'admitted' && (to === 'queued' || to === 'awaiting_approval');
  if (hasInput) life.note({ type: 'call', id, name, from, to, input, at });
  else if (from === null) {
    life.note(
      { type: 'call', id, name, from, to, at },
      { type: 'call', id, name, from, to, at, arguments: call.arguments },
    );
  } else if (to === 'publishing') {
    life.note({ type: 'call', id, name, from, to, at }, { type: 'call', id, name, from, to, at, result });
  } else life.note({ type: 'call', id, name, from, to, at });
}

function noteSettledLate(life: SessionLife, { id, name, late }: Call): void {
  if (late?.status === 'resolved') {
    life.note({ type: 'settled_late', id, name, outcome: 'resolved', value: late.value });
  } else if (late?.status === 'rejected') {
    life.note({ type: 'settled_late', id, name, outcome: 'rejected', value: late.error });
  }
}

/**
 * With a durable journal the notice is given when its record is durable, so that no recovery gives it again. Where that
 * fails it is not given: the recovery will.
 */
function tellLate(life: SessionLife, { id, name, tool, late }: Call): void {
  const { sessionId, turnId, journal } = life.settings;
  if (typeof tool?.onLate !== 'function') return;
  const tell = () =>
    attempt(
      () => tool.onLate?.(late as LateOutcome, { id, name, sessionId, turnId }),
      () => {},
      (thrown) => life.threw(thrown),
    );
  if (!journal?.durable) tell();
  else
    attempt(
      () => journal.flush(),
      tell,
      (error) => life.happens('flush_failed', { error }),
    );
}
