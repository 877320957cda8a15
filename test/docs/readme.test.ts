import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawConversation } from '../../src/cli/demo-conversation.js';
import { beginJournal, checkJournal, wordsOf } from '../../src/cli/demo-journal.js';
import { demoScenario } from '../../src/cli/demo-scenario.js';
import { parseScenario } from '../../src/scenario/parse.js';
import { drawTimeline } from '../../src/scenario/timeline.js';
import { simulate } from '../../src/testing/simulate.js';
import { root } from './snippets.js';

describe('the README', () => {
  it('shows what `npm start` prints', async () => {
    const { entries } = await simulate(parseScenario(demoScenario.trim(), 'demo'));
    const drawn = drawTimeline(entries, { color: false, width: 100 });
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(drawn.trimEnd());
  });

  it('shows the conversation of `npm start`, which comes to what it says', async () => {
    const { text, state, effects } = await drawConversation();
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`\`\`\`text\n${text}\n\`\`\``);
    expect(state).toMatchObject({ phase: 'finished', transaction: 'none', diverged: false, diagnostics: [] });
    // the effect of the attempt that was rolled back never ran
    expect(effects).toEqual(['Room 7 it is.']);
  });

  it('shows what `npm start` finds in the journal of both', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'readme-'));
    try {
      const path = join(folder, 'demo.journal');
      const simulation = await simulate(parseScenario(demoScenario.trim(), 'demo'));
      const journal = await beginJournal(path, simulation.journal);
      await drawConversation(journal);
      await journal.close();
      const checked = await checkJournal(path);
      expect(checked.verdict.findings).toEqual([]);
      expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(
        `\`\`\`text\n${wordsOf(checked).join('\n')}\n\`\`\``,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
