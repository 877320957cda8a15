/** Whatever a session has lived through, its journal verifies clean, and replays to where it stood. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe } from 'vitest';
import { verify } from '../../src/verify/verify.js';
import { ending, scenario } from '../properties/arbitraries.js';
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
    if (!isDeepStrictEqual({ ...unfinished }, { sessions: 0, calls: 0, conversations: 0, transactions: 0 })) {
      problems.push(`unfinished: ${JSON.stringify(unfinished)}`);
    }
    if (problems.length > 0) throw new Broken(problems, fileOf(story.header, entries, 'its journal is not sound'));
  });
});
