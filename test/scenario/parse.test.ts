import { describe, expect, test } from 'vitest';
import { ScenarioError } from '../../src/contract/index.js';
import { parseScenario } from '../../src/scenario/parse.js';
import { given } from './given.js';

function problemOf(text: string): ScenarioError {
  try {
    parseScenario(text, 'some/file.jsonl');
  } catch (error) {
    if (error instanceof ScenarioError) return error;
    throw error;
  }
  throw new Error(`nothing is wrong with ${text}`);
}

describe('what is read', () => {
  test('a header, steps, and the lines that they stand in', () => {
    const text = [
      '',
      '// a remark',
      '{"scenario":"a title","tools":{"look":{"timeoutMs":5}},"provider":{"holdClose":true}}',
      '   ',
      '{"far":{"type":"turn_complete"}}\r',
      '  // another remark',
      '{"clock":5}',
    ].join('\n');
    expect(parseScenario(text, 'x')).toEqual({
      title: 'a title',
      header: { tools: { look: { timeoutMs: 5 } }, provider: { holdClose: true } },
      steps: [
        { line: 5, step: { far: { type: 'turn_complete' } } },
        { line: 7, step: { clock: 5 } },
      ],
    });
  });

  test.each([
    ['nothing at all', ''],
    ['remarks alone', '// only this\n\n'],
    ['an empty header', '{}'],
    ['a byte order mark', '\uFEFF{}'],
  ])('%s is a scenario without steps', (_what, text) => {
    expect(parseScenario(text, 'x')).toEqual({ title: '', header: {}, steps: [] });
  });

  test('a file may begin with a step', () => {
    const { header, steps } = parseScenario('{"clock":1}\n{"clock":2}', 'x');
    expect(header).toEqual({});
    expect(steps).toEqual([
      { line: 1, step: { clock: 1 } },
      { line: 2, step: { clock: 2 } },
    ]);
  });

  test('every step of the format', () => {
    const steps = [
      '{"far":{"type":"text","text":"a"}}',
      '{"far_stream":"end"}',
      '{"far_stream":"fail","message":"m"}',
      '{"far_stream":"fail"}',
      '{"connect":"resolve"}',
      '{"connect":"reject","message":"m"}',
      '{"tool":"t1","resolve":"text"}',
      '{"tool":"t1","reject":"message"}',
      '{"publish":"t1","accept":true}',
      '{"publish":"t1","reject":"message"}',
      '{"close":"resolve"}',
      '{"close":"reject","message":"m"}',
      '{"flush":"resolve"}',
      '{"flush":"reject","message":"m"}',
      '{"host":"send","input":{"type":"text","text":"a"}}',
      '{"host":"send","input":{"type":"audio","data":"AA","mediaType":"audio/pcm"}}',
      '{"host":"close"}',
      '{"host":"abort","reason":"r"}',
      '{"host":"abort"}',
      '{"host":"interrupt","playedMs":120.5}',
      '{"host":"interrupt"}',
      '{"host":"approve","id":"t1"}',
      '{"host":"deny","id":"t1","message":"m"}',
      '{"host":"pause"}',
      '{"host":"resume"}',
      '{"clock":5000}',
      '{"expect":[{"provider":"connect"},{"anything":["at",{"all":1}]}]}',
    ];
    const parsed = parseScenario(['{}', ...steps].join('\n'), 'x');
    expect(parsed.steps.map(({ step }) => JSON.stringify(step))).toEqual(steps);
  });

  test.each(['null', '5', '"text"', '[]', '{}', '{"type":5}', '{"type":"text"}', '{"type":"tool_call","id":""}'])(
    'the far side may send %s',
    (payload) => {
      expect(parseScenario(`{"far":${payload}}`, 'x').steps[0]?.step).toEqual({ far: JSON.parse(payload) });
    },
  );

  test('calls of an expected end keep the order of the file, whatever their ids look like', () => {
    const calls = '{"10":"completed","2":"cancelled","__proto__":"abandoned","a \\"b\\"":"rejected","1":"completed"}';
    const text = `{"expect":[{"x":{"7":1,"3":2}},{"closed":{"reason":"host","calls":${calls}}},{"summary":{"calls":${calls}}}]}`;
    const step = parseScenario(text, 'x').steps[0]?.step;
    const expected = step !== undefined && 'expect' in step ? step.expect : [];
    const order = ['10', '2', '__proto__', 'a "b"', '1'];
    for (const report of [expected[1]?.['closed'], expected[2]?.['summary']]) {
      const states = (report as { calls: ReadonlyMap<string, string> }).calls;
      expect([...states.keys()]).toEqual(order);
      expect([...states.values()]).toEqual(['completed', 'cancelled', 'abandoned', 'rejected', 'completed']);
    }
  });

  test('tools may be named like what every object inherits', () => {
    const { header } = parseScenario('{"tools":{"constructor":{},"__proto__":{"result":"x"}}}', 'x');
    expect(Object.entries(header.tools ?? {})).toEqual([
      ['constructor', {}],
      ['__proto__', { result: 'x' }],
    ]);
  });

  test.skipIf(given.length === 0)('all given cases', () => {
    expect(given.length).toBeGreaterThanOrEqual(43);
    for (const { name, text, scenario } of given) {
      const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'));
      expect(scenario.steps.length, name).toBe(lines.length - 1);
      expect(scenario.title, name).not.toBe('');
    }
  });
});

describe('what is refused', () => {
  test('the message names file, line, what was expected and what was found', () => {
    const error = problemOf('{"scenario":"x"}\n\n{"clock":"soon"}');
    expect(error.message).toBe(
      'some/file.jsonl:3: clock: expected a whole number of milliseconds, 0 or more, found "soon"',
    );
    expect(error).toMatchObject({ code: 'scenario', file: 'some/file.jsonl', line: 3 });
  });

  test.each([
    ['[1]', 'expected a JSON object, found an array'],
    ['null', 'expected a JSON object, found null'],
    ['7', 'expected a JSON object, found 7'],
    ['"far"', 'expected a JSON object, found "far"'],
    ['{"far":', 'expected a JSON object, found "{\\"far\\":", which is no JSON'],
    ['{"far":1}{"far":2}', 'which is no JSON'],
    ['/ no remark', 'which is no JSON'],
  ])('%s is no JSON object', (line, problem) => {
    expect(problemOf(`{}\n${line}`).problem).toContain(problem);
    expect(problemOf(line).line).toBe(1);
  });

  test.each([
    ['{"titel":"x"}', 'unknown key "titel"'],
    ['{"scenario":"x","far":{}}', 'unknown key "far"'],
    ['{"scenario":5}', 'scenario: expected a text, found 5'],
    ['{"tools":[]}', 'tools: expected a JSON object, found an array'],
    ['{"tools":{"a":5}}', 'tools.a: expected a JSON object, found 5'],
    ['{"tools":{"a":{"timeout":5}}}', 'unknown key "timeout" in tools.a: expected one of onInterruption, timeoutMs'],
    ['{"tools":{"a":{"timeoutMs":"5"}}}', 'tools.a.timeoutMs: expected an integer'],
    ['{"tools":{"a":{"timeoutMs":1.5}}}', 'tools.a.timeoutMs: expected an integer'],
    ['{"tools":{"a":{"timeoutMs":2147483648}}}', 'tools.a.timeoutMs: expected an integer'],
    [
      '{"tools":{"a":{"onInterruption":"stop"}}}',
      'tools.a.onInterruption: expected "abandon" or "cancel" or "deliver"',
    ],
    ['{"tools":{"a":{"effect":"write"}}}', 'tools.a.effect: expected "read"'],
    ['{"tools":{"a":{"needsApproval":"yes"}}}', 'tools.a.needsApproval: expected true or false, found "yes"'],
    ['{"tools":{"a":{"result":42}}}', 'tools.a.result: expected a text, found 42'],
    ['{"tools":{"a":{"throws":null}}}', 'tools.a.throws: expected a text, found null'],
    ['{"tools":{"a":{"input":true}}}', 'tools.a.input: expected a JSON object, found true'],
    ['{"options":{"maxConcurrentTool":1}}', 'unknown key "maxConcurrentTool" in options'],
    ['{"options":{"closeTimeoutMs":-1}}', 'options.closeTimeoutMs: expected an integer'],
    ['{"options":{"dropUnreadAudio":1}}', 'options.dropUnreadAudio: expected true or false, found 1'],
    ['{"provider":{"holdSend":true}}', 'unknown key "holdSend" in provider'],
    ['{"provider":{"holdClose":"true"}}', 'provider.holdClose: expected true or false'],
    ['{"journal":{"durable":1}}', 'journal.durable: expected true or false'],
    ['{"journal":{"path":"x"}}', 'unknown key "path" in journal'],
    ['{"toString":1}', 'unknown key "toString"'],
  ])('header %s', (line, problem) => {
    expect(problemOf(line).problem).toContain(problem);
  });

  test.each([
    ['{}', 'expected a step, one of far'],
    ['{"faar":{}}', 'unknown key "faar": expected a step'],
    ['{"scenario":"again"}', 'which only a header in the first line can have'],
    ['{"far":{},"clock":1}', 'unknown key "clock": expected only far'],
    ['{"far_stream":"stop"}', 'far_stream: expected "end" or "fail", found "stop"'],
    ['{"far_stream":"end","message":"m"}', 'unknown key "message"'],
    ['{"far_stream":"fail","message":5}', 'message: expected a text, found 5'],
    ['{"connect":true}', 'connect: expected "resolve" or "reject", found true'],
    ['{"connect":"constructor"}', 'connect: expected "resolve" or "reject", found "constructor"'],
    ['{"tool":"t1"}', 'expected resolve or reject, found neither'],
    ['{"tool":"t1","resolved":"x"}', 'expected resolve or reject, found unknown key "resolved"'],
    ['{"tool":"t1","resolve":"x","reject":"y"}', 'expected resolve or reject, found both'],
    ['{"tool":1,"resolve":"x"}', 'tool: expected a text, found 1'],
    ['{"tool":"t1","resolve":{}}', 'resolve: expected a text, found an object'],
    ['{"publish":"t1","accept":false}', 'accept: expected true, found false'],
    ['{"publish":"t1"}', 'expected accept or reject, found neither'],
    ['{"close":"reject","reason":"m"}', 'unknown key "reason"'],
    ['{"flush":"done"}', 'flush: expected "resolve" or "reject"'],
    ['{"host":"wave"}', 'host: expected "send" or'],
    ['{"host":"send"}', 'expected a key "input", found none'],
    ['{"host":"send","input":"hi"}', 'input: expected a JSON object, found "hi"'],
    ['{"host":"send","input":{"type":"image"}}', 'input.type: expected "text" or "audio", found "image"'],
    ['{"host":"send","input":{"type":"text"}}', 'input: expected a key "text", found none'],
    ['{"host":"send","input":{"type":"audio","data":"AA"}}', 'input: expected a key "mediaType", found none'],
    ['{"host":"close","id":"t1"}', 'unknown key "id"'],
    ['{"host":"interrupt","playedMs":-1}', 'playedMs: expected a number of milliseconds'],
    ['{"host":"approve"}', 'expected a key "id", found none'],
    ['{"clock":-1}', 'clock: expected a whole number'],
    ['{"clock":1.5}', 'clock: expected a whole number'],
    ['{"clock":1e400}', 'clock: expected a whole number'],
    ['{"expect":{}}', 'expect: expected an array, found an object'],
    ['{"expect":["x"]}', 'expect[0]: expected a JSON object, found "x"'],
  ])('step %s', (line, problem) => {
    const error = problemOf(`{}\n${line}`);
    expect(error.problem).toContain(problem);
    expect(error.line).toBe(2);
  });
});
