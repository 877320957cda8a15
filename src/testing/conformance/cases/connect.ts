import { messageOf } from '../../../contract/errors.js';
import type { BidiSession } from '../../../contract/provider.js';
import type { CaseDefinition } from '../conformance-case.js';
import { NotOffered, refusal, shown } from '../ground.js';

class Enough {
  readonly message = 'the suite has had enough';
}

const required = ['send', 'sendToolResult', 'events', 'close'] as const;

/** To connect, and not to. */
export const connectCases: readonly CaseDefinition[] = [
  {
    name: 'connect_gives_a_session',
    promise: 'connect resolves with a session that has the methods of the contract',
    async run(ground) {
      const far = await ground.farSide([]);
      const session = await ground.within(far.provider.connect(ground.params()), 'the connect');
      for (const method of required) {
        ground.check(typeof session[method] === 'function', () => `expected a method ${method}, found none`);
      }
      await ground.within(session.close(), 'close()');
    },
  },
  {
    name: 'connect_refused_says_why',
    promise: 'a connect that is refused rejects with the reason of the far side',
    async run(ground) {
      const far = await ground.farSide([], 'refuses_connection');
      const error = await ground.rejection(far.provider.connect(ground.params()), 'the connect');
      ground.check(messageOf(error).includes(refusal), () => `expected the reason ${refusal}, found ${shown(error)}`);
    },
  },
  {
    name: 'connect_aborted_before',
    promise: 'a connect whose signal is aborted already rejects with its reason',
    async run(ground) {
      const far = await ground.farSide([]);
      const reason = new Enough();
      const connecting = far.provider.connect(ground.params({ signal: AbortSignal.abort(reason) }));
      const error = await ground.rejection(connecting, 'the connect');
      ground.check(error === reason, () => `expected the very reason of the signal, found ${shown(error)}`);
    },
  },
  {
    name: 'connect_aborted_meanwhile',
    promise:
      'a connect that the far side leaves unanswered rejects with the reason of the signal when that is aborted, and no connection is left',
    async run(ground) {
      const far = await ground.farSide([], 'leaves_connection_unanswered');
      const controller = new AbortController();
      const reason = new Enough();
      const connecting = far.provider.connect(ground.params({ signal: controller.signal }));
      connecting.catch(() => {});
      await ground.within(far.asked, 'a connection to be asked for');
      controller.abort(reason);
      const error = await ground.rejection(connecting, 'the connect');
      ground.check(error === reason, () => `expected the very reason of the signal, found ${shown(error)}`);
      await ground.within(far.gone(), 'the connection to be let go');
    },
  },
  {
    name: 'connections_are_apart',
    promise: 'two sessions of one driver share nothing: what is said in one is not heard in the other',
    async run(ground) {
      const far = await ground.farSide([{ text: 'For the second.' }, { text: 'For the first.' }]);
      const first = await ground.join(far);
      const second = await ground.join(far);
      await ground.go(second.session);
      await ground.within(second.reader.of('turn_complete'), 'the turn of the second session');
      ground.check(
        first.reader.events.length === 0,
        () => 'expected nothing in the first session, found what the second was told',
      );
      await ground.go(first.session);
      await ground.within(first.reader.of('turn_complete'), 'the turn of the first session');
      ground.check(!second.reader.words.includes('first'), () => 'expected nothing more in the second session');
    },
  },
  {
    name: 'history_is_taken',
    promise: 'what was said before can be handed in, tools included, and nothing answers it',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'Well.' }, { text: 'Again.' }], 'ordinary', {
        history: [
          { role: 'user', text: 'Look.' },
          { role: 'tool', id: 'h1', name: 'look', arguments: '{"at":"sky"}', output: 'blue', isError: false },
          { role: 'assistant', text: 'It is blue.' },
        ],
      });
      await ground.go(session);
      await ground.within(reader.of('turn_complete'), 'a turn');
      far.end('over');
      await ground.within(reader.done, 'the end of the events');
      ground.check(reader.words === 'Well.', () => `expected one turn, “Well.”, found “${reader.words}”`);
    },
  },
  {
    name: 'resumption_goes_on',
    promise: 'where a session gives a handle, the driver connects with it again',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
      for (let turn = 1; turn <= 2; turn++) {
        await ground.go(session);
        await ground.within(reader.of('turn_complete', turn), 'a turn');
      }
      const resume = handleOf(session);
      if (resume === undefined) throw new NotOffered();
      await ground.within(session.close(), 'close()');
      const again = await ground.join(far, { resume });
      await ground.go(again.session);
      await ground.within(again.reader.of('turn_complete'), 'a turn of the resumed session');
    },
  },
];

function handleOf(session: BidiSession): unknown {
  return session.resumption?.();
}
