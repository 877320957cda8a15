/** `commitpoint fold`: what a file may hold, what is printed of it, and how it exits (scenarios.md). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FoldOptions, foldFile } from '../../src/cli/commands/fold.js';
import { differencesFrom } from '../../src/cli/subset.js';
import { encodeBinary, encodeSse } from '../../src/wire/index.js';
import { actions, add, begin, done, init, said, task } from './events.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fold-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const defaults: FoldOptions = { format: 'jsonl', mode: 'tolerant', set: [] };
const refusal = expect.objectContaining({ code: 'invalid_input' });

async function fold(content: string | Uint8Array, options: Partial<FoldOptions> = {}) {
  const file = join(folder, 'file');
  writeFileSync(file, content);
  const folded = await foldFile(file, { ...defaults, ...options });
  return { ...folded, complaints: folded.complaints.map((complaint) => complaint.replaceAll(file, 'FILE')) };
}

const start =
  '{"init":{"conversationId":"c","requestId":"r"}}\n{"clientActions":{"actions":[{"createTask":{"task":{"id":"t"}}}]}}\n';

describe('a line that cannot be used', () => {
  test.each([
    ['{"clientActionz":{}}', /unknown|clientActionz/],
    ['{"init":{"conversationId":7}}', /./],
    ['{"init":{},"finished":{}}', /./],
    ['{"init":', /no JSON/],
    ['nonsense', /no JSON/],
    ['[]', /JSON object/],
    ['null', /JSON object/],
    ['"text"', /JSON object/],
    ['{"end":"sometime"}', /eof, error or cancel/],
    ['{"end":"eof","message":"x"}', /"message"/],
    ['{"end":"error","message":7}', /message/],
    ['{"end":"cancel","expect":{}}', /"expect"/],
    ['{"expect":[]}', /JSON object/],
    ['{"expect":{},"more":1}', /"more"/],
    ['{"clientActions":{"actions":[{"updateTaskMessage":{"mask":"agent_output"}}]}}', /./],
    ['{"clientActions":{"actions":[{"addMessagesToTask":{"taskId":"\\ud800"}}]}}', /./],
  ])('%s', async (line, reason) => {
    const { status, result, complaints } = await fold(`// a comment\n\n${start}${line}\n{"finished":{}}\n`);
    expect([status, result]).toEqual([2, undefined]);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/^FILE:5: /);
    expect(complaints[0]).toMatch(reason);
  });
});

describe('a file', () => {
  test('is read with blank lines, comments, either end of line and a byte order mark', async () => {
    const text = `\ufeff// comment\r\n\r\n   \r\n${start.replaceAll('\n', '\r\n')}  // another\r\n{"finished":{"done":{}}}`;
    expect((await fold(text)).result).toMatchObject({ phase: 'finished', tasks: [{ id: 't' }], diagnostics: [] });
  });

  test('without an end line ends with the end of input, which is no error after the finish', async () => {
    expect((await fold(start)).result?.phase).toBe('truncated');
    expect((await fold(`${start}{"finished":{}}\n`)).result?.phase).toBe('finished');
    expect((await fold('')).result?.phase).toBe('truncated');
  });

  test('that is not there', async () => {
    const { status, result, complaints } = await foldFile(join(folder, 'none'), defaults);
    expect([status, result]).toEqual([2, undefined]);
    expect(complaints[0]).toContain('cannot be read');
    const frames = await foldFile(join(folder, 'none'), { ...defaults, format: 'sse' });
    expect([frames.status, frames.complaints[0]?.includes('cannot be read')]).toEqual([2, true]);
  });

  test('counts its events from 0; ends, expectations and comments do not count', async () => {
    const text = `// x\n{"expect":{}}\n${start}{"expect":{}}\n{"clientActions":{"actions":[{},{"commitTransaction":{}}]}}\n{"end":"eof"}\n{"finished":{}}`;
    expect((await fold(text)).result?.diagnostics).toMatchObject([
      { code: 'empty_action', event: 2, action: 0 },
      { code: 'commit_without_begin', event: 2, action: 1 },
      { code: 'after_finished', event: 3 },
    ]);
  });

  test('the result of a whole one', async () => {
    const { result } = await fold(`${start}{"finished":{"internalError":{"message":"x"}}}`);
    expect(result).toEqual({
      phase: 'failed',
      conversationId: 'c',
      requestId: 'r',
      transaction: 'none',
      diverged: false,
      tasks: [{ id: 't', parentTaskId: '', description: '', summary: '', status: '', messages: [] }],
      suggestions: { rules: [], workflows: [] },
      interrupted: [],
      openToolCalls: [],
      finished: { reason: 'internalError', message: 'x', tokenUsage: [], costExact: 0, contextWindowUsage: 0 },
      diagnostics: [],
      conversations: ['c'],
    });
    expect((await fold(start)).result?.finished).toBeNull();
  });

  test('with what no JSON can hold is printed all the same', async () => {
    const far = '{"clientActions":{"actions":[{"addMessagesToTask":{"taskId":"t","messages":[{"id":"m"}]}}]}}\n';
    const cost = '{"finished":{"requestCost":{"exact":"NaN"},"contextWindowInfo":{"contextWindowUsage":"-Infinity"}}}';
    const { result, status } = await fold(`${start}${far}${cost}`);
    expect([status, result?.finished?.costExact, result?.finished?.contextWindowUsage]).toEqual([
      0,
      'NaN',
      '-Infinity',
    ]);
  });
});

describe('expectations', () => {
  test('are looked at where they stand, and all that fail are told of', async () => {
    const text = `{"expect":{"phase":"streaming"}}\n${start}{"expect":{"tasks":[]}}\n{"expect":{"tasks":[{"id":"t"}]}}\n{"finished":{}}\n`;
    const { status, result, complaints } = await fold(text);
    expect([status, result?.phase]).toEqual([1, 'finished']);
    expect(complaints.map((complaint) => complaint.split('\n'))).toEqual([
      ['FILE:1: the result is not what was expected', '  phase: expected "streaming", found "awaiting_init"'],
      [
        'FILE:4: the result is not what was expected',
        expect.stringContaining('  tasks: expected [], found [{"id":"t"'),
      ],
    ]);
  });

  test('before a line that cannot be used are told of too', async () => {
    const { status, complaints } = await fold(`{"expect":{"phase":"x"}}\n{"nope":1}`);
    expect([status, complaints.length]).toEqual([2, 2]);
  });
});

describe('a subset', () => {
  const found = { a: 1, b: [{ c: 1, d: 2 }, 'x'], e: null, f: { g: [] } };
  test.each([[{}], [{ a: 1 }], [{ b: [{ c: 1 }, 'x'] }], [{ b: [{}, 'x'], e: null }], [{ f: { g: [] } }]])(
    '%j is one',
    (expected) => {
      expect(differencesFrom(expected, found)).toEqual([]);
    },
  );

  test.each([
    [{ a: 2 }, 'a'],
    [{ a: '1' }, 'a'],
    [{ b: [{ c: 1 }] }, 'b'],
    [{ b: [] }, 'b'],
    [{ b: [{ c: 1 }, 'x', 'y'] }, 'b'],
    [{ b: [{ d: 1 }, 'x'] }, 'b[0].d'],
    [{ b: {} }, 'b'],
    [{ e: {} }, 'e'],
    [{ e: 0 }, 'e'],
    [{ f: { g: {} } }, 'f.g'],
    [{ f: null }, 'f'],
    [{ h: undefined as never, i: null }, 'i'],
    [{ toString: {} }, 'toString'],
    [{ f: [] }, 'f'],
  ])('%j is none', (expected, path) => {
    expect(differencesFrom(expected, found).map((difference) => difference.path)).toEqual([path]);
  });
});

describe('frames', () => {
  const events = [init(), actions(task('t'), add('t', said('m', 'a'))), actions(begin, add('t', said('n', 'b'))), done];

  test.each(['sse', 'binary'])('%s: the end of the bytes is the end of input', async (format) => {
    const encode = (some: typeof events) =>
      Buffer.concat(some.map((each) => (format === 'sse' ? Buffer.from(encodeSse(each)) : encodeBinary(each))));
    expect((await fold(encode(events), { format })).result).toMatchObject({
      phase: 'finished',
      tasks: [{ messages: [{ id: 'm' }, { id: 'n' }] }],
    });
    expect((await fold(encode(events.slice(0, 3)), { format })).result).toMatchObject({
      phase: 'truncated',
      tasks: [{ messages: [{ id: 'm' }] }],
      diagnostics: [],
    });
  });

  test.each(['sse', 'binary'])(
    '%s: a bad frame is told of, ends the input, and is no reason to exit with a status',
    async (format) => {
      const good = events
        .slice(0, 3)
        .map((each) => (format === 'sse' ? Buffer.from(encodeSse(each)) : encodeBinary(each)));
      const bad = format === 'sse' ? Buffer.from('data: ***\n\n') : Buffer.of(3, 0xff, 0xff, 0xff);
      const content = Buffer.concat([...good, bad, ...good]);
      const { status, result } = await fold(content, { format });
      expect(status).toBe(0);
      expect(result).toMatchObject({
        phase: 'truncated',
        tasks: [{ messages: [{ id: 'm' }] }],
        diagnostics: [{ code: 'bad_frame', event: 3 }],
      });
      const strict = await fold(content, { format, mode: 'strict' });
      expect([strict.status, strict.result?.phase, strict.complaints.length]).toEqual([1, 'failed', 1]);
    },
  );
});

describe('options', () => {
  test.each([
    { format: 'xml' },
    { mode: 'loose' },
    { set: ['nested'] },
    { set: ['=x'] },
    { set: ['nested=no'] },
    { set: ['nope=commit'] },
    { set: ['__proto__=commit'] },
  ])('%j are refused', async (options) => {
    await expect(fold(start, options)).rejects.toEqual(refusal);
  });

  test('the last of two settings of one policy counts', async () => {
    const text = `${start}{"clientActions":{"actions":[{"beginTransaction":{}},{"addMessagesToTask":{"taskId":"t","messages":[{"id":"m"}]}}]}}\n`;
    const { result } = await fold(text, { set: ['onFailure=rollback', 'onFailure=commit'] });
    expect(result?.tasks).toMatchObject([{ messages: [{ id: 'm' }] }]);
  });
});
