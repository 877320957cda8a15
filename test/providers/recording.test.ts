import { describe, expect, it } from 'vitest';
import { isCommitpointError, RecordingError } from '../../src/contract/errors.js';
import { parseRecording, recordedOutputs, recordedTools } from '../../src/providers/recorded/index.js';

const parse = (...lines: unknown[]) =>
  parseRecording(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'), 'f.jsonl');

describe('parseRecording', () => {
  it('gives the frames in order, blank lines, marks of origin and line ends of other systems aside', () => {
    expect(
      parse(
        '\uFEFF{"dir":"c2s","data":{"a":1}}\r',
        '  ',
        { dir: 's2c', data: { b: 2, __source__: 'somewhere#1' } },
        { dir: 's2c', data: [3], __source__: 'somewhere#2' },
        '',
      ),
    ).toEqual([
      { dir: 'c2s', data: { a: 1 } },
      { dir: 's2c', data: { b: 2 } },
      { dir: 's2c', data: [3] },
    ]);
  });

  it('reads a close, with and without a reason', () => {
    expect(
      parse(
        { dir: 's2c', data: { __close__: { code: 1001, reason: 'over' }, __source__: 'x' } },
        { dir: 'c2s', data: { __close__: { code: 1006 } } },
        { dir: 's2c', __close__: { code: 1000, reason: null } },
      ),
    ).toEqual([
      { dir: 's2c', close: { code: 1001, reason: 'over' } },
      { dir: 'c2s', close: { code: 1006, reason: '' } },
      { dir: 's2c', close: { code: 1000, reason: '' } },
    ]);
  });

  it.each([
    [{ dir: 's2c', data: { a: 1 }, __repeat__: 3 }],
    [{ dir: 's2c', data: { a: 1, __repeat__: 3 } }],
    [{ dir: 's2c', data: { __repeat__: { count: 3, data: { a: 1 } } } }],
    [{ dir: 's2c', __repeat__: { times: 3, data: { a: 1 } } }],
    [{ dir: 's2c', __repeat__: { n: 3, frame: { a: 1 } } }],
  ])('unfolds a run of identical frames: %j', (line) => {
    const frame = { dir: 's2c', data: { a: 1 } };
    expect(parse(line)).toEqual([frame, frame, frame]);
  });

  it.each([
    ['no JSON', '{"dir":', 'text that is no JSON'],
    ['no object', '[1]', 'expected a JSON object, found a list'],
    ['no direction', { data: {} }, 'expected "dir"'],
    ['an unknown direction', { dir: 'up', data: {} }, 'found "up"'],
    ['no data', { dir: 's2c' }, 'expected "data"'],
    ['a close without a code', { dir: 's2c', data: { __close__: {} } }, 'integer "code"'],
    ['a close with an odd reason', { dir: 's2c', data: { __close__: { code: 1, reason: 7 } } }, 'expected "reason"'],
    ['a run of none', { dir: 's2c', data: {}, __repeat__: 0 }, 'a count from 1, found 0'],
    ['a run without end', { dir: 's2c', data: {}, __repeat__: 1e9 }, 'at most 100000'],
    ['runs of runs', { dir: 's2c', data: { __repeat__: 1000 }, __repeat__: 1000 }, 'at most 100000'],
    ['a run that is no number', { dir: 's2c', data: {}, __repeat__: 'x' }, 'found "x"'],
  ])('refuses %s, and says where', (_, line, problem) => {
    const run = () => parse({ dir: 's2c', data: {} }, '', line);
    expect(run).toThrow(RecordingError);
    expect(run).toThrow('f.jsonl:3: ');
    expect(run).toThrow(problem);
    try {
      run();
    } catch (error) {
      expect(isCommitpointError(error) && error.code).toBe('recording');
    }
  });
});

const openai = parse(
  {
    dir: 'c2s',
    data: { type: 'session.update', session: { tools: [{ name: 'flat' }, { function: { name: 'nested' } }] } },
  },
  { dir: 's2c', data: { type: 'response.output_item.done', item: { type: 'function_call', name: 'called' } } },
  { dir: 's2c', data: { type: 'response.output_item.done', item: { type: 'function_call', name: 'flat' } } },
  { dir: 'c2s', data: { type: 'conversation.item.create', item: { type: 'message', call_id: 'c0', output: 'no' } } },
  {
    dir: 'c2s',
    data: { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'c1', output: 'one' } },
  },
  {
    dir: 'c2s',
    data: { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'c1', output: 'again' } },
  },
  {
    dir: 's2c',
    data: { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'c2', output: 'theirs' } },
  },
);

const answers = [
  { id: 'c1', name: 'look', response: { output: 'one' } },
  { id: 'c2', name: 'look', response: { output: { ok: true } } },
  { id: 'c3', name: 'look', response: { error: 'no' } },
  { name: 'look', response: { output: 'nameless' } },
  { id: 'c4' },
];

const gemini = parse(
  { dir: 'c2s', data: { setup: { tools: [{ functionDeclarations: [{ name: 'first' }, { name: 'second' }] }, {}] } } },
  { dir: 's2c', data: { toolCall: { functionCalls: [{ name: 'called' }, { name: 'first' }] } } },
  { dir: 'c2s', data: { toolResponse: { functionResponses: answers } } },
);

describe('recordedOutputs', () => {
  it('OpenAI: the first output that the client sent for each call', () => {
    expect([...recordedOutputs(openai)]).toEqual([['c1', 'one']]);
  });

  it.each([
    ['camelCase', gemini],
    ['snake_case', parse({ dir: 'c2s', data: { tool_response: { function_responses: answers } } })],
    ['mixed', parse({ dir: 'c2s', data: { tool_response: { functionResponses: answers } } })],
  ])('Gemini, %s: text as it stands, anything else as JSON text', (_, frames) => {
    expect([...recordedOutputs(frames)]).toEqual([
      ['c1', 'one'],
      ['c2', '{"ok":true}'],
      ['c3', '{"error":"no"}'],
    ]);
  });

  it('of frames that make no sense are none', () => {
    const odd = [
      null,
      7,
      [],
      { tool_response: 7 },
      { toolResponse: { functionResponses: 7 } },
      { type: 'conversation.item.create' },
    ];
    expect(recordedOutputs(parse(...odd.map((data) => ({ dir: 'c2s', data })))).size).toBe(0);
  });
});

describe('recordedTools', () => {
  it('are those that were declared or called, once each', () => {
    expect(recordedTools(openai)).toEqual(['flat', 'nested', 'called']);
    expect(recordedTools(gemini)).toEqual(['first', 'second', 'called']);
  });
});
