/** D3, D5, D16: what an interruption and a withdrawal do, and the signals of code. */
import {
  CallInterruptedError,
  CallTimeoutError,
  CallWithdrawnError,
  SessionEndedError,
} from '../../../src/contract/errors.js';
import type { Indexed, Story } from './story.js';

/** What one call owes to an interruption or a withdrawal, in order. */
interface Due {
  readonly what: 'abandoned' | 'aborted' | 'stub';
  readonly id: string;
  readonly optional: boolean;
}

/** Where each call stands at a place of the log. */
class Standing {
  /** Started, not published, not ended: in order of admission. */
  readonly open = new Set<string>();
  readonly running = new Map<string, { readonly at: number }>();
  readonly settledIn = new Map<string, number>();

  hear(fact: Indexed): void {
    if ('event' in fact) {
      const { event } = fact;
      if (event.type === 'tool_started') this.open.add(event.toolUseId);
      if (event.type === 'tool_abandoned') this.open.delete(event.toolUseId);
    } else if ('driver' in fact && fact.driver === 'sendToolResult') this.open.delete(fact.id ?? '');
    else if ('code' in fact) {
      if (fact.is === 'started') this.running.set(fact.code, { at: fact.at });
      else if (fact.is !== 'aborted') {
        this.running.delete(fact.code);
        this.settledIn.set(fact.code, fact.era);
      }
    }
  }
}

const settles = (fact: Indexed) => 'code' in fact && (fact.is === 'resolved' || fact.is === 'rejected');

/** Facts that a session makes within its steps, and that concern calls. */
function performedOf(fact: Indexed): Pick<Due, 'what' | 'id'> | undefined {
  if ('event' in fact && fact.event.type === 'tool_abandoned') return { what: 'abandoned', id: fact.event.toolUseId };
  if ('code' in fact && fact.is === 'aborted') return { what: 'aborted', id: fact.code };
  if ('driver' in fact && fact.driver === 'abandonToolCall') return { what: 'stub', id: fact.id ?? '' };
  return undefined;
}

/** Facts that may stand inside a step without belonging to it. */
function isAside(fact: Indexed): boolean {
  if ('host' in fact) return fact.inside;
  if ('answered' in fact) return fact.answered === 'abandonToolCall' || fact.answered === 'flush';
  // code that heeds its signal may settle at once
  return 'lifecycle' in fact || 'late' in fact || 'journal' in fact || settles(fact);
}

export function checkInterruptions(story: Story): string[] {
  if (!story.isPrompt) return [];
  const findings: string[] = [];
  const standing = new Standing();
  const stubbed = new Set<string>();
  const interrupted = new Set<string>();
  const withdrawable = new Set<string>();
  const { facts } = story;
  for (let index = 0; index < facts.length; index++) {
    const fact = facts[index] as Indexed;
    standing.hear(fact);
    if ('far' in fact) for (const id of withdrawnBy(fact.far)) withdrawable.add(id);
    if ('event' in fact && fact.event.type === 'interrupted') {
      const due = dueAt(story, standing, fact);
      for (const { what, id } of due) if (what === 'abandoned') interrupted.add(id);
      findings.push(...compare(story, facts, index, due));
      continue;
    }
    const performed = performedOf(fact);
    if (performed === undefined) continue;
    const { what, id } = performed;
    if (what === 'stub') {
      if (stubbed.has(id)) findings.push(`D16: abandonToolCall was called twice for ${id}`);
      if (!interrupted.has(id))
        findings.push(`D16: abandonToolCall was called for ${id}, which no interruption abandoned`);
      stubbed.add(id);
    }
    if (what === 'abandoned' && !interrupted.has(id) && !withdrawable.has(id)) {
      findings.push(`D3: call ${id} was abandoned, and nothing abandons it`);
    }
  }
  return [...findings, ...checkWithdrawals(story)];
}

function withdrawnBy(far: unknown): string[] {
  if (typeof far !== 'object' || far === null) return [];
  const { type, ids } = far as Readonly<Record<string, unknown>>;
  return type === 'tool_call_cancelled' && Array.isArray(ids) ? ids : [];
}

function dueAt(story: Story, standing: Standing, { era }: Indexed): Due[] {
  const hasStub = story.plan.header.provider?.abandonToolCall === true;
  return [...standing.open].flatMap((id): Due[] => {
    const policy = story.toolOf(id)?.onInterruption ?? 'abandon';
    if (policy === 'deliver') return [];
    const due: Due[] = [{ what: 'abandoned', id, optional: false }];
    const isRunning = standing.running.has(id);
    if (policy === 'cancel' && (isRunning || standing.settledIn.get(id) === era)) {
      // the session may not have heard yet that the code has settled, or have aborted it at a timeout before
      due.push({ what: 'aborted', id, optional: !isRunning || hasTimedOut(story, id) });
    }
    if (hasStub) due.push({ what: 'stub', id, optional: false });
    return due;
  });
}

function hasTimedOut(story: Story, id: string): boolean {
  return story.codeOf(id, 'aborted').some((fact) => 'reason' in fact && fact.reason instanceof CallTimeoutError);
}

function compare(story: Story, facts: readonly Indexed[], from: number, due: readonly Due[]): string[] {
  let index = from + 1;
  for (const { what, id, optional } of due) {
    while (index < facts.length && isAside(facts[index] as Indexed)) index++;
    const fact = facts[index];
    const performed = fact === undefined ? undefined : performedOf(fact);
    if (performed?.what === what && performed.id === id) {
      index++;
      continue;
    }
    if (optional) continue;
    // a consequence that does not fit in the buffer ends the step there
    if (story.reason === 'overflow') return [];
    const invariant = what === 'abandoned' ? 'D3' : what === 'stub' ? 'D16' : 'D5';
    return [
      `${invariant}: the interruption at ${from} did not make call ${id} ${what} in its turn, found ${JSON.stringify(fact)}`,
    ];
  }
  return [];
}

/** A call that was abandoned and not by an interruption: withdrawn, with its signal, without a stub. */
function checkWithdrawals(story: Story): string[] {
  return story.all('code').flatMap((fact) => {
    if (fact.is !== 'aborted' || !(fact.reason instanceof CallWithdrawnError)) return [];
    const before = story.facts
      .slice(0, fact.index)
      .reverse()
      .find((other) => !isAside(other));
    const isIn =
      before !== undefined &&
      'event' in before &&
      before.event.type === 'tool_abandoned' &&
      before.event.toolUseId === fact.code;
    return isIn ? [] : [`D5: the signal of call ${fact.code} fired for a withdrawal that was not told`];
  });
}

/** D5: every signal has its reason, and fires where it has to. */
export function checkSignals(story: Story): string[] {
  const findings: string[] = [];
  const standing = new Standing();
  const fired = new Set<string>();
  const policyOf = (id: string) => story.toolOf(id)?.onInterruption ?? 'abandon';
  for (const fact of story.facts) {
    standing.hear(fact);
    if (!('code' in fact) || fact.is !== 'aborted') continue;
    const { code: id, reason } = fact;
    const find = (what: string) => void findings.push(`D5: the signal of call ${id} ${what}`);
    if (fired.has(id)) find('fired twice');
    fired.add(id);
    if (!standing.running.has(id) && standing.settledIn.get(id) !== fact.era)
      find('fired though its code does not run');
    if (reason instanceof CallTimeoutError) {
      const { timeoutMs = 0 } = story.toolOf(id) ?? {};
      const started = standing.running.get(id)?.at;
      if (timeoutMs === 0 || (started !== undefined && fact.at !== started + timeoutMs)) {
        find(`fired at ${fact.at} for a timeout of ${timeoutMs}, the code having started at ${started}`);
      }
    } else if (reason instanceof CallInterruptedError) {
      if (policyOf(id) !== 'cancel') find(`fired at an interruption under policy ${policyOf(id)}`);
    } else if (!(reason instanceof CallWithdrawnError)) {
      const isRight =
        story.reason === 'aborted' ? reason === story.run.abortReason : reason instanceof SessionEndedError;
      if (!isRight) find(`fired with ${String(reason)} where the session ended with ${story.reason}`);
    }
  }
  for (const [id] of standingAt(story, story.fence).running) {
    if (!fired.has(id)) findings.push(`D5: the signal of call ${id} did not fire at the end though its code runs`);
  }
  return findings;
}

function standingAt(story: Story, index: number): Standing {
  const standing = new Standing();
  for (const fact of story.facts.slice(0, index)) standing.hear(fact);
  return standing;
}
