/** What a far side is told of a conversation: `historyOf`. */
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/contract/errors.js';
import { historyOf } from '../../src/conversation/index.js';
import { createConversation } from '../../src/runtime/index.js';
import { actions, add, append, begin, commit, done, Folding, init, rollback, said, task } from './events.js';

const asked = (id: string, query: string) => ({ id, userQuery: { query } });
const called = (id: string, toolCallId: string, name = 'look', args = {}) => ({
  id,
  toolCall: { toolCallId, callMcpTool: { name, args } },
});
const answered = (id: string, toolCallId: string, ...texts: string[]) => ({
  id,
  toolCallResult: { toolCallId, callMcpTool: { success: { results: texts.map((text) => ({ text: { text } })) } } },
});
const cancelled = (id: string, toolCallId: string) => ({ id, toolCallResult: { toolCallId, cancel: {} } });

const user = (text: string) => ({ role: 'user', text });
const assistant = (text: string) => ({ role: 'assistant', text });
const tool = (id: string, output: string, isError = false) => ({
  role: 'tool',
  id,
  name: 'look',
  arguments: '{}',
  output,
  isError,
});

/** A conversation with these messages. */
function talk(...messages: Parameters<typeof add>[1][]): Folding {
  const folding = new Folding({ mode: 'strict' });
  folding.take(init(), actions(task('t'), add('t', ...messages)));
  return folding;
}

describe('historyOf', () => {
  it('gives what was said, in order; of a conversation or a state', () => {
    const { now } = talk(asked('1', 'Hi'), said('2', 'Hello'), said('3', ''), asked('4', ''), asked('5', 'Bye'));
    expect(historyOf(now)).toEqual([user('Hi'), assistant('Hello'), user('Bye')]);
    expect(historyOf({ state: now })).toEqual(historyOf(now));
    expect(historyOf(createConversation())).toEqual([]);
  });

  it('puts each call and its result together, where it was called, however late the result came', () => {
    const { now } = talk(
      called('1', 't1', 'look', { at: 'x', n: 1 }),
      asked('2', 'Well?'),
      called('3', 't2'),
      answered('4', 't2', 'two'),
      said('5', 'So'),
      answered('6', 't1', 'one'),
    );
    expect(historyOf(now)).toEqual([
      { ...tool('t1', 'one'), arguments: '{"at":"x","n":1}' },
      user('Well?'),
      tool('t2', 'two'),
      assistant('So'),
    ]);
  });

  it('tells a cancelled call as one that failed, and an open one not, or as one that failed', () => {
    const { now } = talk(called('1', 't1'), called('2', 't2'), cancelled('3', 't1'));
    const gone = tool('t1', 'the call was cancelled before it had a result', true);
    expect(historyOf(now)).toEqual([gone]);
    expect(historyOf(now, { openCalls: 'as_error' })).toEqual([gone, tool('t2', 'the call has no result', true)]);
  });

  it('leaves out what is provisional, unless that is asked for', () => {
    const folding = talk(said('1', 'One'), called('2', 't1'));
    folding.take(
      actions(begin, append('t', said('1', ' more')), add('t', said('3', 'Three'), answered('4', 't1', 'x'))),
    );
    expect(historyOf(folding.now)).toEqual([assistant('One')]);
    const all = [assistant('One more'), tool('t1', 'x'), assistant('Three')];
    expect(historyOf(folding.now, { provisional: true })).toEqual(all);
    const { state } = folding;
    folding.take(actions(rollback));
    expect(historyOf(folding.now)).toEqual([assistant('One')]);
    folding.state = state;
    folding.take(actions(commit));
    expect(historyOf(folding.now)).toEqual(all);
  });

  it('pairs calls of several sessions that have the same id, and tells them apart', () => {
    const { now } = talk(
      called('1', 't'),
      answered('2', 't', 'one'),
      called('3', 't-2'),
      answered('4', 't-2', 'two'),
      called('5', 't'),
      cancelled('6', 't'),
      answered('7', 'nobody', 'x'),
      answered('8', 't', 'again'),
    );
    expect(historyOf(now).map((entry) => (entry.role === 'tool' ? [entry.id, entry.output] : []))).toEqual([
      ['t', 'one'],
      ['t-2', 'two'],
      ['t-3', expect.stringContaining('cancelled')],
    ]);
  });

  it('tells calls and results of every kind', () => {
    const server = JSON.stringify({ name: 'look', arguments: '[1' });
    const { now } = talk(
      { id: '1', toolCall: { toolCallId: 'a', runShellCommand: { command: 'ls' } } },
      { id: '2', toolCallResult: { toolCallId: 'a', runShellCommand: { output: 'x', exitCode: 1 } } },
      { id: '3', toolCall: { toolCallId: 'b', readFiles: { files: [{ name: 'x' }] } } },
      { id: '4', toolCallResult: { toolCallId: 'b', readFiles: { error: { message: 'no' } } } },
      { id: '5', toolCall: { toolCallId: 'c', server: { payload: server } } },
      { id: '6', toolCallResult: { toolCallId: 'c', callMcpTool: { error: { message: 'no JSON' } } } },
      { id: '7', toolCall: { toolCallId: 'd', server: { payload: 'its own' } } },
      { id: '8', toolCallResult: { toolCallId: 'd', server: { serializedResult: 'words' } } },
      { id: '9', toolCall: { toolCallId: 'e', server: { payload: '{"name":1}' } } },
      {
        id: '10',
        toolCallResult: {
          toolCallId: 'e',
          callMcpTool: {
            success: {
              results: [
                { text: { text: 'a' } },
                { image: { data: '', mimeType: 'image/png' } },
                { resource: { uri: 'u', text: { content: 'c' } } },
                { resource: { uri: 'v' } },
                {},
              ],
            },
          },
        },
      },
      { id: '11', toolCall: { toolCallId: 'f' } },
      { id: '12', toolCallResult: { toolCallId: 'f' } },
      { id: '13', toolCall: { toolCallId: 'g', callMcpTool: { name: 'n' } } },
      { id: '14', toolCallResult: { toolCallId: 'g', callMcpTool: {} } },
    );
    const told = historyOf(now).map(
      (entry) => entry.role === 'tool' && [entry.name, entry.arguments, entry.output, entry.isError],
    );
    expect(told).toEqual([
      ['run_shell_command', '{"command":"ls"}', '{"output":"x","exitCode":1}', false],
      ['read_files', '{"files":[{"name":"x"}]}', '{"error":{"message":"no"}}', true],
      ['look', '[1', 'no JSON', true],
      ['server', 'its own', 'words', false],
      ['server', '{"name":1}', 'a\n[image: image/png]\nc\n[resource: v]\n', false],
      ['', '{}', '', false],
      ['n', '{}', '', false],
    ]);
  });

  it('goes task by task, and not beyond a split', () => {
    const folding = talk(said('1', 'One'), asked('2', 'Two'));
    folding.take(actions(task('u', 't'), add('u', said('3', 'Three')), add('t', said('4', 'Four'))));
    expect(historyOf(folding.now)).toEqual(
      ['One', 'Two', 'Four', 'Three'].map((text) => (text === 'Two' ? user(text) : assistant(text))),
    );
    folding.take(actions({ startNewConversation: { startFromMessageId: '2' } }), done);
    expect(historyOf(folding.now)[0]).toEqual(user('Two'));
  });

  it('refuses what is no conversation, and options that are none', () => {
    expect(() => historyOf({} as never)).toThrow(InvalidInputError);
    expect(() => historyOf(null as never)).toThrow(InvalidInputError);
    expect(() => historyOf({ state: {} } as never)).toThrow(InvalidInputError);
    expect(() => historyOf(talk().now, { openCalls: 'pending' as never })).toThrow(InvalidInputError);
  });
});
