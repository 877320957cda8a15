/** Every scenario and every response stream that we have, and every given one, leaves a journal that verifies clean. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { modeOf, policiesOf } from '../../src/cli/commands/fold.js';
import { foldLines } from '../../src/cli/fold-lines.js';
import { isCommitpointError } from '../../src/contract/errors.js';
import { createConversation } from '../../src/index.js';
import { memoryJournal } from '../../src/journal/index.js';
import { parseScenario } from '../../src/scenario/parse.js';
import { simulate } from '../../src/testing/simulate.js';
import { replay, verify } from '../../src/verify/index.js';
import { optionsIn } from '../conversation/fold-options.js';

/** The files of a folder; of one that lies beside the repository, none where it is missing. */
function filesIn(path: string): readonly { readonly name: string; readonly file: string }[] {
  const folder = fileURLToPath(new URL(path, import.meta.url));
  if (!existsSync(folder)) {
    console.warn(`No given cases beside the repository (${path}): what they leave is not verified.`);
    return [];
  }
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => ({ name, file: `${folder}/${name}` }));
}

const sessions = [...filesIn('../scenarios'), ...filesIn('../../../shared/cases/duplex')];
const conversations = [...filesIn('../scenarios/fold'), ...filesIn('../../../shared/cases/fold')];

test('there are many', () => {
  expect(sessions.length).toBeGreaterThanOrEqual(200);
  expect(conversations.length).toBeGreaterThanOrEqual(20);
});

describe('the journal of the scenario', () => {
  test.each(sessions)('$name', async ({ file }) => {
    const { journal, trace } = await simulate(parseScenario(readFileSync(file, 'utf8'), file), file);
    const verdict = await verify(journal);
    expect(verdict.findings).toEqual([]);
    const summary = trace.at(-1);
    if (summary === undefined || !('summary' in summary)) return;
    const { sessions } = await replay(journal);
    // output that came behind the last record is not recorded
    expect(outer(sessions[0]?.state)).toBe(outer(summary.summary.state));
    expect(new Map(sessions[0]?.calls.map(({ id, state }) => [id, state]))).toEqual(summary.summary.calls);
  });
});

describe('the journal of the response stream', () => {
  test.each(conversations)('$name', async ({ file }) => {
    const text = readFileSync(file, 'utf8');
    const { mode, set } = optionsIn(text);
    const journal = memoryJournal({ payloads: 'keep' });
    const conversation = createConversation({ journal, mode: modeOf(mode), policies: policiesOf(set), effects });
    try {
      for (const line of foldLines(text, file)) {
        if (line.type !== 'expect') conversation.apply(line.type === 'end' ? line.end : line.event);
      }
    } catch (error) {
      // a strict stream that fails, a line that is none
      if (!isCommitpointError(error)) throw error;
    }
    const verdict = await verify(journal);
    expect(verdict.findings).toEqual([]);
    const [replayed] = (await replay(journal)).conversations;
    const { phase, transaction } = conversation.state;
    expect(replayed).toMatchObject({ phase, transaction });
  });
});

const effects = () => [() => {}];
const outer = (state: string | undefined) => state?.split('.')[0];
