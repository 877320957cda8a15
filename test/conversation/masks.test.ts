/** Field masks: what a path can be, what each diagnostic is about, and in which order things are looked for (conversation.md §4, §9). */
import { create, fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { type Message, MessageSchema } from '../../proto/index.js';
import { resolvePath } from '../../src/conversation/mask/path.js';
import { planOf } from '../../src/conversation/message/plan.js';
import { actions, add, append, begun, type Folding, said, update } from './events.js';

const problemOf = (path: string) => resolvePath(planOf(MessageSchema), path).problem;

/** A conversation with this message, after the changes. */
function changed(message: Parameters<typeof add>[1], ...changes: Parameters<typeof actions>): Folding {
  const folding = begun();
  folding.take(actions(add('t', message)), actions(...changes));
  return folding;
}

const stored = (folding: Folding, id = 'm') => {
  const messages = folding.now.tasks.get('t')?.messages.toArray() ?? [];
  return toJson(MessageSchema, messages.find((message) => message.id === id) as Message);
};

describe('a path', () => {
  test.each([
    'agent_output',
    'agent_output.text',
    'citations',
    'citations.document_id',
    'citations.document_type',
    'server_message_data',
    'user_query.referenced_attachments',
    'tool_call.call_mcp_tool.args',
    'tool_call.call_mcp_tool.args.fields',
    'tool_call.suggest_plan.proposed_tasks.messages.agent_output.text',
    'tool_call_result.context.current_time.seconds',
    'tool_call_result.cancel',
  ])('%s is one', (path) => {
    expect(problemOf(path)).toBeUndefined();
  });

  test.each([
    '',
    '.',
    'agentOutput',
    'agentOutput.text',
    'agent_output.',
    'agent_output..text',
    '.agent_output',
    'agent_output.nope',
    'nope',
    // the group is no field
    'message',
    'tool_call.tool',
    'tool_call.call_mcp_tool.args.nope',
    'citations.0',
    'agent_output.text ',
    '__proto__',
    'constructor',
  ])('%j is unknown', (path) => {
    expect(problemOf(path)).toBe('unknown');
  });

  test.each([
    'server_message_data.x',
    'server_message_data.',
    'id.x',
    'citations.document_type.x',
    'tool_call.grep.queries.0',
    'user_query.referenced_attachments.name',
    'user_query.referenced_attachments.name.plain_text',
    'tool_call.call_mcp_tool.args.fields.x',
  ])('%s goes on below what holds no message', (path) => {
    expect(problemOf(path)).toBe('below');
  });

  test.each(['id', 'task_id'])('%s is what a message is found by', (path) => {
    expect(problemOf(path)).toBe('identity');
  });

  test('is walked as deep as the schema goes', () => {
    const deep = 'tool_call.suggest_plan.proposed_tasks.messages.'.repeat(1000);
    expect(problemOf(`${deep}agent_output.text`)).toBeUndefined();
    expect(problemOf(`${deep}nope`)).toBe('unknown');
  });
});

describe('the order of checks', () => {
  // each list of what is wrong, and what of it is told
  const wrong = {
    task: { taskId: 'ghost' },
    mask: { mask: undefined },
    path: { mask: 'agentOutput.nope,id' },
    message: { message: { id: 'ghost' } },
    type: { mask: 'citations' },
    value: { mask: 'userQuery.query' },
  };
  type Part = keyof typeof wrong;
  const order: readonly [Part, string][] = [
    ['task', 'unknown_task'],
    ['mask', 'missing_mask'],
    ['path', 'unknown_path'],
    ['message', 'unknown_message'],
    ['type', 'unsupported_append'],
    ['value', 'oneof_mismatch'],
  ];
  const base = { taskId: 't', message: said('m', 'x'), mask: 'agentOutput.text' };

  for (const [first, [one, code]] of order.entries()) {
    for (const [other] of order.slice(first)) {
      test(`${one} before ${other}`, () => {
        // what is looked for first wins; of two masks the one that is
        const { mask, ...given } = { ...base, ...wrong[other], ...wrong[one] };
        const change = mask === undefined ? given : { ...given, mask };
        const folding = changed(said('m', 'a'), { appendToMessageContent: change });
        expect(folding.codes).toEqual([code]);
        expect(folding.texts).toEqual({ m: 'a' });
      });
    }
  }

  test('types before values, whichever path comes first', () => {
    const folding = changed(said('m', 'a'), append('t', said('m', 'x'), 'userQuery.query,citations'));
    expect(folding.codes).toEqual(['unsupported_append']);
  });

  test('duplicates before types: they are told, and then the failure', () => {
    const folding = changed(said('m', 'a'), append('t', said('m', 'x'), 'citations,agentOutput.text,citations'));
    expect(folding.codes).toEqual(['duplicate_path', 'unsupported_append']);
    expect(folding.texts).toEqual({ m: 'a' });
  });

  test('one diagnostic for one path, however often it is repeated', () => {
    const folding = changed(
      said('m', 'a'),
      append('t', said('m', 'x'), 'agentOutput.text,agentOutput.text,agentOutput.text'),
    );
    expect(folding.codes).toEqual(['duplicate_path']);
    expect(folding.texts).toEqual({ m: 'ax' });
  });

  test('a path that is repeated in an update is no matter', () => {
    const folding = changed(said('m', 'a'), update('t', said('m', 'x'), 'agentOutput.text,agentOutput.text'));
    expect(folding.codes).toEqual([]);
    expect(folding.texts).toEqual({ m: 'x' });
  });
});

describe('update', () => {
  const call = {
    id: 'm',
    toolCall: { toolCallId: 'k', callMcpTool: { name: 'n', args: { a: 1, b: [null, { c: 'd' }] } } },
  };

  test('a Struct is replaced whole, by its own name or by that of its fields', () => {
    for (const mask of ['toolCall.callMcpTool.args', 'toolCall.callMcpTool.args.fields']) {
      const patch = { id: 'm', toolCall: { callMcpTool: { args: { e: true } } } };
      expect(stored(changed(call, update('t', patch, mask)))).toEqual({
        id: 'm',
        toolCall: { toolCallId: 'k', callMcpTool: { name: 'n', args: { e: true } } },
      });
    }
  });

  test('cleared, by its own name it goes, by that of its fields it is empty', () => {
    const patch = { id: 'm', toolCall: { callMcpTool: {} } };
    const cleared = (mask: string) => stored(changed(call, update('t', patch, mask)));
    const rest = { toolCallId: 'k' };
    expect(cleared('toolCall.callMcpTool.args')).toEqual({
      id: 'm',
      toolCall: { ...rest, callMcpTool: { name: 'n' } },
    });
    expect(cleared('toolCall.callMcpTool.args.fields')).toEqual({
      id: 'm',
      toolCall: { ...rest, callMcpTool: { name: 'n', args: {} } },
    });
  });

  test('a scalar of an unset message makes it; the default of one does not', () => {
    const result = { id: 'm', toolCallResult: { toolCallId: 'k' } };
    const patch = (pwd: string) => ({ id: 'm', toolCallResult: { context: { directory: { pwd } } } });
    const mask = 'toolCallResult.context.directory.pwd';
    expect(stored(changed(result, update('t', patch('/'), mask)))).toEqual({
      id: 'm',
      toolCallResult: { toolCallId: 'k', context: { directory: { pwd: '/' } } },
    });
    expect(stored(changed(result, update('t', patch(''), mask)))).toEqual(result);
  });

  test('through a member that is not active, another one or none, is oneof_mismatch', () => {
    const none = changed({ id: 'm' }, update('t', said('m', 'x'), 'agentOutput.text'));
    expect([none.codes, stored(none)]).toEqual([['oneof_mismatch'], { id: 'm' }]);
    const nested = changed(call, update('t', { id: 'm', toolCall: { grep: { path: '/' } } }, 'toolCall.grep.path'));
    expect(nested.codes).toEqual(['oneof_mismatch']);
  });

  test('at a member that the patch does not have, another one stays', () => {
    const folding = changed(call, update('t', { id: 'm' }, 'agentOutput'));
    expect([folding.codes, stored(folding)]).toEqual([[], call]);
  });

  test('paths apply in order, on what the earlier ones have made', () => {
    const folding = changed(call, update('t', said('m', 'x'), 'agentOutput,agentOutput.text'));
    expect([folding.codes, stored(folding)]).toEqual([[], said('m', 'x')]);
    const other = changed(call, update('t', said('m', 'x'), 'agentOutput.text,agentOutput'));
    expect([other.codes, stored(other)]).toEqual([['oneof_mismatch'], call]);
  });

  test('bytes are replaced, and read as a copy', () => {
    const written = (input: string) => ({ id: 'm', toolCall: { writeToLongRunningShellCommand: { input } } });
    const mask = 'toolCall.writeToLongRunningShellCommand.input';
    expect(stored(changed(written('YQ=='), update('t', written('Yg=='), mask)))).toEqual(written('Yg=='));
    // another field of the message beside bytes
    const image = (mimeType: string) => ({
      id: 'm',
      toolCallResult: { context: { images: [{ data: 'YQ==', mimeType }] } },
    });
    const folding = changed(image('a'), update('t', image('b'), 'toolCallResult.context.images.mimeType'));
    expect(stored(folding)).toEqual(image('b'));
  });
});

describe('append', () => {
  test('through two lists, element by element', () => {
    const message = (...paths: string[][]) => ({
      id: 'm',
      toolCall: {
        suggestPlan: { proposedTasks: paths.map((texts) => ({ messages: texts.map((text) => said('', text)) })) },
      },
    });
    const mask = 'toolCall.suggestPlan.proposedTasks.messages.agentOutput.text';
    const good = changed(message(['a'], ['b', 'c']), append('t', message(['1'], ['2', '3']), mask));
    expect([good.codes, stored(good)]).toEqual([[], toJson(MessageSchema, messageOf(message(['a1'], ['b2', 'c3'])))]);
    const bad = changed(message(['a'], ['b', 'c']), append('t', message(['1'], ['2']), mask));
    expect([bad.codes, stored(bad)]).toEqual([
      ['invalid_path'],
      toJson(MessageSchema, messageOf(message(['a'], ['b', 'c']))),
    ]);
  });

  test('two texts, of which the second cannot be, change nothing', () => {
    const folding = changed(said('m', 'a'), append('t', said('m', 'x'), 'agentOutput.text,userQuery.query'));
    expect([folding.codes, folding.texts]).toEqual([['oneof_mismatch'], { m: 'a' }]);
  });

  test('an empty delta under another member is oneof_mismatch all the same', () => {
    expect(changed(said('m', 'a'), append('t', { id: 'm' }, 'userQuery.query')).codes).toEqual(['oneof_mismatch']);
  });

  test('an empty delta makes no message on the way', () => {
    const folding = changed(
      { id: 'm' },
      append('t', { id: 'm', toolCallResult: { server: {} } }, 'toolCallResult.server.serializedResult'),
    );
    expect([folding.codes, stored(folding)]).toEqual([[], { id: 'm' }]);
    const made = changed(
      { id: 'm' },
      append(
        't',
        { id: 'm', toolCallResult: { server: { serializedResult: 'x' } } },
        'toolCallResult.server.serializedResult',
      ),
    );
    expect(stored(made)).toEqual({ id: 'm', toolCallResult: { server: { serializedResult: 'x' } } });
  });

  test('a hundred thousand deltas are one text', () => {
    const folding = begun();
    folding.take(actions(add('t', said('m', ''))));
    const delta = actions(append('t', said('m', 'ab')));
    for (let count = 0; count < 100_000; count++) folding.take(delta);
    expect(folding.texts['m']).toBe('ab'.repeat(100_000));
  });
});

describe('unknown fields', () => {
  // field 1000 of a message, and of what the agent said
  const extra = (no: number) => [{ no, wireType: 2, data: Uint8Array.of(2, 104, 105) }];
  const withExtra = () =>
    create(MessageSchema, {
      id: 'm',
      message: {
        case: 'agentOutput',
        value: create(MessageSchema.field['agentOutput']?.message as never, { text: 'a' } as never) as never,
      },
    });

  test('of the stored message survive an update and an append, byte for byte', () => {
    const message = withExtra();
    message.$unknown = extra(1000);
    if (message.message.case === 'agentOutput') message.message.value.$unknown = extra(1001);
    const bytes = toBinary(MessageSchema, message);
    const folding = begun();
    const received = actions(add('t', { id: 'm' }));
    const [action] = received.type.case === 'clientActions' ? received.type.value.actions : [];
    if (action?.action.case === 'addMessagesToTask') action.action.value.messages = [fromBinary(MessageSchema, bytes)];
    folding.take(received);
    const now = () => folding.now.tasks.get('t')?.messages.at(0) as Message;
    expect(toBinary(MessageSchema, now())).toEqual(bytes);
    folding.take(
      actions(append('t', said('m', 'b')), update('t', { id: 'm', serverMessageData: 'd' }, 'serverMessageData')),
    );
    if (message.message.case === 'agentOutput') message.message.value.text = 'ab';
    message.serverMessageData = 'd';
    expect(toBinary(MessageSchema, now())).toEqual(toBinary(MessageSchema, message));
  });
});

function messageOf(json: object): Message {
  const received = actions(add('t', json as never));
  const [action] = received.type.case === 'clientActions' ? received.type.value.actions : [];
  return (action?.action.case === 'addMessagesToTask' ? action.action.value.messages[0] : undefined) as Message;
}
