/** The given cases, as `commitpoint fold` takes them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { foldFile } from '../../src/cli/commands/fold.js';
import { differencesFrom } from '../../src/cli/subset.js';
import { optionsIn } from './fold-options.js';

// The cases are not ours to copy: they lie beside the repository, in CI and on our machines, and not beside a stranger's clone.
const folder = fileURLToPath(new URL('../../../shared/cases/fold/', import.meta.url));
const haveCases = existsSync(folder);
if (!haveCases) console.warn('No given cases beside the repository (../shared/cases/fold): their tests are skipped.');
const names = haveCases ? readdirSync(folder).filter((name) => /\.(jsonl|sse)$/.test(name)) : [];

describe.skipIf(!haveCases)('given cases', () => {
  test('they are all there', () => {
    expect(names.length).toBeGreaterThanOrEqual(60);
  });

  test.each(names.filter((name) => name.endsWith('.jsonl')))('%s', async (name) => {
    const file = `${folder}${name}`;
    const text = readFileSync(file, 'utf8');
    const exit = /^\/\/ exit: (.*)$/m.exec(text)?.[1] ?? '0';
    const { status, result, complaints } = await foldFile(file, optionsIn(text));
    expect([status, complaints]).toEqual([Number(exit[0]), exit === '0' ? [] : complaints]);
    if (exit.startsWith('2')) {
      expect(complaints.join()).toContain(`${file}:${/at line (\d+)/.exec(exit)?.[1]}:`);
    } else if (exit === '1') {
      // a strict run: what is expected is never read
      const last = text.trimEnd().split('\n').at(-1) ?? '';
      expect(differencesFrom((JSON.parse(last) as { readonly expect: object }).expect, result)).toEqual([]);
    }
  });

  test.each(names.filter((name) => name.endsWith('.sse')))('%s', async (name) => {
    const side = JSON.parse(readFileSync(`${folder}${name.replace('.sse', '.expect.json')}`, 'utf8')) as {
      readonly args?: string;
      readonly expect: object;
    };
    const options = { ...optionsIn(`// args: ${side.args ?? ''}`), format: 'sse' };
    const { status, result } = await foldFile(`${folder}${name}`, options);
    expect(status).toBe(0);
    expect(differencesFrom(side.expect, result)).toEqual([]);
  });
});
