/** What a tool takes, what it refuses and what it gives (duplex page, §1 *Tool input*, §2 *Arguments*). */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { BidiEvent } from '../../src/contract/provider.js';
import type { Tool, ToolContext, ToolDefinition, ToolInputSchema } from '../../src/contract/tool.js';
import { defineTool } from '../../src/runtime/index.js';
import { runChild } from './child.js';
import { type Held, held, quiet, stage, toolCall } from './stage.js';

const base = { name: 'lookup', description: 'Look a word up.' };

/** A tool that keeps the inputs that reach its code. */
function keeping(input: ToolInputSchema, rest: Partial<ToolDefinition> = {}) {
  const inputs: unknown[] = [];
  const tool = defineTool({
    ...base,
    input,
    ...(rest as object),
    execute: (given: unknown) => {
      inputs.push(given);
      return 'done';
    },
  });
  return { tool, inputs };
}

/** Runs one call and gives what was sent for it. */
async function sentFor(tool: Tool, args: unknown): Promise<{ output: string; isError: boolean }> {
  const { session, emit, driverCalls } = await stage({ tools: [tool] });
  await emit(toolCall('c1', tool.name, args));
  await quiet();
  const results = driverCalls.filter(({ method }) => method === 'sendToolResult');
  expect(results).toHaveLength(1);
  await session.close();
  const [{ output, isError }] = results as [{ output: string; isError: boolean } & (typeof results)[number]];
  return { output, isError };
}

const schemas: [string, ToolInputSchema][] = [
  [
    'a JSON Schema',
    {
      type: 'object',
      properties: {
        word: { type: 'string', minLength: 2 },
        options: { type: 'object', properties: { depth: { type: 'integer' } } },
      },
      required: ['word'],
    },
  ],
  ['zod', z.object({ word: z.string().min(2), options: z.object({ depth: z.int() }).optional() })],
  [
    'valibot, with its JSON Schema',
    toStandardJsonSchema(
      v.object({
        word: v.pipe(v.string(), v.minLength(2)),
        options: v.optional(v.object({ depth: v.pipe(v.number(), v.integer()) })),
      }),
    ),
  ],
  ['arktype', type({ word: 'string > 1', 'options?': { depth: 'number.integer' } })],
];

describe.each(schemas)('%s', (_, schema) => {
  it('is announced as a JSON Schema of its input object', async () => {
    const { tool } = keeping(schema);
    expect(tool.parameters).toMatchObject({
      type: 'object',
      properties: { word: { type: 'string', minLength: 2 } },
      required: ['word'],
    });
    const { session, driverCalls } = await stage({ tools: [tool] });
    const [connect] = driverCalls;
    expect(connect?.method === 'connect' && connect.params.tools).toEqual([
      { type: 'function', function: { ...base, parameters: tool.parameters } },
    ]);
    expect(JSON.parse(JSON.stringify(tool.parameters))).toEqual(tool.parameters);
    await session.close();
  });

  it('lets what fits reach the code', async () => {
    const { tool, inputs } = keeping(schema);
    expect(await sentFor(tool, { word: 'moon', options: { depth: 2 } })).toEqual({ output: 'done', isError: false });
    expect(inputs).toEqual([{ word: 'moon', options: { depth: 2 } }]);
  });

  it.each([
    ['misses a property', {}, 'word'],
    ['has a property of the wrong type', { word: 1 }, 'word'],
    ['has a property that is too short', { word: 'a' }, 'word'],
    ['has a wrong property inside', { word: 'moon', options: { depth: 'two' } }, 'depth'],
    ['is empty text', '', 'word'],
  ])('refuses what %s; the text names the property, the code never runs', async (__, args, property) => {
    const { tool, inputs } = keeping(schema);
    const { output, isError } = await sentFor(tool, args);
    expect(isError).toBe(true);
    expect(output).toContain(property);
    expect(inputs).toEqual([]);
  });
});

describe('standard schemas', () => {
  it('their output, not their input, reaches the code', async () => {
    const { tool, inputs } = keeping(
      z.object({ word: z.string().transform((word) => word.length), how: z.string().default('loud') }),
    );
    await sentFor(tool, { word: 'moon', extra: 1 });
    expect(inputs).toEqual([{ word: 4, how: 'loud' }]);
  });

  it('one that prints no JSON Schema needs `parameters`', () => {
    const input = v.object({ word: v.string() });
    expect(() => keeping(input)).toThrow(TypeError);
    expect(() => keeping(input)).toThrow(/lookup.*parameters/);
    const parameters = { type: 'object', properties: { word: { type: 'string' } } };
    expect(keeping(input, { parameters }).tool.parameters).toBe(parameters);
  });

  it('one that cannot print its JSON Schema needs `parameters`, too, and says why', () => {
    const input = z.object({ at: z.date() });
    expect(() => keeping(input)).toThrow(TypeError);
    expect(() => keeping(input)).toThrow(/Date.*parameters/);
    expect(keeping(input, { parameters: { type: 'object' } }).tool.parameters).toEqual({ type: 'object' });
  });

  it('`parameters` beside a schema are announced, and the schema judges', async () => {
    const { tool, inputs } = keeping(z.object({ word: z.string() }), { parameters: { type: 'object', title: 'mine' } });
    expect(tool.parameters).toEqual({ type: 'object', title: 'mine' });
    expect(await sentFor(tool, {})).toMatchObject({ isError: true });
    expect(inputs).toEqual([]);
  });

  it('a long list of problems is cut, and its length told', async () => {
    const { tool } = keeping(
      z.strictObject(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`p${i}`, z.int()]))),
    );
    const { output } = await sentFor(tool, {});
    expect(output).toContain('p0');
    expect(output).toContain('42 more');
    expect(output.length).toBeLessThan(1_000);
  });
});

describe('JSON Schema', () => {
  it('tells all that is wrong at once', async () => {
    const { tool } = keeping({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
    });
    const { output } = await sentFor(tool, { a: 1, b: 'x' });
    expect(output).toContain('a');
    expect(output).toContain('b');
    expect(output).toContain('schema');
  });

  it('is draft 2020-12: prefixItems, $defs, dependentRequired, unevaluatedProperties', async () => {
    const { tool, inputs } = keeping({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } },
      type: 'object',
      properties: { pair: { $ref: '#/$defs/pair' }, card: {}, owner: {} },
      dependentRequired: { card: ['owner'] },
      unevaluatedProperties: false,
    });
    expect(await sentFor(tool, { pair: ['a', 1] })).toMatchObject({ isError: false });
    for (const wrong of [{ pair: ['a', 'b'] }, { pair: ['a', 1, 2] }, { card: 1 }, { other: 1 }]) {
      expect(await sentFor(tool, wrong)).toMatchObject({ isError: true });
    }
    expect(inputs).toHaveLength(1);
  });

  it('an empty one takes any object', async () => {
    const { tool, inputs } = keeping({});
    expect(await sentFor(tool, { any: ['thing'] })).toMatchObject({ isError: false });
    expect(inputs).toEqual([{ any: ['thing'] }]);
  });

  it('odd keys are keys', async () => {
    const { tool, inputs } = keeping({ type: 'object', additionalProperties: { type: 'number' } });
    expect(await sentFor(tool, '{"__proto__":1,"constructor":2}')).toMatchObject({ isError: false });
    expect(Object.keys(inputs[0] as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['1']).toBeUndefined();
    const { output } = await sentFor(tool, '{"__proto__":"x"}');
    expect(output).toContain('__proto__');
  });
});

describe('arguments', () => {
  const open = () => keeping({ type: 'object' });

  it('the empty text counts as an empty object', async () => {
    const { tool, inputs } = open();
    expect(await sentFor(tool, '')).toMatchObject({ isError: false });
    expect(inputs).toEqual([{}]);
  });

  it.each(['{"word":"mo', ' ', 'word', '{}}', "{'word':1}", '\u0000'])(
    'text that is no JSON (%j) is refused with words that say so',
    async (args) => {
      const { tool, inputs } = open();
      const { output, isError } = await sentFor(tool, args);
      expect([output.includes('JSON'), isError]).toEqual([true, true]);
      expect(inputs).toEqual([]);
    },
  );

  it.each(['[]', 'null', '1', '"text"', 'true'])('JSON that is no object (%s) is refused', async (args) => {
    const { tool, inputs } = open();
    const { output, isError } = await sentFor(tool, args);
    expect([output.includes('object'), isError]).toEqual([true, true]);
    expect(inputs).toEqual([]);
  });

  it('a tool that does not exist is told by its name', async () => {
    const { session, emit, driverCalls } = await stage();
    await emit(toolCall('c1', 'telepathy'));
    expect(driverCalls.at(-1)).toEqual({
      method: 'sendToolResult',
      id: 'c1',
      output: expect.stringContaining('telepathy'),
      isError: true,
    });
    await session.close();
  });
});

describe('a schema that takes its time', () => {
  /** A schema whose verdicts the test gives, by the word of the input. */
  function slow() {
    const verdicts = new Map<string, Held<StandardSchemaV1.Result<{ word: string }>>>();
    const input: StandardSchemaV1<unknown, { word: string }> = {
      '~standard': {
        version: 1,
        vendor: 'slow',
        validate: (value) => {
          const verdict = held<StandardSchemaV1.Result<{ word: string }>>();
          verdicts.set((value as { word: string }).word, verdict);
          return verdict.promise;
        },
      },
    };
    return {
      input,
      parameters: { type: 'object' },
      accept: (word: string) => verdicts.get(word)?.resolve({ value: { word } }),
      refuse: (word: string, message: string) => verdicts.get(word)?.resolve({ issues: [{ message, path: ['word'] }] }),
    };
  }

  it('keeps the call admitted until it has judged', async () => {
    const { accept, refuse, ...schema } = slow();
    const { tool, inputs } = keeping(schema.input, { parameters: schema.parameters });
    const { session, emit, driverCalls } = await stage({ tools: [tool] });
    await emit(toolCall('good', 'lookup', { word: 'good' }), toolCall('bad', 'lookup', { word: 'bad' }));
    expect(session.calls().map(({ state }) => state)).toEqual(['admitted', 'admitted']);
    accept('good');
    refuse('bad', 'is too bad');
    await quiet();
    expect(inputs).toEqual([{ word: 'good' }]);
    expect(driverCalls.find((call) => 'id' in call && call.id === 'bad')).toMatchObject({
      output: expect.stringContaining('word: is too bad'),
      isError: true,
    });
    await session.close();
  });

  it('is bounded by timeoutMs; a verdict that comes later is nobody’s', async () => {
    const { accept, ...schema } = slow();
    const { tool, inputs } = keeping(schema.input, { parameters: schema.parameters, timeoutMs: 100 });
    const { session, emit, clock, driverCalls } = await stage({ tools: [tool] });
    await emit(toolCall('c1', 'lookup', { word: 'a' }));
    await clock.advance(99, quiet);
    expect(driverCalls).toHaveLength(1);
    await clock.advance(1, quiet);
    expect(driverCalls.at(-1)).toMatchObject({ id: 'c1', output: expect.stringContaining('100 ms'), isError: true });
    accept('a');
    await quiet();
    expect(inputs).toEqual([]);
    expect(session.calls()).toMatchObject([{ state: 'completed' }]);
    expect(clock.pending).toBe(0);
    await session.close();
  });

  it('the time of the code is counted from its own start', async () => {
    const { accept, ...schema } = slow();
    const code = held();
    const tool = defineTool({ ...base, ...schema, timeoutMs: 100, execute: () => code.promise });
    const { session, emit, clock } = await stage({ tools: [tool] });
    await emit(toolCall('c1', 'lookup', { word: 'a' }));
    await clock.advance(80, quiet);
    accept('a');
    await quiet();
    await clock.advance(99, quiet);
    expect(session.calls()).toMatchObject([{ state: 'executing' }]);
    await clock.advance(1, quiet);
    expect(session.calls()).toMatchObject([{ state: 'completed' }]);
    await session.close();
  });

  it.each<[string, BidiEvent]>([
    ['an interruption', { type: 'interrupted' }],
    ['a withdrawal', { type: 'tool_call_cancelled', ids: ['c1'] }],
  ])('%s meanwhile abandons the call: the code never starts', async (_, event) => {
    const { accept, ...schema } = slow();
    let asked = 0;
    const { tool, inputs } = keeping(schema.input, {
      parameters: schema.parameters,
      timeoutMs: 100,
      needsApproval: () => asked++ === 0,
    });
    const { session, emit, clock, driverCalls } = await stage({ tools: [tool] });
    await emit(toolCall('c1', 'lookup', { word: 'a' }), event);
    expect(session.calls()).toMatchObject([{ state: 'abandoned' }]);
    expect(clock.pending).toBe(0);
    accept('a');
    await quiet();
    expect([inputs, asked]).toEqual([[], 0]);
    expect(driverCalls).toHaveLength(1);
    await session.close();
  });

  it('the end of the session meanwhile cancels the call', async () => {
    const { accept, ...schema } = slow();
    const { tool, inputs } = keeping(schema.input, { parameters: schema.parameters });
    const { session, emit } = await stage({ tools: [tool] });
    await emit(toolCall('c1', 'lookup', { word: 'a' }));
    await session.close();
    accept('a');
    await quiet();
    expect(await session.closed).toMatchObject({ calls: [{ state: 'cancelled' }] });
    expect(inputs).toEqual([]);
  });

  it('places go in the order of admission all the same', async () => {
    const { accept, ...schema } = slow();
    const running: string[] = [];
    const code = new Map<string, Held<string>>();
    const tool = defineTool({
      ...base,
      ...schema,
      execute: ({ word }) => {
        running.push(word);
        const own = held<string>();
        code.set(word, own);
        return own.promise;
      },
    });
    const { session, emit } = await stage({ tools: [tool], maxConcurrentTools: 1 });
    await emit(...['a', 'b', 'c'].map((word) => toolCall(word, 'lookup', { word })));
    accept('a');
    await quiet();
    accept('c');
    await quiet();
    accept('b');
    await quiet();
    expect(session.calls().map(({ state }) => state)).toEqual(['executing', 'queued', 'queued']);
    code.get('a')?.resolve('');
    await quiet();
    code.get('b')?.resolve('');
    await quiet();
    expect(running).toEqual(['a', 'b', 'c']);
    await session.close();
  });
});

describe('what a tool gives', () => {
  const giving = (value: unknown) => sentFor(defineTool({ ...base, input: {}, execute: () => value }), {});

  it.each<[string, unknown, string]>([
    ['a text as it is', 'plain "text"', 'plain "text"'],
    ['the empty text', '', ''],
    ['nothing as the empty text', undefined, ''],
    ['an object as JSON', { a: [1, null, 'x'], gone: undefined }, '{"a":[1,null,"x"]}'],
    ['a list', [1, 2], '[1,2]'],
    ['a number', 0, '0'],
    ['a truth value', false, 'false'],
    ['null', null, 'null'],
    ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['what writes itself', { toJSON: () => ({ written: true }) }, '{"written":true}'],
  ])('sends %s', async (_, value, output) => {
    expect(await giving(value)).toEqual({ output, isError: false });
    expect(await giving(Promise.resolve(value))).toEqual({ output, isError: false });
  });

  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  it.each<[string, unknown, RegExp]>([
    ['a BigInt', { big: 1n }, /BigInt|bigint/],
    ['a circle', circular, /circular/],
    ['a function', () => {}, /function/],
    ['a symbol', Symbol('s'), /symbol/],
  ])('sends one error result for %s, which JSON cannot hold', async (_, value, words) => {
    const { output, isError } = await giving(value);
    expect(isError).toBe(true);
    expect(output).toMatch(words);
    expect(output).toContain('JSON');
  });

  it('tool_completed tells what was sent', async () => {
    const { session, emit } = await stage({ tools: [defineTool({ ...base, input: {}, execute: () => ({ a: 1 }) })] });
    const seen: unknown[] = [];
    session.events$.subscribe((event) => seen.push(event));
    await emit(toolCall('c1', 'lookup'));
    expect(seen.at(-1)).toMatchObject({
      type: 'tool_completed',
      toolUseId: 'c1',
      toolName: 'lookup',
      output: '{"a":1}',
      isError: false,
    });
    await session.close();
  });
});

describe('the context of a tool', () => {
  it('names the call, the session and the run', async () => {
    let context: ToolContext | undefined;
    const tool = defineTool({
      ...base,
      input: {},
      execute: (_, given) => {
        context = given;
      },
    });
    const { session, emit } = await stage({ tools: [tool] });
    await emit(toolCall('c1', 'lookup'));
    expect(context).toMatchObject({ toolUseId: 'c1', sessionId: session.sessionId, turnId: session.turnId });
    expect(context?.signal).toBeInstanceOf(AbortSignal);
    await session.close();
  });

  it('is what needsApproval is told, beside the input', async () => {
    const told: unknown[] = [];
    const tool = defineTool({
      ...base,
      input: z.object({ amount: z.number() }),
      needsApproval: ({ amount }, { toolUseId }) => {
        told.push([amount, toolUseId]);
        return amount > 100;
      },
      execute: () => '',
    });
    const { session, emit } = await stage({ tools: [tool] });
    await emit(toolCall('low', 'lookup', { amount: 5 }), toolCall('high', 'lookup', { amount: 500 }));
    expect(told).toEqual([
      [5, 'low'],
      [500, 'high'],
    ]);
    expect(session.calls().map(({ state }) => state)).toEqual(['completed', 'awaiting_approval']);
    await session.close();
  });
});

describe('a definition', () => {
  const good = { ...base, input: {}, execute: () => '' };

  it('has defaults', () => {
    expect(defineTool(good)).toMatchObject({
      ...base,
      parameters: {},
      onInterruption: 'abandon',
      effect: 'irreversible',
      timeoutMs: 0,
      needsApproval: false,
      onLate: undefined,
    });
  });

  it.each<[string, Record<string, unknown>, new () => Error, RegExp]>([
    ['an empty name', { name: '' }, TypeError, /name/],
    ['a name that is no text', { name: 1 }, TypeError, /name/],
    ['a description that is no text', { description: undefined }, TypeError, /description/],
    ['no code', { execute: 'run' }, TypeError, /execute/],
    ['a policy that is none', { onInterruption: 'ignore' }, TypeError, /onInterruption.*abandon, cancel, deliver/],
    ['an effect that is none', { effect: 'none' }, TypeError, /effect.*read, idempotent, irreversible/],
    ['an approval that is neither', { needsApproval: 'yes' }, TypeError, /needsApproval/],
    ['an onLate that is none', { onLate: 1 }, TypeError, /onLate/],
    ['no schema', { input: undefined }, TypeError, /input/],
    ['null for a schema', { input: null }, TypeError, /input/],
    ['a list for a schema', { input: [] }, TypeError, /input/],
    ['a truth value for a schema', { input: true }, TypeError, /input/],
    ['a function that is no schema', { input: () => {} }, TypeError, /input/],
    ['`parameters` that are no object', { parameters: 'object' }, TypeError, /parameters/],
    ['a negative time', { timeoutMs: -1 }, RangeError, /timeoutMs/],
    ['a time beyond timers', { timeoutMs: 2 ** 31 }, RangeError, /timeoutMs/],
    ['half a millisecond', { timeoutMs: 0.5 }, RangeError, /timeoutMs/],
  ])('with %s is refused with words that say so', (_, wrong, error, words) => {
    const define = () => defineTool({ ...good, ...wrong } as never);
    expect(define).toThrow(error);
    expect(define).toThrow(words);
  });

  it.each([undefined, null, 1, 'tool'])('%s is refused with a TypeError', (definition) => {
    expect(() => defineTool(definition as never)).toThrow(TypeError);
  });

  it('gives its code the type that its schema says', () => {
    defineTool({
      ...base,
      input: z.object({ word: z.string(), depth: z.number().default(1) }),
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ word: string; depth: number }>(),
    });
    defineTool({
      ...base,
      input: type({ word: 'string' }),
      execute: (input) => expectTypeOf(input).toEqualTypeOf<{ word: string }>(),
    });
    defineTool({
      ...base,
      input: { type: 'object' },
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>(),
    });
  });
});

describe('where no code may be made from text', () => {
  it('every kind of schema works', async () => {
    const { code, stdout, stderr } = await runChild('without-code-generation', [
      '--disallow-code-generation-from-strings',
    ]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { canMakeCode, sent } = JSON.parse(stdout);
    expect(canMakeCode).toBe(false);
    for (const kind of ['json_schema', 'zod', 'valibot', 'arktype']) {
      expect(sent[`${kind} good`]).toEqual({ output: `${kind} got moon`, isError: false });
      expect(sent[`${kind} bad`]).toEqual({ output: expect.stringContaining('word'), isError: true });
    }
  }, 60_000);
});
