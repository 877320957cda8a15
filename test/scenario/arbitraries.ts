/** Scenarios of any shape that a file can have, sensible or not. */
import fc from 'fast-check';
import type { ExpectedLine, Scenario, ScenarioHeader, Step } from '../../src/scenario/scenario.js';

/** Texts with what files and JSON find hard. */
export const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', '…', '//', '"', '\\', '\n', '\r\n', '\u2028', '\uFEFF', '__proto__', '10', '2', '~', '\uD800'),
);

const json: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
const object = fc.dictionary(text, json, { maxKeys: 3 });
const count = fc.nat(2_147_483_647);
const atLeastOne = fc.integer({ min: 1, max: 2_147_483_647 });

const tool = fc.record(
  {
    onInterruption: fc.constantFrom('abandon', 'cancel', 'deliver'),
    timeoutMs: count,
    needsApproval: fc.boolean(),
    effect: fc.constantFrom('read', 'idempotent', 'irreversible'),
    result: text,
    throws: text,
    input: object,
  },
  { requiredKeys: [] },
);

const header = fc.record(
  {
    tools: fc.dictionary(
      text.filter((name) => name !== ''),
      tool,
      { maxKeys: 4 },
    ),
    options: fc.record(
      {
        maxConcurrentTools: atLeastOne,
        maxOpenCalls: atLeastOne,
        connectTimeoutMs: count,
        publishTimeoutMs: count,
        closeTimeoutMs: count,
        maxBufferedEvents: atLeastOne,
        dropUnreadAudio: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    provider: fc.record(
      {
        holdConnect: fc.boolean(),
        holdPublish: fc.boolean(),
        holdClose: fc.boolean(),
        abandonToolCall: fc.boolean(),
        interrupt: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    journal: fc.record({ durable: fc.boolean(), holdFlush: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<ScenarioHeader>;

const calls = fc.array(fc.tuple(text, text), { maxLength: 4 }).map((entries) => new Map(entries));

/** Lines that a trace could be expected to have, or not. */
export const expectedLine: fc.Arbitrary<ExpectedLine> = fc.oneof(
  fc.dictionary(
    text.filter((key) => key !== 'closed' && key !== 'summary'),
    json,
    { maxKeys: 3 },
  ),
  fc.record({ closed: fc.record({ reason: text, calls }) }),
  fc.record({ summary: fc.record({ state: text, calls, violations: fc.array(text, { maxLength: 2 }) }) }),
);

const reject = (key: string) => [
  fc.constant({ [key]: 'resolve' }),
  fc.record({ [key]: fc.constant('reject'), message: text }),
  fc.constant({ [key]: 'reject' }),
];

const step = fc.oneof(
  fc.record({ far: json }),
  fc.constant({ far_stream: 'end' }),
  fc.record({ far_stream: fc.constant('fail'), message: text }),
  ...reject('connect'),
  ...reject('close'),
  ...reject('flush'),
  fc.record({ tool: text, resolve: text }),
  fc.record({ tool: text, reject: text }),
  fc.record({ publish: text, accept: fc.constant(true) }),
  fc.record({ publish: text, reject: text }),
  fc.record({ host: fc.constant('send'), input: fc.record({ type: fc.constant('text'), text }) }),
  fc.record({ host: fc.constantFrom('close', 'abort', 'interrupt', 'pause', 'resume') }),
  fc.record({ host: fc.constant('abort'), reason: text }),
  fc.record({ host: fc.constant('interrupt'), playedMs: fc.nat() }),
  fc.record({ host: fc.constantFrom('approve', 'deny'), id: text }),
  fc.record({ host: fc.constant('deny'), id: text, message: text }),
  fc.record({ clock: fc.nat() }),
  fc.record({ expect: fc.array(expectedLine, { maxLength: 3 }) }),
) as fc.Arbitrary<Step>;

/** A scenario whose steps stand right below its header. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .tuple(text, header, fc.array(step, { maxLength: 8 }))
  .map(([title, head, steps]) => ({
    title,
    header: head,
    steps: steps.map((one, index) => ({ line: index + 2, step: one })),
  }));
