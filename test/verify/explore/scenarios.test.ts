/** `explore({ scenario })`: the pure composition takes the steps of every scenario file as the runtime does, and the judge has nothing to say. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../../src/scenario/parse.js';
import { simulate } from '../../../src/testing/index.js';
import { explore } from '../../../src/verify/explore/index.js';
import { playScenario } from '../../../src/verify/explore/session/player.js';

const folder = fileURLToPath(new URL('../../scenarios/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

describe('a scenario on the pure composition', () => {
  test.each(files)('%s', async (name) => {
    const scenario = parseScenario(readFileSync(`${folder}${name}`, 'utf8'), name);
    const { trace } = await simulate(scenario);
    const last = trace.at(-1);
    if (last === undefined || !('summary' in last)) throw new TypeError('a trace without a summary');
    const { state, calls, findings } = playScenario(scenario, name);
    expect({ state, calls: [...calls] }).toEqual({ state: last.summary.state, calls: [...last.summary.calls] });
    expect(findings).toEqual([]);
    expect(explore({ scenario }).violations).toEqual([]);
  });

  test('a step that is impossible is named with its line', () => {
    const scenario = parseScenario('{}\n{"tool":"t1","resolve":"x"}', 'bad');
    expect(() => explore({ scenario })).toThrow(/^:2: impossible step: /);
  });
});
