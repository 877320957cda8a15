import type { BidiEvent } from '../../../contract/provider.js';
import type { CaseDefinition } from '../conformance-case.js';
import { NotOffered } from '../ground.js';
import { problemOf } from '../well-formed.js';

/** What is said, and where it ends. */
export const turnCases: readonly CaseDefinition[] = [
  {
    name: 'turn_is_told_and_ends_once',
    promise: 'what the model says comes whole and in order, and each turn ends in one turn_complete',
    async run(ground) {
      const { session, reader } = await ground.open([{ text: 'One two three.' }, { text: 'Four.' }]);
      await ground.go(session);
      await ground.within(reader.of('turn_complete'), 'turn_complete');
      ground.check(reader.words === 'One two three.', () => `expected “One two three.”, found “${reader.words}”`);
      await ground.go(session);
      await ground.within(reader.says('Four.'), 'the second turn');
      const ends = reader.terminalsBefore('Four.').join(', ');
      ground.check(ends === 'turn_complete', () => `expected one turn_complete for the first turn, found ${ends}`);
      await ground.within(reader.of('turn_complete', 2), 'turn_complete');
    },
  },
  {
    name: 'interrupted_ends_the_turn_once',
    promise: 'a turn that is cut ends in one interrupted and in nothing else, and the next turn ends as ever',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'A long story.', held: true }, { text: 'Next.' }]);
      await ground.go(session);
      await ground.within(reader.says('story.'), 'the beginning of the turn');
      far.interrupt();
      await ground.within(reader.of('interrupted'), 'interrupted');
      await ground.go(session);
      await ground.within(reader.says('Next.'), 'the next turn');
      const found = reader.terminalsBefore('Next.').join(', ');
      ground.check(found === 'interrupted', () => `expected interrupted alone before the next turn, found ${found}`);
      await ground.within(reader.of('turn_complete'), 'turn_complete of the next turn');
    },
  },
  {
    name: 'nothing_of_a_cut_turn_is_heard',
    promise: 'after interrupted no output of the turn that was cut comes, whatever the wire still carries of it',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'A long story.', held: true }, { text: 'Next.' }]);
      await ground.go(session);
      await ground.within(reader.says('story.'), 'the beginning of the turn');
      far.interrupt('stale');
      await ground.within(reader.of('interrupted'), 'interrupted');
      await ground.go(session);
      await ground.within(reader.says('Next.'), 'the next turn');
      const words = reader.wordsBehind('interrupted');
      ground.check(!words.includes('stale'), () => `expected “Next.” alone after the interruption, found “${words}”`);
    },
  },
  {
    name: 'interrupt_is_acknowledged',
    promise: 'where a session has interrupt(), an interrupted event comes of it',
    async run(ground) {
      const { session, reader } = await ground.open([{ text: 'A long story.', held: true }, { text: 'Next.' }]);
      if (session.interrupt === undefined) throw new NotOffered();
      await ground.go(session);
      await ground.within(reader.says('story.'), 'the beginning of the turn');
      await ground.within(session.interrupt({ playedMs: 0 }), 'interrupt()');
      await ground.within(reader.of('interrupted'), 'interrupted');
    },
  },
  {
    name: 'events_are_well_formed',
    promise: 'every event has the fields of its type, and nothing but numbers that count and texts that are some',
    async run(ground) {
      const call = { id: 'w1', name: 'look', arguments: '{"at":"moon"}' };
      const { far, session, reader } = await ground.open([{ text: 'Let me look.', calls: [call], after: 'Full.' }]);
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      await ground.within(session.sendToolResult('w1', 'full'), 'sendToolResult()');
      await ground.within(reader.of('turn_complete'), 'turn_complete');
      far.end('over');
      await ground.within(reader.done, 'the end of the events');
      for (const event of reader.events) {
        const problem = problemOf(event as BidiEvent);
        ground.check(problem === undefined, () => `expected ${problem}, found ${JSON.stringify(event)}`);
      }
    },
  },
];
