import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.js';
import { simulate } from '../../src/testing/simulate.js';
import { verify } from '../../src/verify/verify.js';

const folders = ['../scenarios', '../../../shared/cases/duplex'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

describe.each(folders.filter((folder) => existsSync(folder)))('%s', (folder) => {
  test.each(readdirSync(folder).filter((name) => name.endsWith('.jsonl')))('%s', async (name) => {
    const file = `${folder}/${name}`;
    const { journal } = await simulate(parseScenario(readFileSync(file, 'utf8'), file), file);
    const verdict = await verify(journal);
    expect(verdict.findings).toEqual([]);
  });
});
