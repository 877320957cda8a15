/** First lines of scenarios: few tools of every behaviour, and limits so small that random histories reach them. */
import fc from 'fast-check';
import type { ScenarioHeader, ScenarioTool } from '../../../scenario/scenario.js';

/** The tools that a header may have. Calls name others, too. */
export const toolNames = ['alpha', 'beta', 'gamma'] as const;

/** What the tools that have a schema take. */
export const wordSchema = {
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
export const toolBehaviour: fc.Arbitrary<ScenarioTool> = fc
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
  { alpha: toolBehaviour, beta: toolBehaviour, gamma: toolBehaviour },
  { requiredKeys: ['alpha'] },
) as fc.Arbitrary<Readonly<Record<string, ScenarioTool>>>;

/** Limits so small that random histories reach them. */
export const sessionOptions: fc.Arbitrary<NonNullable<ScenarioHeader['options']>> = fc.record(
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
export const scenarioHeader: fc.Arbitrary<ScenarioHeader> = fc
  .record({
    tools,
    options: sessionOptions,
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
