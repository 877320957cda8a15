import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { entryPoints } from '../../.ci/package.mjs';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A block of code on a page that a reader may copy. */
export interface Snippet {
  /** The page, relative to the root. */
  readonly page: string;
  /** The line of the page on which the code begins, from 1. */
  readonly line: number;
  /** The code, with the blocks that it continues in front of it. */
  readonly code: string;
  /** Lines of `code` that stand in the blocks before. */
  readonly before: number;
  /** Whether the page promises that it runs as it stands. */
  readonly run: boolean;
  /** What the page says it prints, when a block of text follows it directly. */
  readonly output: string | undefined;
}

/** README.md and every page under docs/, but for the reports that a tool writes. */
export function pages(): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md') && !name.startsWith('docs/api/'))
    .sort();
  return existsSync(join(root, 'README.md')) ? ['README.md', ...docs] : docs;
}

/**
 * The blocks of a page that are marked `ts`. Words after it: `run`, for one that runs as it stands, and `continued`, for one that
 * goes on where the one before it ended. A block marked `text` directly after one that runs is what it prints.
 */
export function snippetsOf(page: string, markdown = readFileSync(join(root, page), 'utf8')): Snippet[] {
  const snippets: Snippet[] = [];
  let end = 0;
  for (const { 0: block, 1: indent = '', 2: language, 3: words = '', 4: body = '', index } of markdown.matchAll(
    fence,
  )) {
    const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const last = snippets.at(-1);
    if (language === 'ts') {
      const flags = words.trim().split(/\s+/);
      const before = flags.includes('continued') && last ? last.code : '';
      snippets.push({
        page,
        line: lineCount(markdown.slice(0, index)) + 2,
        code: before + code,
        before: lineCount(before),
        run: flags.includes('run'),
        output: undefined,
      });
    } else if (language === 'text' && last?.run && markdown.slice(end, index).trim() === '') {
      snippets[snippets.length - 1] = { ...last, output: code };
    }
    end = index + block.length;
  }
  return snippets;
}

const fence = /^([ \t]*)```(\w+)?([^\n`]*)\n(.*?)^[ \t]*```[ \t]*$/gms;

/** The programs under docs/ that a reader may copy as they stand, each as a block that is a whole file. */
export function programs(): Map<string, Snippet> {
  const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = names.map((name) => `docs/${name.replaceAll('\\', '/')}`).filter((name) => name.endsWith('.mjs'));
  return new Map(pages.sort().map((page) => [join(root, page), programOf(page)]));
}

/** A whole file as a block. */
export function programOf(page: string): Snippet {
  return { page, line: 1, code: '', before: 0, run: false, output: undefined };
}

function lineCount(text: string): number {
  return text.split('\n').length - 1;
}

/** Writes each snippet to a file of its own, inside the repository so that the packages it imports are found. */
export function writeSnippets(snippets: readonly Snippet[]): { folder: string; files: Map<string, Snippet> } {
  mkdirSync(join(root, '.scratch'), { recursive: true });
  const folder = mkdtempSync(join(root, '.scratch', 'snippets-'));
  const files = new Map<string, Snippet>();
  for (const snippet of snippets) {
    const file = join(folder, `${snippet.page.replaceAll('/', '-')}-${snippet.line}.ts`);
    writeFileSync(file, `${snippet.code}export {};\n`);
    files.set(file, snippet);
  }
  return { folder, files };
}

/** Type-checks snippets and programs against the sources as the project itself is checked; gives `page:line: message` for each error. */
export function typeErrors(files: ReadonlyMap<string, Snippet>): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram({
    rootNames: [...files.keys()],
    options: {
      ...options,
      noEmit: true,
      allowJs: true,
      checkJs: true,
      paths: Object.fromEntries(entryPoints().map(({ specifier, source }) => [specifier, [join(root, source)]])),
    },
  });
  return [...files].flatMap(([file, snippet]) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((found) => {
      const line = source?.getLineAndCharacterOfPosition(found.start ?? 0).line ?? 0;
      const message = ts.flattenDiagnosticMessageText(found.messageText, '\n');
      return `${snippet.page}:${snippet.line + line - snippet.before}: ${message}`;
    });
  });
}
