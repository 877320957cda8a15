/** Every scenario and golden journal that there is, told as frames: F1–F3, N1, and nothing that the judge minds. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { framesOf } from '../../../src/cli/inspect-frames.js';
import { inspectSourceOf } from '../../../src/cli/inspect-source.js';
import { JournalInput } from '../../../src/cli/journal-input.js';
import { parseScenario } from '../../../src/scenario/parse.js';
import { simulate } from '../../../src/testing/index.js';
import { findingsOf, problemsOf, statesOf, stepsOf } from './frames.js';

const of = (folder: string) => {
  const path = fileURLToPath(new URL(folder, import.meta.url));
  return existsSync(path)
    ? readdirSync(path)
        .filter((name) => /\.(jsonl|journal)$/.test(name))
        .map((name) => [name, path + name] as const)
    : [];
};
const scenarios = [...of('../../scenarios/'), ...of('../../../../shared/cases/duplex/')];
const streams = [...of('../../scenarios/fold/'), ...of('../../../../shared/cases/conversation/')];
const journals = of('../../journals/golden/v1/');

test('there are many', () => {
  expect(scenarios.length).toBeGreaterThan(100);
  expect(streams.length).toBeGreaterThan(20);
  expect(journals.length).toBeGreaterThan(20);
});

describe.each([
  ['scenarios', scenarios, 'scenario'],
  ['response events', streams, 'scenario'],
  ['golden journals', journals, 'journal'],
] as const)('%s', (_, files, kind) => {
  test('each is told by legal frames, from its beginning to its end', async () => {
    for (const [name, path] of files) {
      const source = await inspectSourceOf(path);
      expect([name, source.source]).toEqual([name, kind]);
      const frames = await framesOf(source);
      expect([name, ...problemsOf(frames)]).toEqual([name]);
      expect([name, findingsOf(frames)]).toEqual([name, []]);
      const judged = frames.findLast((frame) => frame.type === 'judged');
      expect([name, judged]).toMatchObject([name, { upTo: stepsOf(frames).length, isJudged: true }]);
    }
  }, 60_000);
});

test('folding the steps of a journal gives where each actor stood last', async () => {
  for (const [name, path] of journals) {
    const last = new Map<string, string>();
    for await (const { actor, to, data } of new JournalInput(path)) {
      const stream = data !== undefined && 'folded' in data ? (data.folded.stream ?? 0) : 0;
      last.set(stream > 0 && !actor.includes('/transaction-') ? `${actor}/stream-${stream}` : actor, to);
    }
    const states = statesOf(await framesOf(await inspectSourceOf(path)));
    for (const [actor, to] of last) expect([name, actor, states.get(actor)]).toEqual([name, actor, to]);
  }
});

test('a journal alone, without what was said, is told by legal frames too: pieces are steps where they move a session', async () => {
  let pieces = 0;
  for (const [name, path] of scenarios) {
    const { journal } = await simulate(parseScenario(readFileSync(path, 'utf8'), name));
    const frames = await framesOf({
      title: name,
      source: 'journal',
      run: async (presentation) => {
        for (const record of journal) presentation.record(record);
        return 'the journal ends here';
      },
    });
    expect([name, ...problemsOf(frames)]).toEqual([name]);
    const last = new Map(journal.map(({ actor, to }) => [actor, to]));
    expect([name, ...statesOf(frames)]).toEqual([name, ...last]);
    pieces += stepsOf(frames).filter(({ event }) => event === 'text').length;
  }
  expect(pieces).toBeGreaterThan(15);
}, 60_000);
