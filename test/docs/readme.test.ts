import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawConversation } from '../../src/cli/demo-conversation.js';
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

  it('shows the conversation of `npm start`, which comes to what it says', () => {
    const { text, state, effects } = drawConversation();
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`\`\`\`text\n${text}\n\`\`\``);
    expect(state).toMatchObject({ phase: 'finished', transaction: 'none', diverged: false, diagnostics: [] });
    // the effect of the attempt that was rolled back never ran
    expect(effects).toEqual(['Room 7 it is.']);
  });
});
