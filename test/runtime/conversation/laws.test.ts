/** Random streams into living conversations: they are the pure fold with actors (C4, C11), whatever ends them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { isCommitpointError } from '../../../src/contract/errors.js';
import { createFold, type FoldInput, type FoldState } from '../../../src/conversation/index.js';
import { type Conversation, createConversation, type RequestEnd } from '../../../src/index.js';
import { foldInputs, type Way, ways } from '../../../src/testing/arbitraries/index.js';
import { quiet } from '../stage.js';

const ends = fc.constantFrom<readonly [string, (conversation: Conversation) => unknown]>(
  ['eof', (conversation) => attempt(() => conversation.apply({ end: 'eof' }))],
  ['error', (conversation) => attempt(() => conversation.apply({ end: 'error', message: 'reset' }))],
  ['bad frame', (conversation) => attempt(() => conversation.apply({ end: 'bad_frame', message: 'no base64' }))],
  ['cancel', (conversation) => conversation.cancel()],
  ['close', (conversation) => conversation.close()],
  ['stop', (conversation) => conversation.actor.stop()],
);

/** Runs it; only errors of ours may come. */
function attempt(run: () => void): void {
  try {
    run();
  } catch (thrown) {
    if (!isCommitpointError(thrown)) throw thrown;
  }
}

describe('for every sequence followed by any end', () => {
  it('no transaction is open, the phase is final, `ended` has resolved once (C4)', async () => {
    await fc.assert(
      fc.asyncProperty(ways, foldInputs(), ends, async (way, inputs, [name, end]) => {
        const conversation = createConversation(way);
        const promises = new Set<Promise<RequestEnd>>([conversation.ended]);
        const resolved: RequestEnd[] = [];
        const told: (RequestEnd | undefined)[] = [];
        conversation.changes$.subscribe((change) => void (change.kind === 'ended' && told.push(change.end)));
        for (const input of inputs) {
          attempt(() => conversation.apply(input));
          promises.add(conversation.ended);
        }
        end(conversation);
        promises.add(conversation.ended);
        expect(conversation.state.transaction, name).toBe('none');
        expect(['finished', 'failed', 'truncated', 'cancelled']).toContain(conversation.state.phase);
        for (const promise of promises) void promise.then((value) => resolved.push(value));
        await quiet();
        expect(resolved).toHaveLength(promises.size);
        // each end once, as it was told, each with a promise of its own
        expect(resolved).toEqual(told);
        expect(resolved.at(-1)?.phase).toBe(conversation.state.phase);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a living conversation', () => {
  function foldedBy(way: Way, inputs: readonly FoldInput[]): FoldState[] {
    const fold = createFold(way);
    const states = [fold.initial];
    for (const input of inputs) {
      const { state } = fold.take(states.at(-1) as FoldState, input);
      states.push(state);
    }
    return states;
  }

  it('is the pure fold, and its actors stand where the machines of the fold stand, at every event', () => {
    let withTransaction = 0;
    fc.assert(
      fc.property(ways, foldInputs(), fc.boolean(), (way, inputs, inspected) => {
        const open = new Set<AnyActorRef>();
        const conversation = createConversation(way);
        const look = () =>
          conversation.inspect(({ type, actorRef }) => {
            const actor = actorRef as AnyActorRef;
            if (type === '@xstate.actor' && actor.id.startsWith('transaction')) open.add(actor);
          });
        // with somebody who looks on all the time, and with nobody until the end of each event
        let detach = inspected ? look() : () => {};
        const states = foldedBy(way, inputs);
        for (const [index, input] of inputs.entries()) {
          attempt(() => conversation.apply(input));
          if (!inspected) {
            detach();
            open.clear();
            detach = look();
            detach();
          }
          const folded = states[index + 1] as FoldState;
          expect(conversation.actor.getSnapshot().value).toBe(folded.phaseOf(0));
          const { transaction } = conversation.state;
          expect(transaction).toBe(folded.conversation.transaction);
          const living = [...open].filter((actor) => actor.getSnapshot().status === 'active');
          expect(living.map((actor) => actor.getSnapshot())).toEqual(folded.parts.levels);
          if (living.length > 0) withTransaction++;
        }
        const last = states.at(-1)?.conversation;
        expect({ ...conversation.state, tasks: shown(conversation.state), earlier: [] }).toEqual({
          ...last,
          tasks: shown(last),
          earlier: [],
        });
      }),
      { numRuns: 300 },
    );
    expect(withTransaction).toBeGreaterThan(100);
  });

  function shown(state: FoldState['conversation'] | undefined): unknown {
    return [...(state?.tasks.values() ?? [])].map(({ messages, ...task }) => ({
      ...task,
      messages: messages.toArray(),
    }));
  }
});
