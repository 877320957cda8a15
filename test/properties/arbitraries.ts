/**
 * Random scenarios: sessions with small limits, and steps that are mostly legal
 * and mostly possible. A step names calls that were made before it; what a
 * header makes impossible (an answer that is not held back) is left out.
 */
import fc from 'fast-check';
import type { Scenario, ScenarioHeader, ScenarioTool, Step } from '../../src/scenario/scenario.js';

// ── headers ──

/** The tools that a header may have. Calls name others, too. */
export const toolNames = ['alpha', 'beta', 'gamma'] as const;

const wordSchema = {
  type: 'object',
  properties: { word: { type: 'string' }, count: { type: 'integer', minimum: 0 } },
  required: ['word'],
  additionalProperties: false,
} as const;

/** Code that waits for its step, mostly; some returns or throws at once. */
const code: fc.Arbitrary<Pick<ScenarioTool, 'result' | 'throws'>> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constant({ result: '42' }) },
  { weight: 1, arbitrary: fc.constant({ throws: 'no' }) },
);

/** A scripted tool: every policy, effect and kind of code, with and without a schema, a limit of time, an approval. */
export const tool: fc.Arbitrary<ScenarioTool> = fc
  .tuple(
    code,
    fc.record(
      {
        onInterruption: fc.constantFrom('abandon', 'cancel', 'deliver'),
        timeoutMs: fc.constantFrom(0, 5, 20),
        needsApproval: fc.constantFrom(false, false, true),
        effect: fc.constantFrom('read', 'idempotent', 'irreversible'),
        input: fc.constant(wordSchema as Readonly<Record<string, unknown>>),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([how, rules]) => ({ ...rules, ...how }));

const tools: fc.Arbitrary<Readonly<Record<string, ScenarioTool>>> = fc.record(
  { alpha: tool, beta: tool, gamma: tool },
  { requiredKeys: ['alpha'] },
) as fc.Arbitrary<Readonly<Record<string, ScenarioTool>>>;

/** Limits so small that random histories reach them. */
export const options: fc.Arbitrary<NonNullable<ScenarioHeader['options']>> = fc.record(
  {
    maxConcurrentTools: fc.constantFrom(1, 1, 2, 3),
    maxOpenCalls: fc.constantFrom(1, 2, 3, 4, 4, 6),
    maxBufferedEvents: fc.constantFrom(1, 2, 4, 6, 12),
    connectTimeoutMs: fc.constantFrom(0, 10, 30),
    publishTimeoutMs: fc.constantFrom(0, 10, 25),
    closeTimeoutMs: fc.constantFrom(0, 10, 40),
    dropUnreadAudio: fc.boolean(),
  },
  { requiredKeys: [] },
);

const journal: fc.Arbitrary<ScenarioHeader['journal']> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ durable: fc.constantFrom(true, true, false), holdFlush: fc.boolean() }) },
);

/** The first line of a random scenario. */
export const header: fc.Arbitrary<ScenarioHeader> = fc
  .record({
    tools,
    options,
    provider: fc.record({
      holdConnect: fc.constantFrom(false, false, false, true),
      holdPublish: fc.boolean(),
      holdClose: fc.constantFrom(false, false, true),
      abandonToolCall: fc.boolean(),
      interrupt: fc.constantFrom(true, true, false),
    }),
    journal,
  })
  .map(({ journal, ...rest }) => (journal === undefined ? rest : { ...rest, journal }));

// ── steps ──

/** The ids that a scenario has used so far. Fixed width: none is part of another. */
class Ids {
  readonly #used: string[] = [];
  readonly #names: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  fresh(): string {
    const index = this.#used.length;
    const id = this.#names[index] ?? `t${String(index).padStart(2, '0')}`;
    this.#used.push(id);
    return id;
  }

  /** One of the latest; `undefined` while there is none. */
  recent(back: number): string | undefined {
    return this.#used.at(-1 - Math.min(back, this.#used.length - 1));
  }
}

/** A step that is told at last which ids there are. */
type Draft = (ids: Ids) => Step | undefined;

const back = fc.nat({ max: 5 });
const word = fc.constantFrom('a', 'b', 'two words', 'é', '"quoted"', '');

/** Arguments of a call, and whether the schema of {@link wordSchema} takes them. */
export const soundArguments = fc.constantFrom('{"word":"a"}', '{"word":"b","count":3}', ' {"word": "é"} ');
const anyArguments = fc.constantFrom(
  '',
  '{}',
  '{"word":1}',
  '{"word":"a","count":-1}',
  '{"word":"a","other":true}',
  '{"word":"a"',
  'null',
  '[]',
  '"text"',
  '7',
  '{"__proto__":{"word":"a"},"word":"b"}',
);
const anyTool = fc.constantFrom(...toolNames, 'delta', 'constructor', '');

const far = (event: unknown): Step => ({ far: event });
const about = (make: (id: string) => Step): fc.Arbitrary<Draft> =>
  back.map((steps) => (ids: Ids) => {
    const id = ids.recent(steps);
    return id === undefined ? undefined : make(id);
  });

const plain = (step: Step): fc.Arbitrary<Draft> => fc.constant(() => step);

/** What a far side says when it keeps to the contract and does not end. */
const legal: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 8, arbitrary: word.map((text) => () => far({ type: 'text', text })) },
  { weight: 4, arbitrary: word.map((data) => () => far({ type: 'audio', data, mediaType: 'audio/pcm' })) },
  {
    weight: 14,
    arbitrary: fc.tuple(fc.constantFrom(...toolNames), soundArguments).map(
      ([name, text]) =>
        (ids: Ids) =>
          far({ type: 'tool_call', id: ids.fresh(), name, arguments: text }),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(anyTool, anyArguments).map(
      ([name, text]) =>
        (ids: Ids) =>
          far({ type: 'tool_call', id: ids.fresh(), name, arguments: text }),
    ),
  },
  { weight: 3, arbitrary: plain(far({ type: 'turn_complete' })) },
  { weight: 6, arbitrary: plain(far({ type: 'interrupted' })) },
  { weight: 1, arbitrary: plain(far({ type: 'error', message: 'far away' })) },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.array(back, { maxLength: 3 }), fc.boolean()).map(([steps, unknown]) => (ids: Ids) => {
      const named = steps.flatMap((step) => ids.recent(step) ?? []);
      return far({ type: 'tool_call_cancelled', ids: unknown ? [...named, 'nobody'] : named });
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<unknown>(
        { type: 'usage', inputTokens: 3 },
        { type: 'usage', inputTokens: 'three' },
        { type: 'input_text', text: 'hm', final: true },
        { type: 'input_text', text: 'hm' },
        { type: 'expiring', inMs: 1000 },
        { type: 'expiring', inMs: -1 },
        { type: 'something_new', text: 'x' },
        { type: '' },
        { type: 'toString' },
      )
      .map((event) => () => far(event)),
  },
);

/** What ends a session, from the far side. */
const farEnd: fc.Arbitrary<Draft> = fc.oneof(
  fc
    .constantFrom<unknown>(
      null,
      'text',
      7,
      [],
      {},
      { type: 3 },
      { type: 'text' },
      { type: 'audio', data: 'x' },
      { type: 'error' },
      { type: 'closed', reason: 4 },
      { type: 'tool_call', id: '', name: 'alpha', arguments: '{}' },
      { type: 'tool_call', id: 'bad', name: 'alpha', arguments: {} },
      { type: 'tool_call', id: 'bad', arguments: '{}' },
      { type: 'tool_call_cancelled' },
      { type: 'tool_call_cancelled', ids: ['t00', ''] },
    )
    .map((event) => () => far(event)),
  fc.tuple(fc.constantFrom(...toolNames), soundArguments, back).map(([name, text, steps]) => (ids: Ids) => {
    const id = ids.recent(steps);
    return id === undefined ? undefined : far({ type: 'tool_call', id, name, arguments: text });
  }),
  plain(far({ type: 'closed' })),
  plain(far({ type: 'closed', reason: 'bye' })),
  plain({ far_stream: 'end' }),
  plain({ far_stream: 'fail', message: 'socket gone' }),
);

/** What ends a session, from the host. */
const hostEnd: fc.Arbitrary<Draft> = fc
  .constantFrom<Step>({ host: 'close' }, { host: 'abort', reason: 'enough' }, { host: 'abort' })
  .map((step) => () => step);

const answers: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 12, arbitrary: about((id) => ({ tool: id, resolve: 'done' })) },
  { weight: 3, arbitrary: about((id) => ({ tool: id, reject: 'failed' })) },
  { weight: 8, arbitrary: about((id) => ({ publish: id, accept: true })) },
  { weight: 2, arbitrary: about((id) => ({ publish: id, reject: 'not now' })) },
  { weight: 8, arbitrary: plain({ flush: 'resolve' }) },
  { weight: 1, arbitrary: plain({ flush: 'reject', message: 'disk full' }) },
  { weight: 2, arbitrary: plain({ connect: 'resolve' }) },
  { weight: 1, arbitrary: plain({ connect: 'reject', message: 'no route' }) },
  { weight: 1, arbitrary: plain({ close: 'resolve' }) },
  { weight: 1, arbitrary: plain({ close: 'reject', message: 'stuck' }) },
);

const host: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 3, arbitrary: plain({ host: 'send', input: { type: 'text', text: 'hello' } }) },
  { weight: 2, arbitrary: plain({ host: 'interrupt', playedMs: 120 }) },
  { weight: 1, arbitrary: plain({ host: 'interrupt' }) },
  { weight: 6, arbitrary: about((id) => ({ host: 'approve', id })) },
  { weight: 2, arbitrary: about((id) => ({ host: 'deny', id, message: 'not allowed' })) },
  { weight: 1, arbitrary: plain({ host: 'approve', id: 'nobody' }) },
  { weight: 3, arbitrary: plain({ host: 'pause' }) },
  { weight: 4, arbitrary: plain({ host: 'resume' }) },
);

const clock: fc.Arbitrary<Draft> = fc.constantFrom(0, 1, 4, 5, 10, 25, 60).map((ms) => () => ({ clock: ms }));

const draft: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 40, arbitrary: legal },
  { weight: 32, arbitrary: answers },
  { weight: 12, arbitrary: host },
  { weight: 7, arbitrary: clock },
  { weight: 1, arbitrary: fc.oneof({ weight: 3, arbitrary: farEnd }, { weight: 1, arbitrary: hostEnd }) },
);

/** Whether a header leaves a step any chance. */
function canBe(step: Step, { provider, journal }: ScenarioHeader): boolean {
  if ('connect' in step) return provider?.holdConnect === true;
  if ('publish' in step) return provider?.holdPublish === true;
  if ('close' in step) return provider?.holdClose === true;
  if ('flush' in step) return journal?.holdFlush === true;
  return true;
}

function stepsOf(drafts: readonly Draft[], names: readonly string[], head: ScenarioHeader): Step[] {
  const ids = new Ids(names);
  return drafts.flatMap((make) => {
    const step = make(ids);
    return step === undefined || !canBe(step, head) ? [] : [step];
  });
}

/** Ids of the first calls: plain ones, or such as trip a careless object. */
const names = fc.constantFrom<readonly string[]>([], [], ['__proto__', 'constructor', '7000', '900', 'a b']);

/** What a far side emits, in order, its end included where it comes to one. */
export const farSide: fc.Arbitrary<Step[]> = fc
  .array(fc.oneof({ weight: 24, arbitrary: legal }, { weight: 1, arbitrary: farEnd }), { maxLength: 24, size: 'max' })
  .map((drafts) => stepsOf(drafts, [], {}));

/** A whole random scenario; it may stop with the session open. */
export function scenario({ maxSteps = 60 }: { readonly maxSteps?: number } = {}): fc.Arbitrary<Scenario> {
  return fc
    .tuple(header, fc.array(draft, { maxLength: maxSteps, size: 'max' }), names)
    .map(([head, drafts, first]) => ({
      title: '',
      header: head,
      steps: stepsOf(drafts, first, head).map((step, index) => ({ line: index + 2, step })),
    }));
}

/** How a history ends that has not ended by itself. */
export interface Ending {
  readonly by: Step;
  /** The driver answers `connect` and `close` only after the limit of time, if there is one. */
  readonly driverIsSlow: boolean;
  /** Whether a connection that is still pending comes about. */
  readonly connects: boolean;
}

export const ending: fc.Arbitrary<Ending> = fc.record({
  by: fc.constantFrom<Step>(
    { host: 'close' },
    { host: 'close' },
    { host: 'abort', reason: 'enough' },
    { far: { type: 'closed', reason: 'bye' } },
    { far_stream: 'end' },
    { far_stream: 'fail', message: 'socket gone' },
    { far: null },
  ),
  driverIsSlow: fc.boolean(),
  connects: fc.boolean(),
});
