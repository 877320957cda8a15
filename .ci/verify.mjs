// @ts-check
// The one command that says "ready": the tests, then every other check, each by its name with its result and its time. All of
// them run, whatever failed before. The last line counts tests and checks together.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './package.mjs';

/** Checks that are an npm script, in the order in which they run. What a later one reads, an earlier one made. */
const checks = [
  ['lint:proto', 'the .proto files are as the rules have it, and everything in them has a comment'],
  ['generate:check', 'proto/gen/ is what the .proto files give'],
  ['build', 'machines/, proto/ and src/ compile to dist/'],
  ['types', 'sources, tests and tools type-check; the core without Node, the machines without any host'],
  ['lint', 'the linter has nothing to say'],
  ['format', 'every file is laid out and its imports are sorted'],
  ['imports', 'the arrows between the strata'],
  ['api:check', 'the reports of the public surface are up to date'],
  ['diagrams:check', 'the diagrams and the grid say what the machines do'],
  ['test:explore', 'every interleaving of sessions, calls, streams and transactions, up to a bound'],
  ['test:crash', 'processes that are killed, at random and at every commit point: what recover says of them is true'],
  [
    'test:soak',
    'half a minute of random sessions under a supervisor, with everything that can go wrong: each journal verified',
  ],
  ['test:browser', 'a session in a real browser, in a page and in a worker, and the inspector: under a strict policy'],
  ['package:publint', 'the manifest of the packed tarball'],
  ['package:attw', 'the types of the packed tarball'],
  ['package:smoke', 'the tarball, installed and used by a stranger'],
];

const scratch = mkdtempSync(join(tmpdir(), 'verify-'));
const count = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
try {
  const report = join(scratch, 'tests.json');
  const tests = await run(
    ['test', '--', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, '--allowOnly=false'],
    'inherit',
  );
  const counted = countTests(report);
  // A run may fail without a failed test: an error that nobody awaited, a file that does not load, no test at all.
  if (!tests.ok && counted.failed === 0) counted.failed = 1;
  for (const key of /** @type {const} */ (['passed', 'failed', 'skipped'])) count[key] += counted[key];
  lines.push(
    line(tests.ok && counted.failed === 0 && counted.passed > 0, 'test', tests.seconds, `${counted.passed} tests`),
  );
  console.log(lines[0]);

  for (const [name = '', promise = ''] of checks) {
    const { ok, seconds, output } = await run([name], 'pipe');
    if (!ok) console.log(output);
    for (const notice of output.match(/^skipped: .*$/gm) ?? []) console.log(notice);
    count[ok ? 'passed' : 'failed'] += 1;
    lines.push(line(ok, name, seconds, promise));
    console.log(lines.at(-1));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

if (count.failed > 0) {
  console.log(`\n${lines.join('\n')}`);
  process.exitCode = 1;
}
console.log(`\n${count.passed} passed, ${count.failed} failed${count.skipped > 0 ? `, ${count.skipped} skipped` : ''}`);

/**
 * @param {string[]} script an npm script and its arguments
 * @param {'inherit' | 'pipe'} output
 * @returns {Promise<{ ok: boolean, seconds: number, output: string }>}
 */
function run(script, output) {
  const start = performance.now();
  const child = spawn('npm', ['run', '--silent', ...script], { cwd: root, stdio: ['ignore', output, output] });
  /** @type {string[]} */
  const printed = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => printed.push(text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ ok: code === 0, seconds: (performance.now() - start) / 1000, output: printed.join('') }),
    );
  });
}

/** @param {string} report a file in the format of the JSON reporter; none when the runner did not get that far */
function countTests(report) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/**
 * @param {boolean} ok
 * @param {string} name
 * @param {number} seconds
 * @param {string} about
 */
function line(ok, name, seconds, about) {
  return `${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(16)} ${seconds.toFixed(1).padStart(6)} s  ${about}`;
}
