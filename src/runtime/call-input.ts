/** How the arguments of a call become the input of its tool: read, validated, and let pass by the host. */
import { messageOf } from '../contract/errors.js';
import type { Tool, Verdict } from '../contract/tool.js';
import { errorResult, parseArguments } from './arguments.js';
import { adopted, isThenable } from './attempt.js';
import type { Call } from './call.js';
import { armTimeout } from './call-timers.js';
import type { SessionLife } from './session-life.js';

/** Judges the arguments of a call; what comes of it enters as an event of the call. */
export function validate(life: SessionLife, call: Call): void {
  const { tool } = call;
  if (call.refused) {
    const most = life.settings.limits.maxOpenCalls;
    refuseInput(life, call, `too many calls: ${most} are open already; wait for their results, then ask again`);
    return;
  }
  if (tool === undefined) {
    refuseInput(life, call, `unknown tool: ${call.name}`);
    return;
  }
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) {
    refuseInput(life, call, parsed.problem);
    return;
  }
  const refuse = (thrown: unknown): void => refuseInput(life, call, messageOf(thrown));
  const judge = (verdict: Verdict): void => {
    if (verdict.ok) letPass(life, call, tool, verdict.value);
    else refuseInput(life, call, verdict.problem);
  };
  let verdict: Verdict | PromiseLike<Verdict>;
  let isPending: boolean;
  try {
    verdict = tool.validate(parsed.value as Record<string, unknown>);
    isPending = isThenable(verdict);
  } catch (thrown) {
    refuse(thrown);
    return;
  }
  if (!isPending) {
    judge(verdict as Verdict);
    return;
  }
  armTimeout(life, call);
  adopted(verdict).then(judge, refuse);
}

function refuseInput(life: SessionLife, call: Call, problem: string): void {
  life.callHappens(call, 'input_refused', { result: errorResult(problem) });
}

function letPass(life: SessionLife, call: Call, tool: Tool, value: unknown): void {
  // a call that was abandoned meanwhile needs nobody's approval
  if (call.state !== 'admitted') return;
  const { needsApproval } = tool;
  let asks: unknown = needsApproval;
  if (typeof needsApproval === 'function') {
    try {
      asks = needsApproval(value as never, call.contextFor(life.settings));
    } catch (thrown) {
      refuseInput(life, call, messageOf(thrown));
      return;
    }
    // an answer that is no boolean is taken on the safe side
    if (typeof asks !== 'boolean') adopted(asks).catch(() => {});
  }
  life.callHappens(call, asks === false ? 'input_accepted' : 'approval_required', { input: { value } });
}
