/**
 * Masks where `masks.test.ts` does not look: what Warp puts for a field that the
 * patch does not set, what mismatches say, what a patch from outside is refused
 * for, and that masks which were met before are resolved as if they were new.
 */
import { type JsonObject, toJson } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { type Message, MessageSchema, type ResponseEvent } from '../../proto/index.js';
import { maskOf } from '../../src/conversation/mask/path.js';
import { actions, add, append, begun, type Folding, said, update } from './events.js';

/** A conversation with this message, after these changes, each an event. */
function changed(message: JsonObject, options: object, ...changes: Parameters<typeof actions>): Folding {
  const folding = begun(options);
  folding.take(actions(add('t', message)), ...changes.map((change) => actions(change)));
  return folding;
}

const stored = (folding: Folding) =>
  toJson(MessageSchema, folding.now.tasks.get('t')?.messages.toArray().at(-1) as Message);
const warp = { mode: 'warp' };

describe('an update with a field that the patch does not set', () => {
  const call = { toolCall: { toolCallId: 'i', callMcpTool: { name: 'n', args: { a: 1 } } } };

  test.each<[string, JsonObject, string, JsonObject, JsonObject]>([
    ['a text', said('m', 'x'), 'agentOutput.text', { id: 'm', agentOutput: {} }, { agentOutput: {} }],
    [
      'a list',
      said('m', 'x', { citations: [{ documentId: 'd' }] }),
      'citations',
      { id: 'm' },
      { agentOutput: { text: 'x' } },
    ],
    [
      'a plain text',
      said('m', 'x', { serverMessageData: 'd' }),
      'serverMessageData',
      { id: 'm' },
      { agentOutput: { text: 'x' } },
    ],
  ])('clears %s, by the page and under warp', (_, message, mask, patch, expected) => {
    for (const options of [{}, warp]) {
      const folding = changed(message, options, update('t', patch, mask));
      expect(folding.codes).toEqual([]);
      expect(stored(folding)).toEqual({ id: 'm', ...expected });
    }
  });

  test('takes a member away by the page; under warp it is there and empty', () => {
    const change = update('t', { id: 'm' }, 'agentOutput');
    expect(stored(changed(said('m', 'x'), {}, change))).toEqual({ id: 'm' });
    expect(stored(changed(said('m', 'x'), warp, change))).toEqual({ id: 'm', agentOutput: {} });
    // and one that was not there is made
    expect(stored(changed({ id: 'm' }, {}, change))).toEqual({ id: 'm' });
    expect(stored(changed({ id: 'm' }, warp, change))).toEqual({ id: 'm', agentOutput: {} });
  });

  test('takes a struct away by the page; under warp it is there and empty', () => {
    const change = update('t', { id: 'm', toolCall: { callMcpTool: {} } }, 'toolCall.callMcpTool.args');
    const without = { toolCallId: 'i', callMcpTool: { name: 'n' } };
    expect(stored(changed({ id: 'm', ...call }, {}, change))).toEqual({ id: 'm', toolCall: without });
    expect(stored(changed({ id: 'm', ...call }, warp, change))).toEqual({
      id: 'm',
      toolCall: { ...without, callMcpTool: { name: 'n', args: {} } },
    });
  });

  test('finds nothing where the patch has no message around it, which is as if it were not set', () => {
    const shell = { id: 'm', toolCall: { toolCallId: 'i', runShellCommand: { command: 'ls', isReadOnly: true } } };
    for (const options of [{}, warp]) {
      expect(stored(changed(said('m', 'x'), options, update('t', { id: 'm' }, 'agentOutput.text')))).toEqual({
        id: 'm',
        agentOutput: {},
      });
      const mask = 'toolCall.runShellCommand.isReadOnly';
      expect(stored(changed(shell, options, update('t', { id: 'm' }, mask)))).toEqual({
        id: 'm',
        toolCall: { toolCallId: 'i', runShellCommand: { command: 'ls' } },
      });
    }
  });

  test('the fields of a struct are emptied where there is one, and none is made', () => {
    const change = update('t', { id: 'm', toolCall: { callMcpTool: {} } }, 'toolCall.callMcpTool.args.fields');
    expect(stored(changed({ id: 'm', ...call }, {}, change))).toEqual({
      id: 'm',
      toolCall: { toolCallId: 'i', callMcpTool: { name: 'n', args: {} } },
    });
    const bare = { id: 'm', toolCall: { toolCallId: 'i', callMcpTool: { name: 'n' } } };
    expect(stored(changed(bare, {}, change))).toEqual(bare);
  });
});

describe('a member that is not the one', () => {
  const query = { id: 'm', userQuery: { query: 'x' } };

  test('is told with what is there instead', () => {
    expect(changed(said('m', 'x'), {}, update('t', query, 'userQuery.query')).now.diagnostics).toMatchObject([
      { code: 'oneof_mismatch', detail: '"user_query.query" goes through userQuery, but agentOutput is set' },
    ]);
    expect(changed({ id: 'm' }, {}, update('t', query, 'userQuery.query')).now.diagnostics).toMatchObject([
      { code: 'oneof_mismatch', detail: '"user_query.query" goes through userQuery, but none is set' },
    ]);
  });

  test('under warp is made, which is told of only where another one goes', () => {
    const made = changed({ id: 'm' }, warp, update('t', query, 'userQuery.query'));
    expect([made.codes, stored(made)]).toEqual([[], { id: 'm', userQuery: { query: 'x' } }]);
    const empty = changed({ id: 'm' }, warp, update('t', { id: 'm', userQuery: {} }, 'userQuery.query'));
    expect([empty.codes, stored(empty)]).toEqual([[], { id: 'm', userQuery: {} }]);
    const replaced = changed(said('m', 'x'), warp, update('t', query, 'userQuery.query'));
    expect([replaced.codes, stored(replaced)]).toEqual([['oneof_mismatch'], { id: 'm', userQuery: { query: 'x' } }]);
  });

  test('an append makes it where there is none, and fails where there is another', () => {
    const more = append('t', { id: 'm', userQuery: { query: 'y' } }, 'userQuery.query');
    expect(stored(changed({ id: 'm' }, {}, more))).toEqual({ id: 'm', userQuery: { query: 'y' } });
    const failed = changed(said('m', 'x'), {}, more);
    expect([failed.codes, stored(failed)]).toEqual([['oneof_mismatch'], said('m', 'x')]);
  });
});

describe('lists on the way', () => {
  const cited = (...ids: string[]) => said('m', 'x', { citations: ids.map((documentId) => ({ documentId })) });

  test('must be as long on both sides', () => {
    const folding = changed(cited('a', 'b'), {}, update('t', cited('c'), 'citations.documentId'));
    expect(folding.now.diagnostics).toMatchObject([
      {
        code: 'invalid_path',
        detail: '"citations.document_id": elements of citations: 2 in the message, 1 in the patch',
      },
    ]);
  });

  test('that stay as they are give the very same tasks', () => {
    const folding = changed(cited('a', 'b'), {});
    const { tasks } = folding.now;
    folding.take(actions(update('t', cited('a', 'b'), 'citations.documentId')));
    expect(folding.now.tasks).toBe(tasks);
    folding.take(actions(update('t', cited('a', 'c'), 'citations.documentId')));
    expect(stored(folding)).toEqual(cited('a', 'c'));
  });
});

describe('an append of nothing', () => {
  test.each<[string, JsonObject, string]>([
    ['an empty text', said('m', ''), 'agentOutput.text'],
    ['a text that is not set', { id: 'm', agentOutput: {} }, 'agentOutput.text'],
    ['a member that is not set', { id: 'm' }, 'agentOutput.text'],
    ['two of them', { id: 'm', agentOutput: {} }, 'agentOutput.text,agentOutput.reasoning'],
    ['a member that is not set, twice', { id: 'm' }, 'agentOutput.text,agentOutput.text'],
    ['one in a member of a list', said('m', '', { citations: [{}] }), 'citations.documentId'],
    ['a member that is another one', { id: 'm', userQuery: { query: 'y' } }, 'agentOutput.text'],
  ])('%s changes nothing', (_, patch, mask) => {
    const folding = changed(said('m', 'x', { citations: [{ documentId: 'd' }] }), {});
    const { tasks } = folding.now;
    folding.take(actions(append('t', patch, mask)));
    expect(folding.codes.filter((code) => code !== 'duplicate_path')).toEqual([]);
    expect(folding.now.tasks).toBe(tasks);
  });

  test('makes no member where there is none', () => {
    expect(stored(changed({ id: 'm' }, {}, append('t', said('m', ''))))).toEqual({ id: 'm' });
  });
});

describe('an append from outside', () => {
  const patched = (message: unknown, paths: string[]): ResponseEvent =>
    ({
      ...actions(append('t', said('m', 'x'))),
      type: {
        case: 'clientActions',
        value: {
          actions: [{ action: { case: 'appendToMessageContent', value: { taskId: 't', message, mask: { paths } } } }],
        },
      },
    }) as unknown as ResponseEvent;
  const text = ['agent_output.text'];

  test.each<[unknown, string[], string]>([
    [{ id: 'm', message: 7 }, text, 'invalid response event (message): expected a case and its value, found 7'],
    [
      { id: 'm', message: { case: 'agentOutput', value: 7 } },
      text,
      'invalid response event (text): expected a message around it, found 7',
    ],
    [
      { id: 'm', message: { case: 'agentOutput', value: { text: 7 } } },
      text,
      'invalid response event (text): expected ',
    ],
    [
      { id: 'm', serverMessageData: 7 },
      ['server_message_data'],
      'invalid response event (serverMessageData): expected ',
    ],
  ])('%j is refused', (message, paths, words) => {
    const folding = begun({}, 'm');
    const before = folding.state;
    expect(() => folding.take(patched(message, paths))).toThrow(words);
    expect(folding.state).toBe(before);
  });

  test.each<[unknown, string[], string]>([
    [{ id: 'm' }, text, 'm'],
    [{ id: 'm', message: null }, text, 'm'],
    [{ id: 'm', message: { case: undefined } }, text, 'm'],
    [{ id: 'm', message: { case: 'agentOutput', value: null } }, text, 'm'],
    [{ id: 'm', message: { case: 'agentOutput', value: { text: null } } }, text, 'm'],
    [{ id: 'm', message: { case: 'agentOutput', value: { text: 'x' } } }, text, 'mx'],
    [{ id: 'm', message: { case: 'agentOutput', value: { text: 'x' } } }, [...text, 'server_message_data'], 'mx'],
    // another member, which has a field of that name
    [{ id: 'm', message: { case: 'userQuery', value: { text: 'x', query: 'x' } } }, text, 'm'],
  ])('%j is read', (message, paths, shown) => {
    const folding = begun({}, 'm');
    folding.take(patched(message, paths));
    expect([folding.texts['m'], folding.codes]).toEqual([shown, []]);
  });
});

describe('a mask that was met before', () => {
  const fresh = (texts: readonly string[]) => {
    // another one between, so that it is not the last one
    maskOf(['citations']);
    return maskOf(texts);
  };

  test('is the very same', () => {
    const mask = maskOf(['agent_output.text', 'citations']);
    expect(maskOf(['agent_output.text', 'citations'])).toBe(mask);
    expect(fresh(['agent_output.text', 'citations'])).toBe(mask);
    expect(fresh(['agent_output.text'])).not.toBe(mask);
    expect(fresh(['citations', 'agent_output.text'])).not.toBe(mask);
    expect(fresh([]).paths).toEqual([]);
  });

  test('is told from one whose paths hold what stands between paths, or nothing', () => {
    for (let round = 0; round < 2; round++) {
      expect(fresh(['a', 'b']).texts).toEqual(['a', 'b']);
      expect(fresh(['a\nb']).texts).toEqual(['a\nb']);
      expect(fresh(['ab']).texts).toEqual(['ab']);
      expect(maskOf(['ab', 'c']).texts).toEqual(['ab', 'c']);
      expect(maskOf(['ab', 'd']).texts).toEqual(['ab', 'd']);
      expect(maskOf(['ab']).texts).toEqual(['ab']);
    }
  });

  test('is not the list that was handed in', () => {
    const texts = ['never met', 'nor this'];
    const mask = fresh(texts);
    texts[0] = 'citations';
    expect(mask.texts).toEqual(['never met', 'nor this']);
    expect(maskOf(texts).paths[0]?.text).toBe('citations');
  });

  test('is remembered unless it is long, and of many the last ones are', () => {
    const long = (length: number) => ['x'.repeat(length)];
    const kept = fresh(long(1024));
    expect(fresh(long(1024))).toBe(kept);
    const passed = fresh(long(1025));
    expect(fresh(long(1025))).not.toBe(passed);
    // what was kept goes when there are too many, all at once
    for (let number = 0; number < 256; number++) maskOf([`made up ${number}`]);
    expect(fresh(long(1024))).not.toBe(kept);
    const again = fresh(long(1024));
    for (let number = 0; number < 40; number++) maskOf([`made up too ${number}`]);
    expect(fresh(long(1024))).toBe(again);
  });

  test.each<[boolean, ...string[]]>([
    [true, 'agent_output.text'],
    [true, 'agent_output.text', 'agent_output.reasoning'],
    [true, 'server_message_data'],
    [false, 'agent_output.text', 'agent_output.text'],
    [false, 'agent_output'],
    [false, 'agent_output.nope'],
    [false, 'agent_output.text.more'],
    [false, 'id'],
    [false, 'citations.document_id'],
    [false, 'citations'],
    [false, 'tool_call.call_mcp_tool.args'],
    [false, 'tool_call.call_mcp_tool.args.fields'],
    [false, 'agent_output.text', 'citations'],
  ])('plain: %s, of %s %s', (isPlain, ...texts) => {
    expect(maskOf(texts).isPlain).toBe(isPlain);
  });

  test('knows the field that a message is found by', () => {
    const [path] = maskOf(['task_id']).paths;
    expect([path?.problem, path?.steps.map(({ name }) => name)]).toEqual(['identity', ['taskId']]);
    const [fields] = maskOf(['tool_call.call_mcp_tool.args.fields']).paths;
    expect([fields?.structFields, fields?.problem]).toEqual([true, undefined]);
  });
});
