// @ts-check
// Runs the tests on other versions of Node than the one at hand: each is fetched as an npm package into .scratch/nodes, and
// nothing outside it changes. Arguments are majors (22 24 26 when there are none); behind `--`, what to run in place of the
// tests: `npm run test:nodes -- 22 -- test/bench/bench.mjs P1`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { packageBin, root } from './package.mjs';

const given = process.argv.slice(2);
const split = given.indexOf('--');
const named = split < 0 ? given : given.slice(0, split);
const majors = named.length > 0 ? named : ['22', '24', '26'];
const command =
  split < 0 ? [packageBin('vitest', 'vitest'), 'run', '--config', 'test/vitest.config.ts'] : given.slice(split + 1);
const system = process.platform === 'win32' ? 'win' : process.platform;
const name = `node-${system}-${process.arch}`;
const results = majors.map((major) => {
  const node = fetchNode(major);
  if (!node) return { major, line: `Node ${major}: could not be fetched as ${name}@${major}`, ok: false };
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  console.log(`\nNode ${version}`);
  const { status } = spawnSync(node, command, {
    cwd: root,
    stdio: 'inherit',
    // Tests that start a process by the name `node` get the same one.
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  return { major, line: `Node ${version}: ${status === 0 ? 'passed' : 'FAILED'}`, ok: status === 0 };
});
console.log(`\n${results.map(({ line }) => line).join('\n')}`);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;

/**
 * The newest Node of a major, fetched again only when there is none.
 *
 * @param {string} major
 * @returns {string | undefined} the path of its executable
 */
function fetchNode(major) {
  const prefix = join(root, '.scratch', 'nodes', major);
  const folder = join(prefix, 'node_modules', name);
  if (!existsSync(join(folder, 'package.json'))) {
    mkdirSync(prefix, { recursive: true });
    const { status } = spawnSync(
      'npm',
      ['install', '--prefix', prefix, '--no-save', '--no-package-lock', '--ignore-scripts', `${name}@${major}`],
      {
        stdio: 'inherit',
      },
    );
    if (status !== 0) return undefined;
  }
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const executable = join(folder, bin?.node ?? 'bin/node');
  return existsSync(executable) ? executable : undefined;
}
