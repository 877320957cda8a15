import type { CaseDefinition } from '../conformance-case.js';
import { watchRejections } from '../unhandled.js';

const text = { type: 'text', text: 'too late' } as const;
const look = { id: 'c1', name: 'look', arguments: '{}' };

/** How sessions end, and what comes after. */
export const endCases: readonly CaseDefinition[] = [
  {
    name: 'close_ends_everything',
    promise:
      'close() ends the events without giving what waits, lets go of the connection, and resolves; so does a second one',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'A long story.', held: true }]);
      await ground.go(session);
      await ground.within(reader.says('story.'), 'the beginning of the turn');
      const before = reader.events.length;
      await ground.within(session.close(), 'close()');
      await ground.within(reader.done, 'the end of the events');
      ground.check(
        reader.events.length === before,
        () => `expected no event after close(), found ${JSON.stringify(reader.events.slice(before))}`,
      );
      await ground.within(far.gone(), 'the connection to be let go');
      await ground.within(session.close(), 'a second close()');
    },
  },
  {
    name: 'acts_after_close_reject',
    promise: 'after close() send and sendToolResult reject, and nothing is sent',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look] }]);
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      await ground.within(session.close(), 'close()');
      await ground.rejection(session.send(text), 'send() after close()');
      await ground.rejection(session.sendToolResult('c1', 'late'), 'sendToolResult() after close()');
      ground.check(far.results.length === 0, () => 'expected nothing to be sent, found a result');
    },
  },
  {
    name: 'acts_after_the_far_end_reject',
    promise: 'after the far side has ended the connection send and sendToolResult reject',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look] }]);
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      far.end('over');
      await ground.within(reader.done, 'the end of the events');
      await ground.rejection(session.send(text), 'send() after the end');
      await ground.rejection(session.sendToolResult('c1', 'late'), 'sendToolResult() after the end');
    },
  },
  {
    name: 'closed_is_last_and_says_why',
    promise: 'when the far side ends the connection, one closed event with its reason is the last event',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'Bye.' }]);
      await ground.go(session);
      await ground.within(reader.of('turn_complete'), 'turn_complete');
      far.end('gone for lunch');
      await ground.within(reader.done, 'the end of the events');
      const closed = reader.events.filter((event) => event.type === 'closed');
      const last = reader.events.at(-1);
      ground.check(
        closed.length === 1 && last?.type === 'closed',
        () => `expected one closed event, and last, found ${reader.events.map(({ type }) => type)}`,
      );
      const [{ reason } = { reason: undefined }] = closed;
      ground.check(
        reason?.includes('gone for lunch') === true,
        () => `expected the reason of the far side, found ${JSON.stringify(reason)}`,
      );
    },
  },
  {
    name: 'a_cut_is_closed',
    promise: 'a connection that breaks in the midst of a turn gives a closed event with a reason, and the events end',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'A long story.', held: true }]);
      await ground.go(session);
      await ground.within(reader.says('story.'), 'the beginning of the turn');
      far.cut();
      await ground.within(reader.done, 'the end of the events');
      const last = reader.events.at(-1);
      const right = last?.type === 'closed' && typeof last.reason === 'string' && last.reason !== '';
      ground.check(right, () => `expected closed with a reason, found ${JSON.stringify(last)}`);
      ground.check(
        !reader.events.some(({ type }) => type === 'turn_complete'),
        () => 'expected no turn_complete of the turn that broke off',
      );
    },
  },
  {
    name: 'abort_ends_the_session',
    promise: 'when the signal is aborted and the session closed, the events end and the connection is let go',
    async run(ground) {
      const controller = new AbortController();
      const { far, session, reader } = await ground.open([{ text: 'A long story.', held: true }], 'ordinary', {
        signal: controller.signal,
      });
      await ground.go(session);
      await ground.within(reader.says('story.'), 'the beginning of the turn');
      controller.abort('enough');
      await ground.within(session.close(), 'close()');
      await ground.within(reader.done, 'the end of the events');
      await ground.within(far.gone(), 'the connection to be let go');
      await ground.rejection(session.send(text), 'send() after the end');
    },
  },
  {
    name: 'nothing_is_left_unhandled',
    promise: 'no rejection is left that nobody can handle, however a session ends',
    async run(ground) {
      const watch = watchRejections();
      try {
        for (const end of ['close', 'end', 'cut'] as const) {
          const { far, session, reader } = await ground.open([{ calls: [look] }], 'leaves_results_unanswered');
          await ground.go(session);
          await ground.within(reader.of('tool_call'), 'the call');
          session.sendToolResult('c1', 'x').catch(() => {});
          if (end === 'close') await ground.within(session.close(), 'close()');
          else far[end]('over');
          await ground.within(reader.done, 'the end of the events');
        }
        const left = await watch.found();
        ground.check(left.length === 0, () => `expected every rejection to be handled, found ${left.join(', ')}`);
      } finally {
        watch.stop();
      }
    },
  },
];
