/** Random sessions, recorded: the stream is legal, folds without a diagnostic, and comes to what anybody would have written down. */
import fc from 'fast-check';
import { describe } from 'vitest';
import type { ResponseEvent } from '../../../proto/index.js';
import { tapped } from '../../../src/contract/session-tap.js';
import { recordSession } from '../../../src/runtime/index.js';
import type { Scenario, ScenarioHeader, Step } from '../../../src/scenario/scenario.js';
import { scenario } from '../../../src/testing/arbitraries/index.js';
import { type Ending, ending } from '../../properties/ending.js';
import { fileOf, play } from '../../properties/played.js';
import { Broken, property } from '../../properties/property.js';
import { problemsOf } from './problems.js';
import { type Fact, factsOf, transcriptOf } from './transcript.js';

/** What random scenarios say too seldom for a record: transcripts in pieces, audio that tells how long it is, texts of some length. */
const said: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({
    type: fc.constant('input_text'),
    text: fc.constantFrom('What', ' now', '?', 'What now?', ''),
    final: fc.constantFrom(false, false, false, true),
  }),
  fc.constantFrom(10, 40, 100).map((ms) => ({
    type: 'audio',
    data: Buffer.alloc(ms * 16).toString('base64'),
    mediaType: 'audio/pcm;rate=8000',
  })),
  fc.constantFrom('one', ' two three', ' four', 'five six seven eight', ', ').map((text) => ({ type: 'text', text })),
  fc.constantFrom({ type: 'turn_complete' }, { type: 'interrupted' }),
);

interface History {
  readonly scenario: Scenario;
  readonly ending: Ending;
  /** After which steps the host tells what was played, and how much. */
  readonly played: ReadonlyMap<number, number>;
}

const history: fc.Arbitrary<History> = fc
  .record({
    scenario: scenario({ maxSteps: 40 }),
    more: fc.array(fc.tuple(fc.nat(), said), { maxLength: 30, size: 'max' }),
    ending,
    played: fc.array(fc.tuple(fc.nat({ max: 60 }), fc.constantFrom(0, 5, 20, 50, 120, 500)), { maxLength: 12 }),
  })
  .map(({ scenario, more, ending, played }) => {
    const steps: Step[] = scenario.steps.map(({ step }) => step);
    for (const [at, far] of more) steps.splice(at % (steps.length + 1), 0, { far });
    const numbered = steps.map((step, index) => ({ line: index + 2, step }));
    return { scenario: { ...scenario, steps: numbered }, ending, played: new Map(played) };
  });

const modes = ['keep', 'discard'] as const;

async function check({ scenario, ending, played }: History): Promise<void> {
  const facts: Fact[] = [];
  const records = { keep: [] as ResponseEvent[], discard: [] as ResponseEvent[] };
  let steps = 0;
  const { simulator, stray } = await play(scenario, ending, {
    begins({ session }) {
      session[tapped](factsOf(facts));
      for (const onInterrupted of modes) {
        const events = records[onInterrupted];
        recordSession(session, { onInterrupted, requestId: 'r', sink: (event) => void events.push(event) });
      }
    },
    after(_, __, { session }) {
      const ms = played.get(steps++);
      if (ms !== undefined) void session.played(ms);
    },
  });
  const findings = [...stray];
  for (const mode of modes) {
    const delivers = (tool: string) => scenario.header.tools?.[tool]?.onInterruption === 'deliver';
    findings.push(
      ...problemsOf(records[mode], transcriptOf(facts, { mode, delivers })).map((each) => `${mode}: ${each}`),
    );
  }
  if (findings.length > 0) throw new Broken(findings, told(scenario.header, simulator.entries, played, findings));
}

function told(
  header: ScenarioHeader,
  entries: Parameters<typeof fileOf>[1],
  played: ReadonlyMap<number, number>,
  findings: readonly string[],
): string {
  return `${fileOf(header, entries, findings.join('\n'))}\nplayed ${JSON.stringify([...played])}`;
}

describe('a session that is recorded', () => {
  property('comes to the transcript that anybody would have written, by events that are legal', history, check, 0.5);
});
