import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pages, programOf, programs, root, type Snippet, snippetsOf, typeErrors, writeSnippets } from './snippets.js';

const page = `
Text.
\`\`\`ts
const one: number = 1;
\`\`\`
\`\`\`ts continued run
console.log(one);
const two: string = one;
\`\`\`

\`\`\`text
1
\`\`\`
\`\`\`sh
npm test
\`\`\`
`;

const folders: string[] = [];
function written(snippets: readonly Snippet[]): Map<string, Snippet> {
  const { folder, files } = writeSnippets(snippets);
  folders.push(folder);
  return files;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Runs a snippet and gives what it printed. */
async function printed(file: string): Promise<string> {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values) => void lines.push(`${values.join(' ')}\n`));
  try {
    await import(/* @vite-ignore */ file);
  } finally {
    log.mockRestore();
  }
  return lines.join('');
}

describe('a page', () => {
  test('gives its blocks of TypeScript, with what they continue and what they print', () => {
    expect(snippetsOf('a.md', page)).toEqual([
      { page: 'a.md', line: 4, code: 'const one: number = 1;\n', before: 0, run: false, output: undefined },
      {
        page: 'a.md',
        line: 7,
        code: 'const one: number = 1;\nconsole.log(one);\nconst two: string = one;\n',
        before: 1,
        run: true,
        output: '1\n',
      },
    ]);
  });

  test('has its errors reported where they stand', () => {
    expect(typeErrors(written(snippetsOf('a.md', page)))).toEqual([
      "a.md:8: Type 'number' is not assignable to type 'string'.",
    ]);
  });

  test('is checked against the sources', () => {
    const imports =
      "```ts\nimport { isCommitpointError, nothing } from 'commitpoint';\nisCommitpointError(nothing);\n```\n";
    expect(typeErrors(written(snippetsOf('a.md', imports)))).toEqual([
      expect.stringMatching(/^a\.md:2: Module .* has no exported member 'nothing'/),
    ]);
  });
});

describe('a program', () => {
  test('is checked against the sources, by its comments', () => {
    mkdirSync(join(root, '.scratch'), { recursive: true });
    const folder = mkdtempSync(join(root, '.scratch', 'program-'));
    folders.push(folder);
    const file = join(folder, 'a.mjs');
    writeFileSync(file, "import { nothing } from 'commitpoint';\n/** @type {string} */\nexport const one = 1;\n");
    expect(typeErrors(new Map([[file, programOf('docs/a.mjs')]]))).toEqual([
      expect.stringMatching(/^docs\/a\.mjs:1: Module .* has no exported member 'nothing'/),
      "docs/a.mjs:3: Type 'number' is not assignable to type 'string'.",
    ]);
  });
});

describe('what the documents show', () => {
  const snippets = pages().flatMap((name) => snippetsOf(name));
  let files: Map<string, Snippet>;
  beforeAll(() => {
    files = written(snippets);
  });

  test('type-checks', () => {
    expect([...programs().values()].map(({ page }) => page)).toContain('docs/guides/host.mjs');
    expect(typeErrors(new Map([...files, ...programs()]))).toEqual([]);
  }, 120_000);

  for (const snippet of snippets.filter(({ run }) => run)) {
    test(`runs: ${snippet.page}:${snippet.line}`, async () => {
      const [file] = [...files].find(([, candidate]) => candidate === snippet) ?? [];
      const output = await printed(file ?? '');
      if (snippet.output !== undefined) expect(output).toBe(snippet.output);
    });
  }
});
