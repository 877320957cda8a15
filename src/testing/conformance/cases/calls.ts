import { messageOf } from '../../../contract/errors.js';
import type { CaseDefinition } from '../conformance-case.js';
import type { ConformanceCall } from '../far-side.js';
import { type Ground, NotOffered, refusal, shown } from '../ground.js';

const look: ConformanceCall = { id: 'c1', name: 'look', arguments: '{"at":"sky","n":[1,2]}' };
const book: ConformanceCall = { id: 'c2', name: 'book', arguments: '{}' };

/** Gives a session with one call open, whose result is on its way and stays unanswered. */
async function unanswered(ground: Ground) {
  const opened = await ground.open([{ calls: [look] }], 'leaves_results_unanswered');
  await ground.go(opened.session);
  await ground.within(opened.reader.of('tool_call'), 'the call');
  const result = opened.session.sendToolResult('c1', 'blue');
  result.catch(() => {});
  await ground.within(opened.far.received(1), 'the far side to get the result');
  return { ...opened, result };
}

/** Tools, from the call to what becomes of its result. */
export const callCases: readonly CaseDefinition[] = [
  {
    name: 'call_is_told_whole',
    promise: 'a call comes with its id, its name and its arguments as JSON text, once it is final',
    async run(ground) {
      const { session, reader } = await ground.open([{ text: 'Let me look.', calls: [look], after: 'Blue.' }]);
      await ground.go(session);
      const [call] = await ground.within(reader.of('tool_call'), 'the call');
      ground.check(
        call?.id === look.id && call.name === look.name,
        () => `expected c1 look, found ${JSON.stringify(call)}`,
      );
      const same = sameJson(call?.arguments, look.arguments);
      ground.check(same, () => `expected the arguments ${look.arguments}, found ${JSON.stringify(call?.arguments)}`);
    },
  },
  {
    name: 'call_is_told_once',
    promise: 'a call that the wire carries twice comes once',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look], after: 'Blue.' }]);
      if (far.repeatCalls === undefined) throw new NotOffered();
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      far.repeatCalls();
      await ground.within(session.sendToolResult('c1', 'blue'), 'sendToolResult()');
      await ground.within(reader.of('turn_complete'), 'turn_complete');
      const calls = reader.events.filter(({ type }) => type === 'tool_call').length;
      ground.check(calls === 1, () => `expected the call once, found it ${calls} times`);
    },
  },
  {
    name: 'calls_side_by_side',
    promise:
      'several calls of one turn come each, are answered in any order, and the turn goes on and ends once after the last',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look, book], after: 'Both done.' }]);
      await ground.go(session);
      const calls = await ground.within(reader.of('tool_call', 2), 'two calls');
      ground.check(
        calls.map(({ id }) => id).join() === 'c1,c2',
        () => `expected c1 and c2, found ${JSON.stringify(calls)}`,
      );
      const results = [session.sendToolResult('c2', 'two'), session.sendToolResult('c1', 'one')];
      await ground.within(Promise.all(results), 'both results to resolve');
      await ground.within(reader.of('turn_complete'), 'turn_complete');
      const got = far.results.map(({ id, output }) => `${id}=${output}`).sort();
      ground.check(got.join() === 'c1=one,c2=two', () => `expected each result once, found ${got.join()}`);
      ground.check(
        reader.words.endsWith('Both done.'),
        () => `expected “Both done.” at the end, found “${reader.words}”`,
      );
    },
  },
  {
    name: 'result_arrives',
    promise: 'sendToolResult resolves when the far side has the result, which is what was sent',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look], after: 'Blue.' }]);
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      await ground.within(session.sendToolResult('c1', 'blue “ü” \n🙂'), 'sendToolResult()');
      const [got, ...more] = far.results;
      const right = got?.id === 'c1' && got.output === 'blue “ü” \n🙂' && !got.isError && more.length === 0;
      ground.check(right, () => `expected the far side to have the result, found ${JSON.stringify(far.results)}`);
    },
  },
  {
    name: 'error_result_arrives',
    promise: 'a result that is an error arrives as one',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look], after: 'Oh.' }]);
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      await ground.within(session.sendToolResult('c1', 'no window', true), 'sendToolResult()');
      const [got] = far.results;
      const right = got?.isError === true && got.output.includes('no window');
      ground.check(right, () => `expected an error, found ${JSON.stringify(got)}`);
    },
  },
  {
    name: 'result_refused_rejects',
    promise: 'sendToolResult rejects with the reason of a far side that does not take the result',
    async run(ground) {
      const { session, reader } = await ground.open([{ calls: [look] }], 'refuses_results');
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      const error = await ground.rejection(session.sendToolResult('c1', 'blue'), 'sendToolResult()');
      ground.check(messageOf(error).includes(refusal), () => `expected the reason ${refusal}, found ${shown(error)}`);
    },
  },
  {
    name: 'result_settles_at_close',
    promise: 'a result that is on its way rejects when the host closes the session',
    async run(ground) {
      const { session, result } = await unanswered(ground);
      await ground.within(session.close(), 'close()');
      await ground.rejection(result, 'the result that was on its way');
    },
  },
  {
    name: 'result_settles_at_the_far_end',
    promise: 'a result that is on its way rejects when the far side ends the connection',
    async run(ground) {
      const { far, result } = await unanswered(ground);
      far.end('over');
      await ground.rejection(result, 'the result that was on its way');
    },
  },
  {
    name: 'result_settles_at_a_cut',
    promise: 'a result that is on its way rejects when the connection breaks',
    async run(ground) {
      const { far, result } = await unanswered(ground);
      far.cut();
      await ground.rejection(result, 'the result that was on its way');
    },
  },
  {
    name: 'withdrawn_calls_are_told',
    promise:
      'where a far side takes calls back, tool_call_cancelled names them, and a later result rejects and is not sent',
    async run(ground) {
      const { far, session, reader } = await ground.open([{ calls: [look, book] }]);
      if (far.withdraw === undefined) throw new NotOffered();
      await ground.go(session);
      await ground.within(reader.of('tool_call', 2), 'two calls');
      far.withdraw('c1');
      const [told] = await ground.within(reader.of('tool_call_cancelled'), 'tool_call_cancelled');
      ground.check(told?.ids.join() === 'c1', () => `expected the id c1, found ${JSON.stringify(told)}`);
      await ground.rejection(session.sendToolResult('c1', 'late'), 'the result of a call that was taken back');
      ground.check(
        far.results.length === 0,
        () => 'expected nothing to be sent, found that the far side got the result',
      );
    },
  },
  {
    name: 'abandoned_calls_hold_nothing_up',
    promise: 'where a session has abandonToolCall(), the turn goes on after it, and no result was sent for the call',
    async run(ground) {
      const { session, reader } = await ground.open([{ calls: [look], after: 'Then not.' }]);
      const { abandonToolCall } = session;
      if (abandonToolCall === undefined) throw new NotOffered();
      await ground.go(session);
      await ground.within(reader.of('tool_call'), 'the call');
      await ground.within(abandonToolCall.call(session, 'c1'), 'abandonToolCall()');
      await ground.within(reader.of('turn_complete'), 'the turn to end');
    },
  },
];

function sameJson(one: unknown, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(String(one))) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}
