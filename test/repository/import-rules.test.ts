import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkImports } from '../../.ci/imports.mjs';
import rules from '../../.dependency-cruiser.mjs';

/** Each rule with the crossings that it must catch: a file, and the import that is planted in it. */
const crossings: Record<string, [file: string, imported: string][]> = {
  'words-import-nothing': [
    ['proto/gen/a.ts', '../../machines/session/port.js'],
    ['proto/index.ts', '../src/contract/port.js'],
    ['proto/gen/b.ts', 'xstate'],
  ],
  'machines-import-nothing-of-src': [['machines/session/a.ts', '../../src/contract/port.js']],
  'machines-import-only-xstate': [
    ['machines/session/b.ts', 'rxjs'],
    ['machines/session/c.ts', 'commander'],
  ],
  'contract-stands-on-words-and-lives': [['src/contract/a.ts', '../runtime/port.js']],
  'memory-stands-on-contract': [
    ['src/conversation/a.ts', '../runtime/port.js'],
    ['src/journal/a.ts', '../journals/port.js'],
    ['src/scenario/a.ts', '../verify/port.js'],
  ],
  'memory-folders-do-not-meet': [
    ['src/conversation/b.ts', '../journal/port.js'],
    ['src/journal/b.ts', '../scenario/port.js'],
    ['src/scenario/b.ts', '../conversation/port.js'],
  ],
  'verify-never-runs': [
    ['src/verify/a.ts', '../runtime/port.js'],
    ['src/verify/b.ts', '../journals/port.js'],
    ['src/verify/c.ts', '../providers/scripted/port.js'],
  ],
  'runtime-is-handed-its-adapters': [
    ['src/runtime/a.ts', '../providers/openai-realtime/port.js'],
    ['src/runtime/b.ts', '../journals/port.js'],
    ['src/runtime/c.ts', '../inspect/port.js'],
    ['src/runtime/d.ts', '../testing/port.js'],
  ],
  'adapters-never-import-runtime': [
    ['src/providers/gemini-live/a.ts', '../../runtime/port.js'],
    ['src/wire/a.ts', '../runtime/port.js'],
    ['src/journals/a.ts', '../runtime/port.js'],
    ['src/inspect/a.ts', '../runtime/port.js'],
    ['src/wire/c.ts', '../testing/port.js'],
    ['src/journals/c.ts', '../cli/port.js'],
    ['src/inspect/e.ts', '../index.js'],
  ],
  'adapters-do-not-meet': [
    ['src/providers/gemini-live/b.ts', '../openai-realtime/port.js'],
    ['src/wire/b.ts', '../journals/port.js'],
    ['src/journals/b.ts', '../inspect/port.js'],
    ['src/inspect/b.ts', '../providers/scripted/port.js'],
  ],
  'testing-drives-only-the-scripted-far-side': [
    ['src/testing/a.ts', '../providers/openai-realtime/port.js'],
    ['src/testing/b.ts', '../journals/port.js'],
    ['src/testing/e.ts', '../cli/port.js'],
  ],
  'entry-point-chooses-nothing': [
    ['src/index.ts', './providers/openai-realtime/port.js'],
    ['src/browser.ts', './testing/port.js'],
    ['src/host.ts', './cli/port.js'],
  ],
  'cli-is-the-host': [
    ['src/verify/d.ts', '../cli/port.js'],
    ['src/runtime/e.ts', '../cli/port.js'],
    ['src/inspect/c.ts', '../cli/port.js'],
    ['src/testing/c.ts', '../cli/port.js'],
  ],
  'node-only-at-the-edge': [
    ['src/runtime/f.ts', 'node:fs'],
    ['src/providers/scripted/a.ts', 'timers/promises'],
    ['src/inspect/d.ts', 'node:http'],
    ['src/testing/d.ts', 'node:net'],
    ['machines/session/d.ts', 'node:crypto'],
  ],
  'commander-only-in-cli': [['src/runtime/g.ts', 'commander']],
  'fast-check-only-in-arbitraries': [
    ['src/testing/f.ts', 'fast-check'],
    ['src/runtime/k.ts', 'fast-check'],
    ['machines/session/g.ts', 'fast-check'],
    ['src/testing/index.ts', './arbitraries/port.js'],
    ['src/cli/d.ts', '../testing/arbitraries/port.js'],
  ],
  'only-declared-packages': [
    ['src/runtime/h.ts', 'vitest'],
    ['machines/session/e.ts', 'vitest'],
    ['src/testing/arbitraries/a.ts', 'vitest'],
  ],
  'only-what-resolves': [['src/runtime/i.ts', './nowhere.js']],
  'source-stands-alone': [
    ['src/runtime/j.ts', '../../test/port.js'],
    ['machines/session/f.ts', '../../test/port.js'],
  ],
  'no-circular': [['src/runtime/circle/a.ts', './b.js']],
};

/** One import along every arrow that the strata allow. */
const arrows: [file: string, imported: string][] = [
  ['proto/index.ts', './gen/port.js'],
  ['proto/gen/a.ts', '@bufbuild/protobuf'],
  ['machines/session/a.ts', 'xstate'],
  ['machines/session/b.ts', '../transaction/port.js'],
  ['machines/session/c.ts', '../../proto/gen/port.js'],
  ['src/contract/a.ts', '../../machines/transaction/port.js'],
  ['src/conversation/a.ts', '../contract/port.js'],
  ['src/journal/a.ts', '../contract/port.js'],
  ['src/scenario/a.ts', '../contract/port.js'],
  ['src/scenario/b.ts', './port.js'],
  ['src/verify/a.ts', '../journal/port.js'],
  ['src/verify/b.ts', '../../machines/transaction/port.js'],
  ['src/verify/c.ts', '../contract/port.js'],
  ['src/verify/d.ts', './port.js'],
  ['src/runtime/a.ts', '../contract/port.js'],
  ['src/runtime/b.ts', '../verify/port.js'],
  ['src/runtime/c.ts', 'rxjs'],
  ['src/runtime/d.ts', '../journal/port.js'],
  ['src/runtime/e.ts', './port.js'],
  ['src/providers/gemini-live/a.ts', '../../contract/port.js'],
  ['src/journals/a.ts', 'node:fs'],
  ['src/inspect/server.ts', 'node:http'],
  ['src/inspect/server/a.ts', 'node:http'],
  ['src/testing/a.ts', '../runtime/port.js'],
  ['src/testing/b.ts', '../providers/scripted/port.js'],
  ['src/testing/arbitraries/b.ts', 'fast-check'],
  ['src/testing/arbitraries/c.ts', '../port.js'],
  ['src/testing/loopback.ts', 'node:http'],
  ['src/testing/loopback/a.ts', 'node:net'],
  ['src/index.ts', './runtime/port.js'],
  ['src/cli/a.ts', '../providers/openai-realtime/port.js'],
  ['src/cli/b.ts', 'commander'],
  ['src/cli/c.ts', 'node:process'],
];

/** In every folder, something to import. */
const ports = [
  'proto/gen machines/session machines/transaction src/contract src/conversation src/journal src/scenario src/verify src/runtime',
  'src/providers/scripted src/providers/openai-realtime src/providers/gemini-live src/wire src/journals src/inspect',
  'src/testing src/testing/arbitraries src/cli test',
]
  .join(' ')
  .split(' ')
  .map((folder) => `${folder}/port.ts`);

const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
});

/** Writes a tree of the shape of this one, with these imports in it and nothing else, and runs the rules over it. */
async function check(imports: [file: string, imported: string][], how = 'import') {
  const base = mkdtempSync(join(tmpdir(), 'strata-'));
  trees.push(base);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(base, file)), { recursive: true });
    writeFileSync(join(base, file), text);
  };
  write(
    'package.json',
    JSON.stringify({
      dependencies: { '@bufbuild/protobuf': '1.0.0', commander: '1.0.0' },
      peerDependencies: { 'fast-check': '1.0.0', rxjs: '1.0.0', xstate: '1.0.0' },
      peerDependenciesMeta: { 'fast-check': { optional: true } },
      devDependencies: { 'fast-check': '1.0.0', rxjs: '1.0.0', vitest: '1.0.0', xstate: '1.0.0' },
    }),
  );
  for (const name of ['@bufbuild/protobuf', 'commander', 'fast-check', 'rxjs', 'vitest', 'xstate']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
  for (const port of ports) write(port, 'export type Port = 1;\nexport const port = 1;\n');
  for (const [file, imported] of imports)
    write(file, `${how} { Port } from '${imported}';\nexport type Local = Port;\n`);
  return checkImports(base);
}

const planted = Object.entries(crossings).flatMap(([rule, files]) =>
  files.map(([file, imported]) => ({ rule, file, imported })),
);
const allPlanted = [
  ...planted.map(({ file, imported }): [string, string] => [file, imported]),
  ['src/runtime/circle/b.ts', './a.js'],
] as [string, string][];

describe('the import rules', () => {
  test('each has a planted crossing here, and a sentence of reason', () => {
    expect(rules.forbidden.map(({ name }) => name).sort()).toEqual(Object.keys(crossings).sort());
    for (const { name, comment, severity } of rules.forbidden) {
      expect(comment, name).toMatch(/^\S+( \S+){7,}\.$/);
      expect(severity, name).toBe('error');
    }
  });

  test('each catches its planted crossings', async () => {
    const found = (await check(allPlanted)).crossings.map(({ rule, from }) => `${from}: ${rule}`);
    for (const { rule, file } of planted) expect(found).toContain(`${file}: ${rule}`);
  });

  test('a type is an import like any other', async () => {
    const found = (await check(allPlanted, 'import type')).crossings.map(({ rule, from }) => `${from}: ${rule}`);
    for (const { rule, file } of planted) expect(found).toContain(`${file}: ${rule}`);
  });

  test('every arrow of the strata may be gone', async () => {
    const { crossings: found, missed, seen } = await check(arrows);
    expect(found).toEqual([]);
    expect(missed).toEqual([]);
    expect(seen).toBe(
      new Set([...arrows.map(([file]) => file), ...ports.filter((port) => !port.startsWith('test/'))]).size,
    );
  });
});
