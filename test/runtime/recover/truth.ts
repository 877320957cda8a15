/** Whether what a recovery says of calls is true to what was done to the world. */
import type { Recovery } from '../../../src/runtime/index.js';
import { type Facts, nothing } from './world.js';

/** What is untrue, one line each. `writesAhead`: whether intents were durable before they were acted on. */
export function untruthsOf(
  { calls, failures }: Recovery,
  factsOf: ReadonlyMap<string, Facts>,
  writesAhead: boolean,
): string[] {
  const untruths: string[] = [];
  const known = new Map(calls.map((call) => [call.id, call]));
  if (known.size !== calls.length) untruths.push('a call is listed twice');
  for (const { error } of failures) untruths.push(`a notice failed: ${String(error)}`);
  for (const [id, { effect, started, published, told }] of factsOf) {
    const say = (what: string) => untruths.push(`${id}: ${what}`);
    if (started > 1) say(`its code ran ${started} times`);
    if (published > 1) say(`its result was published ${published} times`);
    if (told > 1) say(`onLate was told ${told} times by the run`);
    if (!writesAhead || known.has(id)) continue;
    if (started > 0 && effect !== 'read')
      say(`code with effect ${effect} was started, and the journal knows nothing of it`);
    if (published > 0) say('its result was published, and the journal knows nothing of it');
  }
  for (const { id, outcome, code, notice, state } of calls) {
    const facts = factsOf.get(id) ?? nothing;
    const say = (what: string) =>
      untruths.push(`${id} in ${state}: ${outcome}, code ${code}, notice ${notice}, but ${what}`);
    const { started, ended, published, answered, told } = facts;
    if (code === 'never_started' && started > 0) say('its code was started');
    if ((code === 'resolved' || code === 'rejected') && !ended) say('its code has not ended');
    switch (outcome) {
      case 'not_started':
        if (started > 0) say('its code was started');
        if (published > 0) say('its result was published');
        break;
      case 'outcome_unknown':
        if (code !== 'unknown') say('its code is known');
        if (writesAhead && published > 0) say('its result was published');
        break;
      case 'publish_unknown':
        break;
      case 'delivered':
        if (answered !== 'accepted') say('the far side accepted nothing');
        break;
      case 'refused':
        if (answered !== 'refused') say('the far side refused nothing');
        break;
      case 'abandoned':
        if (published > 0) say('its result was published');
        if (started > 0 && !ended) say('its code was started and has not ended');
        break;
    }
    if (notice === 'given' && writesAhead && told > 0) say('the run had told onLate already');
    if (notice === 'given' && code !== 'unknown') say('the end of its code is known');
    if (notice === 'pending') say('a tool of its name was there');
  }
  return untruths;
}
