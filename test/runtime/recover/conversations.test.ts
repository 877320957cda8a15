/** Conversations, wherever their process dies: what was committed is given back, goes on, and the judge finds nothing wrong. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { isCommitpointError } from '../../../src/contract/errors.js';
import { createConversation, recover } from '../../../src/runtime/index.js';
import { foldInputs, ways } from '../../../src/testing/arbitraries/index.js';
import { verify } from '../../../src/verify/index.js';
import { actions, init, task } from '../../conversation/events.js';
import { shownOf } from '../../conversation/shown.js';
import { property } from '../../properties/property.js';
import { expectNoHarm } from '../no-harm.js';
import { LeftJournal } from './world.js';

expectNoHarm();

/** Runs it; only errors of ours may come. */
function attempt(run: () => void): void {
  try {
    run();
  } catch (thrown) {
    if (!isCommitpointError(thrown)) throw thrown;
  }
}

/** How often a state was given back that went on and was not given back again: never but where what was redacted decides. */
let lost = 0;
let restored = 0;
afterAll(() => {
  expect(restored).toBeGreaterThan(100);
  expect(lost).toBeLessThan(restored / 20);
});

property(
  'what is left of the journal of a conversation gives it back, and takes it on',
  fc.tuple(ways, foldInputs(), fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 })),
  async ([way, inputs, cuts]) => {
    const whole = new LeftJournal([]);
    const lived = createConversation({ ...way, journal: whole, id: 'c', effects: () => [() => {}] });
    for (const input of inputs) attempt(() => lived.apply(input));
    await lived.flush();
    for (const cut of cuts) {
      const left = new LeftJournal(whole.records.slice(0, 1 + Math.floor(cut * (whole.records.length - 1))));
      const { conversations, openTransactions } = await recover(left, { tools: [] });
      expect([conversations.length, openTransactions]).toEqual([1, []]);
      const [from] = conversations;
      if (from?.state === undefined) continue;
      restored++;
      expect(from.state.conversation.transaction).toBe('none');
      const next = createConversation({ from, journal: left });
      expect(shownOf(next.state)).toEqual(shownOf(from.state.conversation));
      attempt(() => next.apply(init('next', 'next')));
      attempt(() => next.apply(actions(task('next', next.state.rootTaskId))));
      await next.flush();
      next.close();
      expect((await verify(left)).findings).toEqual([]);
      const again = await recover(left, { tools: [] });
      const state = again.conversations[0]?.state;
      if (state !== undefined) expect(shownOf(state.conversation)).toEqual(shownOf(next.state));
      else lost++;
    }
  },
  0.4,
);

test('a conversation whose beginning is not held any more is passed over', async () => {
  const whole = new LeftJournal([]);
  const conversation = createConversation({ journal: whole, id: 'c' });
  conversation.apply(init());
  const rest = new LeftJournal(whole.records.slice(1));
  expect((await recover(rest, { tools: [] })).conversations).toEqual([]);
  expect((await recover(whole, { tools: [], conversations: false })).conversations).toEqual([]);
  expect((await recover(whole, { tools: [] })).conversations).toMatchObject([{ id: 'c', phase: 'truncated' }]);
});
