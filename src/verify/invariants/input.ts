/** What comes in with a `tool_call`: D12, D13. */
import * as call from './call-facts.js';
import { asksFor, callNamed, type SessionInvariant } from './rule.js';
import { responding, waiting } from './session-facts.js';
import { notTold } from './steps.js';

export const D12: SessionInvariant = {
  number: 'D12',
  sentence:
    'malformed or refused input never reaches a tool; each such call gets exactly one error result, unless the session ends or the call is abandoned first',
  reads: 'event, to and did (execute, publish and whether it is an error) of calls',
  step(facts, step, _group, breaches) {
    const { call: id, event, to, did } = step;
    if (id === undefined) return;
    const known = facts.call(id);
    if (asksFor(step, 'execute') && (known & call.inputAccepted) === 0) {
      const why = (known & call.inputRefused) !== 0 ? 'was refused' : 'nobody has accepted';
      breaches.add('D12', `${callNamed(id)} is executed with input that ${why}`);
    }
    if ((known & call.inputRefused) === 0 && event !== 'input_refused') return;
    for (let index = 0; index < did.length; index++) {
      const act = did[index];
      if (act?.effect !== 'publish' || act.detail === 'error' || act.detail === notTold) continue;
      breaches.add('D12', `the input of ${callNamed(id)} was refused, and its result is no error`);
    }
    const next = call.callStateNumbered(to);
    const isAnswered = next === call.completed || next === call.rejected;
    if (isAnswered && next !== call.callStateIn(known) && (known & call.published) === 0) {
      breaches.add('D12', `the input of ${callNamed(id)} was refused, and it is ${to} without an error result`);
    }
    if (event === 'input_refused' && next !== call.committing && next !== call.publishing && !facts.isFenced) {
      breaches.add(
        'D12',
        `the input of ${callNamed(id)} was refused, and it is ${to}, not on its way to an error result`,
      );
    }
  },
};

export const D13: SessionInvariant = {
  number: 'D13',
  sentence: 'a repeated id is a protocol failure and runs nothing',
  reads: 'candidate.id; event and to of every record of the group',
  step(facts, { call: id, event }, group, breaches) {
    if (id !== undefined) {
      if (event === '' && facts.call(id) !== 0) breaches.add('D13', `${callNamed(id)} is admitted a second time`);
    } else if (event === 'repeated_call' && facts.isOpen && facts.call(group.candidate?.id ?? '') === 0) {
      breaches.add('D13', `${callNamed(group.candidate?.id)} counts as repeated, and was never seen before`);
    }
  },
  end(facts, group, breaches) {
    const { shown } = facts;
    const { candidate } = group;
    if (candidate === undefined || shown.admissions > 0 || facts.call(candidate.id) === 0) return;
    const wasOpen = shown.before === waiting || shown.before === responding;
    if (wasOpen && shown.endedBy !== 'repeated_call') {
      breaches.add('D13', `the far side repeats ${callNamed(candidate.id)}, and that is no protocol failure`);
    }
  },
};
