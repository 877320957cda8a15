// @ts-check
// Proves the loopback server of Gemini Live from outside: the vendor's own SDK, which knows nothing of us, completes a tool
// round against it. By hand, after `npm run build`:
//
//   node test/loopback/sdk/gemini.mjs [VERSION…]     default: 2 and 3
//
// The SDK, and a Node that it supports where this one is too old, are fetched into a folder that is removed at the end.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '../../..');
const built = join(root, 'dist/src/testing/loopback/gemini/index.js');
const sdk = '@google/genai';

if (!existsSync(built)) {
  console.error('The loopback server is not built: run `npm run build` first.');
  process.exit(2);
}
/** @type {typeof import('../../../src/testing/loopback/gemini/index.js')} */
const { call, geminiLoopback, pause, say } = await import(pathToFileURL(built).href);

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['2', '3'];
const scratch = mkdtempSync(join(tmpdir(), 'sdk-gemini-'));
let failed = false;
try {
  for (const version of versions) {
    const line = await prove(version);
    console.log(line);
    failed ||= !line.includes(': passed');
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

/** @param {string} version */
async function prove(version) {
  const prefix = join(scratch, `sdk-${version}`);
  if (!install(prefix, `${sdk}@${version}`)) return `${sdk}@${version}: could not be fetched`;
  const manifest = JSON.parse(readFileSync(join(prefix, 'node_modules', sdk, 'package.json'), 'utf8'));
  const least = Number(/\d+/.exec(manifest.engines?.node ?? '')?.[0] ?? 0);
  const node = nodeOf(least);
  const name = `${sdk} ${manifest.version}`;
  if (node === undefined) return `${name}: no Node ${least} could be fetched`;

  const far = await geminiLoopback({
    keys: ['a-key-of-a-test'],
    noise: true,
    *model(turn) {
      const text = turn.type === 'text' ? turn.text : '';
      if (text === 'long') {
        yield say('This goes on and on.');
        yield pause(1_000_000);
        return;
      }
      const answers = yield call({ name: 'look', args: { for: text } }, { name: 'look', args: { for: 'more' } });
      yield say(answers.map(({ response }) => response.output).join(' and '));
    },
  });
  try {
    const { status, output } = await run(node, [join(import.meta.dirname, 'gemini-client.mjs'), prefix, far.url]);
    const problems = [
      ...(status === 0 ? [] : [`the client ended with ${status}`]),
      ...far.violations.map((violation) => `the server did not take: ${violation}`),
    ];
    const told = output.trimEnd().replace(/^/gm, '  ');
    if (problems.length > 0) return `${name}: FAILED: ${problems.join('; ')}\n${told}`;
    return `${name}: passed, on Node ${versionOf(node)}\n${told}`;
  } finally {
    await far.close();
  }
}

/**
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function run(node, args) {
  return new Promise((resolve) => {
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        output += piece;
      });
    }
    child.on('close', (status) => resolve({ status, output }));
  });
}

/**
 * @param {string} prefix
 * @param {string} what
 */
function install(prefix, what) {
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  // The SDK may want a newer Node than the one that runs npm.
  const { status } = spawnSync('npm', ['install', '--prefix', prefix, ...flags, '--engine-strict=false', what], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return status === 0;
}

/**
 * This Node, or one that is new enough.
 *
 * @param {number} least
 * @returns {string | undefined}
 */
function nodeOf(least) {
  if (Number(process.versions.node.split('.')[0]) >= least) return process.execPath;
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}`;
  const prefix = join(scratch, `node-${least}`);
  const executable = join(prefix, 'node_modules', name, 'bin/node');
  if (!existsSync(executable)) install(prefix, `${name}@${least}`);
  return existsSync(executable) ? executable : undefined;
}

/** @param {string} node */
function versionOf(node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1);
}
