// @ts-check
// Runs the import rules of .dependency-cruiser.mjs over machines/, proto/ and src/. A run that looked at fewer files than there are
// (a compiler that the tool cannot use makes it see none, and call that a success) is a failure.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import rules from '../.dependency-cruiser.mjs';
import { root } from './package.mjs';

const { forbidden, options } = rules;
const roots = ['machines', 'proto', 'src'];

/**
 * Runs the rules over a tree.
 *
 * @param {string} base the folder that holds machines/, proto/ and src/
 * @returns {Promise<{ seen: number, missed: string[], crossings: { rule: string, from: string, to: string, reason: string }[] }>}
 *   `missed` are source files that the tool did not look at; paths are relative to `base`
 */
export async function checkImports(base = root) {
  const { output } = await cruise(
    roots,
    { ...options, baseDir: base, validate: true, ruleSet: { forbidden } },
    {},
    { tsConfig: extractTSConfig(join(root, 'tsconfig.json')) },
  );
  if (typeof output === 'string') throw new TypeError('expected the findings as data, found text');
  const looked = new Set(output.modules.map(({ source }) => source));
  const files = roots.flatMap((folder) => sourceFiles(base, folder));
  const reasons = new Map(forbidden.map(({ name, comment }) => [name, comment]));
  return {
    seen: files.filter((file) => looked.has(file)).length,
    missed: files.filter((file) => !looked.has(file)),
    crossings: output.summary.violations.map(({ rule, from, to }) => {
      return { rule: rule.name, from, to, reason: reasons.get(rule.name) ?? '' };
    }),
  };
}

/**
 * @param {string} base
 * @param {string} folder
 */
function sourceFiles(base, folder) {
  return readdirSync(join(base, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(base, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

if (process.argv[1] === import.meta.filename) {
  const { seen, missed, crossings } = await checkImports();
  for (const { rule, from, to, reason } of crossings) console.log(`${from} imports ${to}\n  ${rule}: ${reason}\n`);
  for (const file of missed) console.log(`${file} was not looked at\n`);
  console.log(`${seen} source files looked at, ${crossings.length} crossings`);
  if (seen === 0 || missed.length > 0 || crossings.length > 0) process.exitCode = 1;
}
