import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('case.mjs', import.meta.url));

/**
 * Median and extremes of a figure over the rounds.
 * @typedef {{ median: number, min: number, max: number }} Spread
 */

/**
 * Runs the cases round after round, each in a process of its own, one at a
 * time; each round begins with another case, so that none always has the same
 * neighbour before it.
 * @param {Record<string, import('./rows.mjs').Case>} cases
 * @param {number} rounds
 * @param {(done: number, of: number, name: string) => void} progress
 * @returns {Promise<Record<string, import('./meter.mjs').Sample>[]>} By round, then by case.
 */
export async function runRounds(cases, rounds, progress) {
  const names = Object.keys(cases);
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
    /** @type {Record<string, import('./meter.mjs').Sample>} */
    const samples = {};
    for (let at = 0; at < names.length; at += 1) {
      const name = /** @type {string} */ (names[(at + round) % names.length]);
      progress(round * names.length + at, rounds * names.length, name);
      samples[name] = await runCase(/** @type {import('./rows.mjs').Case} */ (cases[name]));
    }
    results.push(samples);
  }
  return results;
}

/**
 * @param {import('./rows.mjs').Case} options
 * @returns {Promise<import('./meter.mjs').Sample>}
 */
function runCase({ work, contestant, options = {} }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', entry, work, contestant, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve(JSON.parse(out));
      reject(new Error(`case ${work}, ${contestant}, ${JSON.stringify(options)} ended with ${code}:\n${err}`));
    });
  });
}

/**
 * @param {readonly number[]} values At least one.
 * @returns {Spread}
 */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = /** @type {number} */ (sorted[middle]);
  const lower = /** @type {number} */ (sorted[sorted.length % 2 === 0 ? middle - 1 : middle]);
  return {
    median: (lower + upper) / 2,
    min: /** @type {number} */ (sorted[0]),
    max: /** @type {number} */ (sorted[sorted.length - 1]),
  };
}
