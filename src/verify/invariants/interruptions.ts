/** What an interruption and a withdrawal do to calls, and what they leave alone: D3, D4, D5, D16. */
import * as call from './call-facts.js';
import { asksFor, callNamed, type SessionInvariant, timesAsked } from './rule.js';
import type { Step } from './steps.js';

const isAbandoned = (state: number) => state === call.draining || state === call.settled;

/** Whether this step abandons the call. */
function abandons(known: number, step: Step): boolean {
  return !isAbandoned(call.callStateIn(known)) && isAbandoned(call.callStateNumbered(step.to));
}

export const D3: SessionInvariant = {
  number: 'D3',
  sentence:
    'an interruption abandons exactly the calls not yet at the commit point (but for deliver), unstarted ones included; a withdrawal those that it names; unstarted code never starts',
  reads: 'event, from, to and did of calls; event of the session; candidate.policy, ids, room',
  step(facts, step, group, breaches) {
    const { call: id, event } = step;
    if (id === undefined) return;
    const known = facts.call(id);
    if (!abandons(known, step)) return;
    if (event === 'interrupted' && group.type === 'interrupted') {
      if (call.isDeliver(known)) {
        breaches.add('D3', `${callNamed(id)} is abandoned by an interruption, and its policy is deliver`);
      }
    } else if (event === 'withdrawn' && group.type === 'tool_call_cancelled') {
      if (group.ids?.includes(id) !== true) {
        breaches.add(
          'D3',
          `${callNamed(id)} is withdrawn, and the far side named ${group.ids?.join(', ') || 'nobody'}`,
        );
      }
    } else breaches.add('D3', `${callNamed(id)} is abandoned without an interruption and without a withdrawal`);
    if (!asksFor(step, 'reportAbandoned')) {
      breaches.add('D3', `${callNamed(id)} is abandoned, and the host is not told at that moment`);
    }
  },
  end(facts, group, breaches) {
    // where the host's buffer was too full for an abandonment, it did not happen and the session has ended
    if (!facts.isOpen || !facts.shown.hasStepped) return;
    if (group.type === 'interrupted') {
      for (const [id, known] of facts.live()) {
        if (!call.isBeforeCommitPoint(call.callStateIn(known)) || call.isDeliver(known)) continue;
        breaches.add('D3', `the far side was interrupted, and ${callNamed(id)} goes on ${call.callStateName(known)}`);
      }
    } else if (group.type === 'tool_call_cancelled') {
      for (const id of group.ids ?? []) {
        const known = facts.call(id);
        if (!call.isBeforeCommitPoint(call.callStateIn(known))) continue;
        breaches.add('D3', `the far side withdrew ${callNamed(id)}, which goes on ${call.callStateName(known)}`);
      }
    }
  },
};

/** What ends `publishing`, and how. */
const answers: ReadonlyMap<string, number> = new Map([
  ['publish_accepted', call.completed],
  ['publish_rejected', call.rejected],
  ['publish_timed_out', call.unconfirmed],
  ['session_ended', call.unconfirmed],
]);

export const D4: SessionInvariant = {
  number: 'D4',
  sentence: 'once a call is publishing, no conversational event changes its outcome',
  reads: 'event, from and to of calls',
  step(facts, { call: id, event, to }, _group, breaches) {
    if (id === undefined) return;
    const next = call.callStateNumbered(to);
    if (call.callStateIn(facts.call(id)) !== call.publishing || next === call.publishing) return;
    const answer = answers.get(event);
    if (answer === undefined) {
      breaches.add('D4', `${callNamed(id)} was publishing, and ${event} makes it ${to}`);
    } else if (answer !== next) {
      breaches.add('D4', `${callNamed(id)} was publishing, and after ${event} it is ${to}`);
    }
  },
};

/** The event that each cause of an abort belongs to. */
const eventOf: Readonly<Record<string, string>> = {
  timeout: 'timed_out',
  interruption: 'interrupted',
  withdrawal: 'withdrawn',
  session_end: 'session_ended',
};

export const D5: SessionInvariant = {
  number: 'D5',
  sentence:
    'an interruption never aborts the signal of a tool (but for cancel, and a withdrawal always does); the end of the session aborts the signal of all code that still runs, draining code included; signals of code that has settled are left alone',
  reads: 'did (abortSignal and its cause), event and to of calls; candidate.policy',
  step(facts, step, _group, breaches) {
    const { call: id, event, did } = step;
    if (id === undefined) return;
    const known = facts.call(id);
    const runs = (known & call.codeRuns) !== 0 && event !== 'code_resolved' && event !== 'code_rejected';
    for (let index = 0; index < did.length; index++) {
      const act = did[index];
      if (act?.effect !== 'abortSignal') continue;
      const cause = act.detail ?? '';
      if (!runs) breaches.add('D5', `the signal of ${callNamed(id)} is aborted, and no code of it runs`);
      else if (eventOf[cause] !== event) {
        breaches.add('D5', `the signal of ${callNamed(id)} is aborted for ${cause || 'no cause'} at ${event}`);
      } else if (cause === 'interruption' && !call.isCancel(known)) {
        breaches.add('D5', `an interruption aborts the signal of ${callNamed(id)}, whose policy is not cancel`);
      }
    }
    if (!runs || (known & call.signalled) !== 0 || !abandons(known, step)) return;
    const isDue = event === 'withdrawn' || (event === 'interrupted' && call.isCancel(known));
    if (isDue && !asksFor(step, 'abortSignal')) {
      breaches.add('D5', `${callNamed(id)} is ${event}, and the signal of its code is not aborted`);
    }
  },
  end(facts, _group, breaches) {
    if (!facts.hasJustEnded || facts.running === 0) return;
    for (const [id, known] of facts.live()) {
      if ((known & call.codeRuns) === 0 || (known & call.signalled) !== 0) continue;
      breaches.add('D5', `the session has ended, and the signal of ${callNamed(id)}, whose code runs, is not aborted`);
    }
  },
};

export const D16: SessionInvariant = {
  number: 'D16',
  sentence:
    'where the driver has abandonToolCall, it is called exactly once per call abandoned by an interruption, and for no other',
  reads: 'did (stub), event, from and to of calls',
  step(facts, step, _group, breaches) {
    const { call: id, event } = step;
    if (id === undefined) {
      if (asksFor(step, 'stub')) breaches.add('D16', 'a stub is asked for, and it is no call that asks');
      return;
    }
    const times = timesAsked(step, 'stub');
    const known = facts.call(id);
    const isDue = event === 'interrupted' && abandons(known, step);
    if (times === 0) {
      if (isDue) breaches.add('D16', `${callNamed(id)} is abandoned by an interruption without a stub`);
    } else if (times > 1 || (known & call.stubbed) !== 0) breaches.add('D16', `${callNamed(id)} has two stubs`);
    else if (!isDue) breaches.add('D16', `${callNamed(id)} has a stub, and no interruption has abandoned it`);
  },
};
