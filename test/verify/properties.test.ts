/** Whatever a session has lived through, its journal verifies clean, and replays to where it stood. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe } from 'vitest';
import { isCommitpointError } from '../../src/contract/errors.js';
import { createConversation } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { foldInputs, scenario, ways } from '../../src/testing/arbitraries/index.js';
import { replay, verify } from '../../src/verify/index.js';
import { ending } from '../properties/ending.js';
import { fileOf, play } from '../properties/played.js';
import { Broken, property } from '../properties/property.js';

const histories = fc.tuple(scenario(), ending);

describe('of random sessions', () => {
  property('the journal verifies clean, invariants and replay', histories, async ([story, end]) => {
    const { simulator, entries } = await play(story, end);
    const { findings, sessions, calls, unfinished } = await verify(simulator.journal);
    const problems = findings.map(({ invariant, seq, actor, what }) => `${invariant} at ${seq} (${actor}): ${what}`);
    const admitted = simulator.session.calls().length;
    if (sessions !== 1 || calls !== admitted)
      problems.push(`counted ${sessions} sessions and ${calls} calls of ${admitted}`);
    if (
      !isDeepStrictEqual(
        { ...unfinished },
        { sessions: 0, calls: 0, conversations: 0, transactions: 0, supervisors: 0 },
      )
    ) {
      problems.push(`unfinished: ${JSON.stringify(unfinished)}`);
    }
    if (problems.length > 0) throw new Broken(problems, fileOf(story.header, entries, 'its journal is not sound'));
  });
});

describe('at every record', () => {
  property(
    'a replay stands where the records up to it say',
    fc.tuple(scenario(), ending, fc.double({ min: 0, max: 1, noNaN: true })),
    async ([story, end, share]) => {
      const { simulator, entries } = await play(story, end);
      const { journal } = simulator;
      const at = Math.ceil(share * journal.length);
      const states = new Map<string, string>();
      for (const { actor, to } of journal.slice(0, at)) states.set(actor, to);
      const { sessions, findings, records } = await replay(journal, { at });
      const [session] = sessions;
      const replayed = new Map<string, string>();
      if (session !== undefined) replayed.set(session.id, session.state);
      for (const { id, state } of session?.calls ?? []) replayed.set(`${session?.id}/${id}`, state);
      const recorded = new Map(
        [...states].map(([actor, to]) => [actor, to.startsWith('abandoned') ? 'abandoned' : to]),
      );
      const problems = findings.map(({ invariant, what }) => `${invariant}: ${what}`);
      if (records !== at || !isDeepStrictEqual(replayed, recorded)) {
        problems.push(`at ${at}: replayed ${JSON.stringify([...replayed])}, recorded ${JSON.stringify([...recorded])}`);
      }
      if (at === journal.length && session?.reason !== (await simulator.session.closed).reason) {
        problems.push(`replayed the reason ${session?.reason}`);
      }
      if (problems.length > 0) throw new Broken(problems, fileOf(story.header, entries, `replayed at ${at}`));
    },
  );
});

/** What a test does with a conversation: an input of one of its streams. */
const readings = fc.record({
  way: ways,
  first: foldInputs(),
  second: foldInputs(),
  /** Which stream is read from next. */
  turns: fc.array(fc.boolean(), { maxLength: 40 }),
  payloads: fc.constantFrom('keep', 'hash', 'omit'),
  hasEffects: fc.boolean(),
  /** Where the journal is cut off once more. */
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('of random conversations', () => {
  property(
    'the journal of a conversation verifies clean, invariants and replay',
    readings,
    async ({ way, first, second, turns, payloads, hasEffects, share }) => {
      const journal = memoryJournal({ payloads });
      const effects = hasEffects ? { effects: () => [() => {}, () => {}] } : {};
      const conversation = createConversation({ ...way, ...effects, journal });
      const other = conversation.stream();
      const waiting = [first.slice(), second.slice()];
      for (const isSecond of [...turns, ...first.map(() => false), ...second.map(() => true)]) {
        const input = waiting[isSecond ? 1 : 0]?.shift();
        if (input === undefined) continue;
        try {
          (isSecond ? other : conversation).apply(input);
        } catch (error) {
          if (!isCommitpointError(error)) throw error;
        }
      }
      const { findings, conversations } = await verify(journal);
      const problems = findings.map(({ invariant, seq, actor, what }) => `${invariant} at ${seq} (${actor}): ${what}`);
      const cut = journal.records.slice(0, Math.ceil(share * journal.records.length));
      for (const { invariant, seq, what } of (await verify(cut)).findings) {
        problems.push(`cut off behind record ${cut.length}: ${invariant} at ${seq}: ${what}`);
      }
      if (conversations !== 1) problems.push(`counted ${conversations} conversations`);
      const {
        conversations: [replayed],
      } = await replay(journal);
      const { phase, transaction } = conversation.state;
      if (replayed?.phase !== phase || replayed.transaction !== transaction) {
        problems.push(`stands ${phase}, ${transaction}; replayed ${replayed?.phase}, ${replayed?.transaction}`);
      }
      if (problems.length > 0)
        throw new Broken(
          problems,
          journal.records.map((record) => JSON.stringify({ ...record, data: undefined })).join('\n'),
        );
    },
  );
});
