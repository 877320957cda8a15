// @ts-check
// `npm run mutation -- [FOLDER…]`, see `help`. A mutant is our code with one small thing changed; a test suite that is worth
// something fails for each. What lives is in survivors.json, with the reason why no test can or need tell it: one that is not there
// fails the run, and so does one that is there and dead, so that the list says what is so.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageBin, root } from '../../.ci/package.mjs';
import { folders } from './folders.mjs';
import { scratch } from './scratch.mjs';

const help = `npm run mutation -- [FOLDER…] [--only FILES] [--workers N] [--fresh] [--report]

Changes the code of a folder in one place after another, and tries whether the
tests notice. Prints the score, and every mutant that lives and is not
explained in test/mutation/survivors.json.

  FOLDER       ${Object.keys(folders).join(' ')}; all of them when none is named
  --only F,G   only these source files
  --workers N  default 2
  --fresh      tries every mutant; without it those that were tried before are
               tried again only where they, or the tests that reach them, changed
  --report     tries nothing: says what the last run came to
`;

/** @typedef {{ status: string, mutatorName: string, replacement?: string, location: { start: Place, end: Place } }} Mutant */
/** @typedef {{ line: number, column: number }} Place */
/** @typedef {{ files: Record<string, { source: string, mutants: Mutant[] }> }} Report */
/** @typedef {{ name: string, file: string, line: number, status: string }} Tried a mutant by the name that survivors.json has for it */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    workers: { type: 'string', default: '2' },
    fresh: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !(name in folders));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `${unknown.join(', ')}: no such folder\n\n${help}` : help);
  process.exit(values.help ? 0 : 2);
}

/** @type {Record<string, { reason: string, mutants: string[] }[]>} by folder */
const explained = JSON.parse(readFileSync(new URL('survivors.json', import.meta.url), 'utf8'));
for (const folder of positionals.length > 0 ? positionals : Object.keys(folders)) {
  if (!values.report) run(folder);
  judge(folder);
}

/** @param {string} folder */
function run(folder) {
  mkdirSync(join(root, scratch), { recursive: true });
  // the given cases lie beside the repository, and so beside the copy of it that is mutated
  const cases = join(root, '..', 'shared');
  const link = join(root, scratch, 'shared');
  if (existsSync(cases) && !existsSync(link)) symlinkSync(cases, link);
  const { status } = spawnSync(
    process.execPath,
    [
      packageBin('@stryker-mutator/core', 'stryker'),
      'run',
      'test/mutation/stryker.config.mjs',
      ...(values.fresh ? ['--force'] : []),
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        COMMITPOINT_MUTATE: folder,
        COMMITPOINT_MUTATE_WORKERS: values.workers,
        ...(values.only === undefined ? {} : { COMMITPOINT_MUTATE_ONLY: values.only }),
      },
    },
  );
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {string} folder */
function judge(folder) {
  const file = join(root, scratch, `${folder}.json`);
  if (!existsSync(file)) {
    console.log(`${folder}: there is no report yet`);
    process.exitCode = 1;
    return;
  }
  /** @type {Report} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const tried = Object.entries(report.files).flatMap(([path, { source, mutants }]) => named(path, source, mutants));
  const counted = tried.filter(({ status }) => isDead(status) || lives(status));
  const files = [...new Set(counted.map((mutant) => mutant.file))];
  for (const path of files) console.log(`  ${scoreOf(counted.filter((mutant) => mutant.file === path))}  ${path}`);

  const reasons = new Set((explained[folder] ?? []).flatMap(({ mutants }) => mutants));
  const alive = counted.filter(({ status }) => lives(status));
  const unexplained = alive.filter(({ name }) => !reasons.has(name));
  const names = new Set(alive.map(({ name }) => name));
  const stale = [...reasons].filter((name) => files.some((path) => name.startsWith(`${path}: `)) && !names.has(name));
  for (const { name, line, status } of unexplained) console.log(`lives (line ${line}, ${status}): ${name}`);
  for (const name of stale) console.log(`explained, and dead or gone: ${name}`);
  if (unexplained.length > 0 || stale.length > 0) process.exitCode = 1;
  const timedOut = counted.filter(({ status }) => status === 'Timeout').length;
  console.log(
    `${folder}: ${scoreOf(counted)} (${timedOut} of them by time), ` +
      `${alive.length - unexplained.length} live and are explained, ${unexplained.length} live`,
  );
}

/** @param {string} status */
function lives(status) {
  return status === 'Survived' || status === 'NoCoverage';
}

/** @param {string} status */
function isDead(status) {
  return status === 'Killed' || status === 'Timeout';
}

/** @param {readonly Tried[]} mutants */
function scoreOf(mutants) {
  const dead = mutants.filter(({ status }) => isDead(status)).length;
  return `${dead} of ${mutants.length} killed, ${((100 * dead) / mutants.length).toFixed(1)} %`;
}

/**
 * Names that stay when lines are added elsewhere: what is changed into what, and the line where; a number where several are alike.
 *
 * @param {string} file
 * @param {string} source
 * @param {readonly Mutant[]} mutants
 * @returns {Tried[]}
 */
function named(file, source, mutants) {
  const lines = source.split('\n');
  /** @type {Map<string, number>} */
  const alike = new Map();
  return mutants.map(({ status, mutatorName, replacement = '', location: { start, end } }) => {
    const text = lines[start.line - 1] ?? '';
    const from = text.slice(start.column - 1, end.line === start.line ? end.column - 1 : undefined);
    const to = replacement.replace(/\s+/g, ' ');
    const base = `${file}: ${mutatorName} \`${from}\` -> \`${to}\` in \`${text.trim()}\``;
    const number = (alike.get(base) ?? 0) + 1;
    alike.set(base, number);
    return { name: number === 1 ? base : `${base} #${number}`, file, line: start.line, status };
  });
}
