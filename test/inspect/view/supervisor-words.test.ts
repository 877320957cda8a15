/** A supervisor's steps in words: of one that is recorded, and of one that is only watched, whose machine names nobody. */
import { expect, test } from 'vitest';
import { whyOfSupervisor } from '../../../src/inspect/view/supervisor-words.js';

const why = (effect: string, detail?: string) =>
  whyOfSupervisor({
    actor: 'sup',
    kind: 'supervisor',
    event: 'incarnation_ended',
    from: 'running',
    to: 'running',
    did: [{ effect, ...(detail === undefined ? {} : { detail }) }],
  });

test.each<[string, string | undefined, string]>([
  ['armRestart', 'desk ses_1 stream_ended', 'desk is started again: its incarnation ses_1 ended (stream_ended)'],
  ['armRestart', undefined, 'a session is started again: its incarnation ended'],
  [
    'reportFailure',
    'desk ses_1 stream_ended',
    'desk has failed for good: it ended (stream_ended) more often than it may',
  ],
  ['reportFailure', undefined, 'a session has failed for good: it ended more often than it may'],
  ['armDeadline', '500', 'what has not finished in 500 ms is closed'],
  ['armDeadline', undefined, 'what has not finished in time is closed'],
])('%s of %s', (effect, detail, words) => {
  expect(why(effect, detail)).toBe(words);
});
