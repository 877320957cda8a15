/** Files of `test/scenarios/fold`: each holds what the page says in the sentence that its first line names. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { foldFile } from '../../src/cli/commands/fold.js';
import { differencesFrom } from '../../src/cli/subset.js';
import { optionsIn } from './fold-options.js';

const folder = fileURLToPath(new URL('../scenarios/fold/', import.meta.url));
const names = readdirSync(folder);

describe('scenarios of our own', () => {
  test('there are many', () => {
    expect(names.length).toBeGreaterThanOrEqual(30);
  });

  test.each(names)('%s', async (name) => {
    const text = readFileSync(`${folder}${name}`, 'utf8');
    expect(text).toMatch(/^\/\/ rule: \S/);
    expect(text).toContain('{"expect":');
    const fails = /^\/\/ exit: 1$/m.test(text);
    const { status, result, complaints } = await foldFile(`${folder}${name}`, optionsIn(text));
    expect(complaints.slice(fails ? 1 : 0)).toEqual([]);
    expect(status).toBe(fails ? 1 : 0);
    if (!fails) return;
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    expect(differencesFrom((JSON.parse(last) as { readonly expect: object }).expect, result)).toEqual([]);
  });
});
