/** Random streams into conversations that write a journal: what the records come to, and what the judge says of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseEventSchema } from '../../../proto/index.js';
import { isCommitpointError } from '../../../src/contract/errors.js';
import type { PayloadPolicy } from '../../../src/contract/journal.js';
import {
  createFold,
  type FoldInput,
  type FoldState,
  foldJournal,
  JournalFold,
  restoreCommitted,
} from '../../../src/conversation/index.js';
import { type Conversation, createConversation } from '../../../src/index.js';
import { memoryJournal } from '../../../src/journal/index.js';
import { redacted } from '../../../src/runtime/conversation/redaction.js';
import { foldInputs, type Way, ways } from '../../../src/testing/arbitraries/index.js';
import { HandJournal } from '../../../src/testing/hand-journal.js';
import { verify } from '../../../src/verify/index.js';
import { shownOf } from '../../conversation/shown.js';
import { quiet } from '../stage.js';

/** Runs it; only errors of ours may come. */
function attempt(run: () => void): void {
  try {
    run();
  } catch (thrown) {
    if (!isCommitpointError(thrown)) throw thrown;
  }
}

/** A conversation with effects, and with a second stream that reads every fifth input; and its journal. */
function lived(way: Way, inputs: readonly FoldInput[], payloads: PayloadPolicy, more: { second?: boolean } = {}) {
  const journal = memoryJournal({ payloads });
  const conversation = createConversation({ ...way, journal, id: 'c', effects: () => [() => {}, () => {}] });
  const second = more.second ? conversation.stream() : undefined;
  for (const [index, input] of inputs.entries()) {
    attempt(() => (second !== undefined && index % 3 === 0 ? second : conversation).apply(input));
  }
  return { conversation, journal };
}

const policies = fc.constantFrom<PayloadPolicy>('keep', 'hash', 'omit');
const runs = { numRuns: 100 };

describe('a journal of a conversation', () => {
  it('is found sound by the judge, whatever happens', async () => {
    let transactions = 0;
    await fc.assert(
      fc.asyncProperty(ways, foldInputs(), policies, fc.boolean(), async (way, inputs, payloads, second) => {
        const { conversation, journal } = lived(way, inputs, payloads, { second });
        conversation.close();
        const verdict = await verify(journal);
        expect(verdict.findings).toEqual([]);
        transactions += verdict.transactions;
      }),
      runs,
    );
    expect(transactions).toBeGreaterThan(10);
  });

  it('that keeps folds to what the inputs without what is sensitive fold to, at every event', () => {
    let compared = 0;
    fc.assert(
      fc.property(ways, foldInputs(), (way, inputs) => {
        const { conversation, journal } = lived(way, inputs, 'keep');
        const fold = createFold(way);
        let state: FoldState = fold.initial;
        for (const input of inputs) {
          if (state.isHalted(0)) break;
          state = fold.take(state, 'end' in input ? input : redacted(ResponseEventSchema, input)).state;
        }
        const replay = new JournalFold('c');
        for (const record of journal.records) replay.take(record);
        const { version, lastVersion, position, phase } = replay.recovered();
        expect(position).toBe(conversation.state.position);
        expect(phase).toBe(conversation.state.phase === 'streaming' ? 'truncated' : conversation.state.phase);
        expect(version).toBeLessThanOrEqual(lastVersion);
        // where what was redacted has decided, no state is given
        if (replay.state === undefined) return;
        compared++;
        expect(shownOf(replay.state.conversation)).toEqual(shownOf(state.conversation));
        expect(replay.state.parts.levels).toEqual(state.parts.levels);
        expect(replay.state.conversation.transaction).toBe(conversation.state.transaction);
      }),
      runs,
    );
    expect(compared).toBeGreaterThan(60);
  });

  it('is continued: what comes after a recovery is what comes after the committed state', () => {
    fc.assert(
      fc.property(ways, foldInputs(), foldInputs(), fc.boolean(), (way, before, after, sameJournal) => {
        const { journal } = lived(way, before, 'keep');
        const recovered = foldJournal('c', journal.records);
        if (recovered.state === undefined) return;
        const next = sameJournal ? journal : memoryJournal({ payloads: 'keep' });
        const conversation = createConversation({ journal: next, from: recovered });
        expect(shownOf(conversation.state)).toEqual(shownOf(restoreCommitted(recovered.state).conversation));
        expect(conversation.state.transaction).toBe('none');
        for (const input of after) attempt(() => conversation.apply(input));
        const again = new JournalFold('c');
        for (const record of next.records) again.take(record);
        const { position, lastTransaction, lastVersion } = again.recovered();
        expect(position).toBe(conversation.state.position);
        expect(lastTransaction).toBeGreaterThanOrEqual(recovered.lastTransaction);
        expect(lastVersion).toBeGreaterThanOrEqual(recovered.lastVersion);
      }),
      runs,
    );
  });

  it('that is durable delays what is told and run, and changes nothing else, however its flushes are answered', async () => {
    await fc.assert(
      fc.asyncProperty(ways, foldInputs(), fc.infiniteStream(fc.nat(3)), async (way, inputs, pauses) => {
        const journal = new HandJournal(true, async () => {
          for (let left = pauses.next().value ?? 0; left > 0; left--) await undefined;
        });
        const [plain, durable] = [undefined, journal].map((into) => {
          const log: string[] = [];
          const conversation = createConversation({
            ...way,
            ...(into && { journal: into }),
            effects: ({ action }, { position }) => [() => void log.push(`ran ${position} ${action.case}`)],
          });
          conversation.changes$.subscribe(({ event, kind }) => void log.push(`${event} ${kind}`));
          return { conversation, log };
        }) as [Told, Told];
        for (const input of inputs) {
          attempt(() => plain.conversation.apply(input));
          attempt(() => durable.conversation.apply(input));
          expect(durable.conversation.state.phase).toBe(plain.conversation.state.phase);
          if (pauses.next().value === 0) await quiet();
        }
        await durable.conversation.flush();
        await quiet();
        for (const of of [/^\d/, /^ran/]) {
          expect(durable.log.filter((line) => of.test(line))).toEqual(plain.log.filter((line) => of.test(line)));
        }
        expect((await verify(journal)).findings).toEqual([]);
      }),
      runs,
    );
  });
});

interface Told {
  readonly conversation: Conversation;
  readonly log: string[];
}
