/** The page alone must tell why a call was abandoned: a sentence for each cause, before and after its code began. */
import { expect, test } from 'vitest';
import { framesOf } from '../../../src/cli/inspect-frames.js';
import { scenarioSource } from '../../../src/cli/inspect-source.js';
import type { Frame } from '../../../src/inspect/view/frames.js';
import { parseScenario } from '../../../src/scenario/parse.js';
import { conversationOf, problemsOf, stepsOf } from './frames.js';

type Lines = readonly object[];

async function runOf(header: object, lines: Lines): Promise<readonly Frame[]> {
  const text = [{ scenario: 'why', ...header }, ...lines].map((line) => JSON.stringify(line)).join('\n');
  const frames = await framesOf(scenarioSource('why', parseScenario(text, 'why')));
  expect(problemsOf(frames)).toEqual([]);
  return frames;
}

const call = (id = 'c1') => ({ far: { type: 'tool_call', id, name: 't', arguments: '{"a":1}' } });
const tool = (rules: object = {}) => ({ tools: { t: { effect: 'read', ...rules } } });
const interrupted = { far: { type: 'interrupted' } };
const withdrawn = { far: { type: 'tool_call_cancelled', ids: ['c1'] } };
const durable = { journal: { durable: true, holdFlush: true } };
const written = { tools: { t: { effect: 'irreversible' } } };
const byUser = 'interrupted by the user before its commit point; its policy is';
const back = 'taken back by the far side before its commit point:';

test.each<[string, object, Lines, string]>([
  [
    'abandon, while its code runs',
    tool(),
    [call(), interrupted],
    `${byUser} abandon: its code runs on, unheard, and what it gives is sent to nobody`,
  ],
  [
    'cancel, while its code runs',
    tool({ onInterruption: 'cancel' }),
    [call(), interrupted],
    `${byUser} cancel: its signal is aborted, and what its code still gives is sent to nobody`,
  ],
  [
    'while it waits for approval',
    tool({ needsApproval: true }),
    [call(), interrupted],
    `${byUser} abandon: its code had not started, and never will`,
  ],
  [
    'while it waits for a place',
    { ...tool(), options: { maxConcurrentTools: 1 } },
    [call('c0'), call(), interrupted],
    `${byUser} abandon: its code had not started, and never will`,
  ],
  [
    'while its start is written down',
    { ...written, ...durable },
    [call(), interrupted],
    `${byUser} abandon: its code had not started, and never will`,
  ],
  [
    'while its result is written down',
    { ...written, ...durable },
    [call(), { flush: 'resolve' }, { tool: 'c1', resolve: 'x' }, interrupted],
    `${byUser} abandon: its result is sent to nobody`,
  ],
  [
    'while the result of code that took too long is written down',
    { tools: { t: { effect: 'irreversible', timeoutMs: 10 } }, ...durable },
    [call(), { flush: 'resolve' }, { clock: 10 }, interrupted],
    `${byUser} abandon: its code, whose time had run out, runs on, unheard`,
  ],
  [
    'withdrawn, while its code runs',
    tool(),
    [call(), withdrawn],
    `${back} its signal is aborted, and what its code still gives is sent to nobody`,
  ],
  [
    'withdrawn, before its code',
    tool({ needsApproval: true }),
    [call(), withdrawn],
    `${back} its code had not started, and never will`,
  ],
])('abandoned: %s', async (_, header, lines, why) => {
  const frames = await runOf(header, lines);
  const step = stepsOf(frames).find(({ actor, to }) => actor.endsWith('/c1') && to.startsWith('abandoned'));
  expect(step?.why).toBe(why);
  // it is no more part of the conversation, and the step that led to it is named
  expect(conversationOf(frames).find(({ id }) => id.endsWith('/c1'))?.how).toBe('withdrawn');
  const cause = stepsOf(frames)[(step?.cause ?? 0) - 1];
  expect(cause?.event).toMatch(/^(interrupted|tool_call_cancelled)$/);
  expect(step?.arrows.some(({ from }) => from === 'session')).toBe(true);
});

test.each<[string, object, Lines, string, RegExp]>([
  [
    'the host closes',
    tool(),
    [call(), { host: 'close' }],
    'cancelled',
    /the session ended before its commit point \(the host closed it\): its signal is aborted/,
  ],
  [
    'the host aborts, before its code',
    tool({ needsApproval: true }),
    [call(), { host: 'abort' }],
    'cancelled',
    /the host aborted it\): its code had not started/,
  ],
  [
    'the far side goes with a result on its way',
    { ...tool(), provider: { holdPublish: true } },
    [call(), { tool: 'c1', resolve: 'x' }, { far: { type: 'closed' } }],
    'unconfirmed',
    /passed its commit point, and the session ended \(the far side closed it\)/,
  ],
  [
    'the far side refuses the result',
    { ...tool(), provider: { holdPublish: true } },
    [call(), { tool: 'c1', resolve: 'x' }, { publish: 'c1', reject: 'no' }],
    'rejected',
    /the far side refused its result/,
  ],
  [
    'the far side does not answer',
    { ...tool(), provider: { holdPublish: true }, options: { publishTimeoutMs: 5 } },
    [call(), { tool: 'c1', resolve: 'x' }, { clock: 5 }],
    'unconfirmed',
    /time ran out before the far side answered/,
  ],
])('%s', async (_, header, lines, to, why) => {
  const frames = await runOf(header, lines);
  expect(stepsOf(frames).find((step) => step.actor.endsWith('/c1') && step.to === to)?.why).toMatch(why);
});

test('a result that was past its commit point stands, and the interruption says why', async () => {
  const frames = await runOf({ ...tool(), provider: { holdPublish: true } }, [
    call(),
    { tool: 'c1', resolve: 'seven' },
    { far: { type: 'text', text: 'Seven it' } },
    interrupted,
    { publish: 'c1', accept: true },
  ]);
  const entries = conversationOf(frames).map(({ who, text, how }) => [who, text, how]);
  expect(entries).toEqual([
    ['call', 't({"a":1})', 'stands'],
    ['result', 'seven', 'stands'],
    ['agent', 'Seven it', 'stands'],
    ['note', 'the user spoke over it', 'stands'],
  ]);
  const interruption = stepsOf(frames).find(({ event, kind }) => event === 'interrupted' && kind === 'session');
  expect(interruption?.why).toContain('those past it go on');
});

test('what is said is provisional until its stretch is complete', async () => {
  const text = { far: { type: 'text', text: 'Half of' } };
  const before = await runOf(tool(), [text]);
  expect(conversationOf(before)).toMatchObject([{ text: 'Half of', how: 'provisional' }]);
  const after = await runOf(tool(), [text, { far: { type: 'text', text: ' it' } }, { far: { type: 'turn_complete' } }]);
  expect(conversationOf(after)).toMatchObject([{ text: 'Half of it', how: 'stands' }]);
});

test('a text that is too long is cut, and says so', async () => {
  const frames = await runOf(tool(), [{ far: { type: 'text', text: '𝒂'.repeat(3000) } }]);
  const [entry] = conversationOf(frames);
  expect(entry?.text).toMatch(/^(?:𝒂)+…$/u);
  expect(entry?.text.length).toBeLessThanOrEqual(2000);
});

test('of a run that is too long the first steps are shown, and all of it is judged', async () => {
  const lines = Array.from({ length: 40 }, () => ({ far: { type: 'turn_complete' } }));
  const text = [{ scenario: 'long' }, ...lines].map((line) => JSON.stringify(line)).join('\n');
  const frames = await framesOf(scenarioSource('long', parseScenario(text, 'long')), 20);
  expect(problemsOf(frames)).toEqual([]);
  expect(stepsOf(frames)).toHaveLength(20);
  expect(frames.find(({ type }) => type === 'dropped')).toMatchObject({ count: 22 });
});
