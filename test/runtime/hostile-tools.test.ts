/** Tools that break every promise: the outcome is typed, nothing hangs, nothing reaches the process. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../src/runtime/index.js';
import {
  boom,
  disguised,
  revoked,
  thenable,
  thorny,
  throwing,
  twice,
  unadoptable,
  unprintable,
} from './hostile-parts.js';
import { expectNoHarm } from './no-harm.js';
import { held, quiet, readAll, stage, toolCall } from './stage.js';

expectNoHarm();

function nest(depth: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

describe('the code of a tool', () => {
  /** Runs one call of `execute` and gives what was sent for it. */
  async function sentBy(execute: () => unknown) {
    const { session, driverCalls, emit } = await stage({
      tools: [defineTool({ name: 'bad', description: '', input: {}, execute })],
    });
    const { seen } = readAll(session);
    await emit(toolCall('c1', 'bad'), { type: 'text', text: 'the conversation goes on' });
    expect(seen.map(({ type }) => type).sort()).toEqual(['text', 'tool_completed', 'tool_started']);
    const results = driverCalls.filter(({ method }) => method === 'sendToolResult');
    expect(results).toHaveLength(1);
    const [sent] = results as [Extract<(typeof results)[number], { method: 'sendToolResult' }>];
    expect(typeof sent.output).toBe('string');
    expect(seen.find(({ type }) => type === 'tool_completed')).toMatchObject({
      output: sent.output,
      isError: sent.isError,
    });
    await session.close();
    return { output: sent.output, isError: sent.isError };
  }

  const thrown: [string, unknown, unknown][] = [
    ['an error', boom, 'boom'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['a text', 'plain words', 'plain words'],
    ['a number', 42, '42'],
    ['a symbol', Symbol('why'), expect.stringContaining('why')],
    ['an object', { message: 'an object says' }, 'an object says'],
    ['an object with a message that is no text', { message: { a: 1 } }, expect.any(String)],
    ['an object without a prototype', Object.create(null), expect.any(String)],
    ['what cannot be printed', unprintable(), expect.any(String)],
    ['a proxy that throws', thorny(), expect.any(String)],
    ['a revoked proxy', revoked(), expect.any(String)],
    ['a function', () => {}, expect.any(String)],
  ];

  it.each(thrown)('throws %s: one error result that says what there is to say', async (_, error, output) => {
    expect(await sentBy(throwing(error))).toEqual({ output, isError: true });
    expect(await sentBy(() => Promise.reject(error))).toEqual({ output, isError: true });
    expect(await sentBy(() => thenable(throwing(error)))).toEqual({ output, isError: true });
  });

  it.each<[string, () => unknown, string]>([
    ['a thenable', () => twice('first', 'second'), 'first'],
    ['a promise in disguise', () => disguised('first', 'second'), 'first'],
    ['a function with a `then`', () => Object.assign(() => {}, thenable(twice('first', 'second').then)), 'first'],
  ])('settles twice, as %s: the first counts', async (_, execute, output) => {
    expect(await sentBy(execute)).toEqual({ output, isError: false });
  });

  it.each<[string, unknown]>([
    ['a BigInt', 1n],
    ['a function', () => {}],
    ['a symbol', Symbol('a')],
    ['what throws when it is written', { toJSON: throwing(boom) }],
    ['what throws what cannot be printed', { toJSON: throwing(unprintable()) }],
    ['what has no JSON', { toJSON: () => undefined }],
    ['a proxy that throws when it is written', new Proxy({}, { ownKeys: throwing(boom) })],
  ])('gives %s: one error result', async (_, value) => {
    expect(await sentBy(async () => value)).toMatchObject({ isError: true });
  });

  // how deep JSON.stringify goes is the engine's affair: Node 26 has no bound
  it('gives something nested beyond reason: one result, its JSON or an error', async () => {
    const { output, isError } = await sentBy(async () => nest(50_000));
    if (isError) expect(output).toContain('JSON cannot hold');
    else expect(output.length).toBeGreaterThan(50_000);
  });

  it('gives a promise that cannot be adopted: one error result', async () => {
    expect(await sentBy(() => unadoptable('x'))).toEqual({ output: 'boom', isError: true });
  });

  it('tells onLate once, however often the code settles', async () => {
    const told: unknown[] = [];
    let settle: ((value: unknown) => void)[] = [];
    const { session, emit } = await stage({
      tools: [
        defineTool({
          name: 'bad',
          description: '',
          input: {},
          execute: () =>
            thenable((...callbacks: ((value: unknown) => void)[]) => {
              settle = callbacks;
            }),
          onLate: (outcome) => {
            told.push(outcome);
          },
        }),
      ],
    });
    await emit(toolCall('c1', 'bad'), { type: 'interrupted' });
    const [resolve, reject] = settle as [(value: unknown) => void, (error: unknown) => void];
    resolve('a');
    resolve('b');
    reject(boom);
    await quiet();
    expect(told).toEqual([{ status: 'resolved', value: 'a' }]);
    await session.close();
  });
});

describe('what stands beside the code of a tool', () => {
  it.each<[string, () => unknown, unknown]>([
    ['throws', throwing(boom), 'boom'],
    ['throws what cannot be printed', throwing(unprintable()), expect.any(String)],
  ])('needsApproval that %s: one error result, the code never runs', async (_, needsApproval, output) => {
    let runs = 0;
    const { session, driverCalls, emit } = await stage({
      tools: [
        defineTool({
          name: 'careful',
          description: '',
          input: {},
          needsApproval: needsApproval as () => boolean,
          execute: () => runs++,
        }),
      ],
    });
    await emit(toolCall('c1', 'careful'));
    expect(driverCalls.at(-1)).toEqual({ method: 'sendToolResult', id: 'c1', output, isError: true });
    expect(runs).toBe(0);
    await session.close();
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a promise of false', async () => false],
    ['a promise that rejects', () => Promise.reject(boom)],
    ['a thenable that throws', () => thenable(throwing(boom))],
    ['a promise that cannot be adopted', () => unadoptable(false)],
    ['what throws when it is looked at', () => thorny()],
    ['zero', () => 0],
  ])('needsApproval that gives %s: the call waits for approval, which is the safe side', async (_, needsApproval) => {
    const { session, emit, driverCalls } = await stage({
      tools: [
        defineTool({
          name: 'careful',
          description: '',
          input: {},
          needsApproval: needsApproval as () => boolean,
          execute: () => 'ran',
        }),
      ],
    });
    await emit(toolCall('c1', 'careful'));
    expect(session.calls()).toEqual([{ id: 'c1', name: 'careful', state: 'awaiting_approval' }]);
    await session.approve('c1');
    await quiet();
    expect(driverCalls.at(-1)).toMatchObject({ output: 'ran', isError: false });
    await session.close();
  });

  it.each<[string, () => unknown]>([
    ['throws', throwing(boom)],
    ['throws null', throwing(null)],
    ['rejects', () => Promise.reject(boom)],
    ['gives a thenable that throws', () => thenable(throwing(boom))],
    ['gives a promise that cannot be adopted', () => unadoptable(1)],
    ['throws what cannot be printed', throwing(unprintable())],
  ])('onLate that %s is noted, the session goes on', async (_, onLate) => {
    const code = held();
    const { session, lifecycle, emit } = await stage({
      tools: [
        defineTool({
          name: 'slow',
          description: '',
          input: {},
          execute: () => code.promise,
          onLate: onLate as () => void,
        }),
      ],
    });
    await emit(toolCall('c1', 'slow'), { type: 'interrupted' });
    code.resolve('late');
    await quiet();
    expect(lifecycle.filter(({ type }) => type === 'diagnostic')).toMatchObject([{ code: 'host_callback_threw' }]);
    expect(session.actor.getSnapshot().value).toEqual({ open: 'waiting' });
    await session.close();
  });

  /** A Standard Schema that judges as it is told. */
  const judging = (validate: () => unknown): StandardSchemaV1 => ({
    '~standard': { version: 1, vendor: 'hostile', validate: validate as () => StandardSchemaV1.Result<unknown> },
  });

  it.each<[string, () => unknown]>([
    ['throws', throwing(boom)],
    ['throws null', throwing(null)],
    ['throws what cannot be printed', throwing(unprintable())],
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives a text', () => 'valid'],
    ['gives a proxy that throws', () => thorny()],
    ['gives issues that are no list', () => ({ issues: 'bad' })],
    ['gives issues that are nothing', () => ({ issues: [null, undefined] })],
    ['gives issues that cannot be read', () => ({ issues: [thorny()] })],
    [
      'gives issues with paths of symbols',
      () => ({ issues: [{ message: 'bad', path: [Symbol('p'), { key: Symbol('k') }] }] }),
    ],
    ['gives no issues at all', () => ({ issues: [] })],
    ['rejects', () => Promise.reject(boom)],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['resolves with nothing', async () => undefined],
    ['gives a thenable that throws', () => thenable(throwing(boom))],
    ['gives a promise that cannot be adopted', () => unadoptable({ value: 1 })],
  ])('a schema that %s: one error result, the code never runs', async (_, validate) => {
    let runs = 0;
    const { session, driverCalls, emit } = await stage({
      tools: [
        defineTool({
          name: 'picky',
          description: '',
          input: judging(validate),
          parameters: { type: 'object' },
          execute: () => runs++,
        }),
      ],
    });
    await emit(toolCall('c1', 'picky'), { type: 'text', text: 'on' });
    const sent = driverCalls.filter(({ method }) => method === 'sendToolResult');
    expect(sent).toMatchObject([{ id: 'c1', isError: true, output: expect.any(String) }]);
    expect(runs).toBe(0);
    expect(session.calls()).toMatchObject([{ state: 'completed' }]);
    await session.close();
  });

  it.each<[string, () => unknown]>([
    ['a thenable', () => twice({ value: 'first' }, { value: 'second' })],
    ['a promise in disguise', () => disguised({ value: 'first' }, { value: 'second' })],
  ])('a schema whose verdict, as %s, comes twice: the first counts, the code runs once', async (_, validate) => {
    const inputs: unknown[] = [];
    const { session, emit } = await stage({
      tools: [
        defineTool({
          name: 'picky',
          description: '',
          input: judging(validate),
          parameters: { type: 'object' },
          execute: (input) => {
            inputs.push(input);
          },
        }),
      ],
    });
    await emit(toolCall('c1', 'picky'));
    expect(inputs).toEqual(['first']);
    await session.close();
  });
});
