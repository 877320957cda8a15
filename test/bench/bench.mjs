/**
 * `npm run bench -- [ROW…] [--quick] [--peers] [--json] [--rounds N]`, see {@link help}.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { installPeers } from './peers.mjs';
import { runRounds, spread } from './rounds.mjs';
import { rows } from './rows.mjs';

const help = `npm run bench -- [ROW…] [--quick] [--peers] [--json] [--rounds N]

Measures speed and memory side by side and prints, for each row, the median
ratio of interleaved rounds, its spread, and the goal. Absolute figures are
shown and not promised.

  ROW          ${rows.map(({ name }) => name).join(' ')}; all of them when none is named
  --quick      one round, without the cases that take long: under two minutes in all
  --peers      also measure peers from npm; installs them into .scratch/
  --json       JSON lines, one a row, and nothing else
  --rounds N   default 4, which takes thirteen minutes; 1 with --quick

Run \`npm run build\` before: the benches measure the built package.
`;

/** @typedef {import('./rounds.mjs').Spread} Spread */
/**
 * @typedef {object} RowReport
 * @property {string} row
 * @property {string} what
 * @property {string} node
 * @property {string} cpu
 * @property {number} rounds
 * @property {number} seconds That the row took.
 * @property {Record<string, Spread & { unit: string }>} cases
 * @property {(import('./rows.mjs').Goal & Spread & { reached: boolean | null })[]} goals `reached`: null where there is no bound.
 */

/**
 * @param {string} problem
 * @returns {never}
 */
function refuse(problem) {
  process.stderr.write(`${problem}\n\n${help}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        peers: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/**
 * @param {import('./rows.mjs').Row} row
 * @param {{ rounds: number, peers: boolean, quick: boolean }} options
 * @returns {Promise<RowReport>}
 */
async function run(row, { rounds, peers, quick }) {
  const isAsked = (/** @type {import('./rows.mjs').Case} */ { peer, slow }) =>
    (peers || peer !== true) && !(quick && slow === true);
  const cases = Object.fromEntries(Object.entries(row.cases).filter(([, options]) => isAsked(options)));
  const started = performance.now();
  const results = await runRounds(cases, rounds, (done, of, name) => {
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r\x1b[K${row.name} ${done + 1}/${of} ${name}`);
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${row.name} ${seconds} s\n`);

  /** @param {string} name @param {typeof results[number]} samples */
  const figure = (name, samples) => /** @type {import('./meter.mjs').Sample} */ (samples[name]).value;
  return {
    row: row.name,
    what: row.what,
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    rounds,
    seconds,
    cases: Object.fromEntries(
      Object.keys(cases).map((name) => [
        name,
        { ...spread(results.map((samples) => figure(name, samples))), unit: results[0]?.[name]?.unit ?? '' },
      ]),
    ),
    goals: row.goals
      .filter(({ value, of }) => value in cases && (of === undefined || of in cases))
      .map((goal) => {
        const { value, of, atLeast, atMost } = goal;
        const values = spread(
          results.map((samples) => figure(value, samples) / (of === undefined ? 1 : figure(of, samples))),
        );
        const bounded = atLeast !== undefined || atMost !== undefined;
        const reached = bounded
          ? values.median >= (atLeast ?? -Infinity) && values.median <= (atMost ?? Infinity)
          : null;
        return { ...goal, ...values, reached };
      }),
  };
}

/** @param {number} value */
function short(value) {
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (value >= 1e5) return `${(value / 1e3).toFixed(0)} k`;
  if (value >= 1e3) return value.toFixed(0);
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}

/**
 * @param {RowReport} report
 * @returns {string}
 */
function print({ row, what, cases, goals }) {
  const lines = [`${row}  ${what}`];
  for (const { what: name, median, min, max, atLeast, atMost, reached } of goals) {
    const goal = atLeast !== undefined ? `goal ≥ ${atLeast}` : atMost !== undefined ? `goal ≤ ${atMost}` : '';
    const verdict = reached === null ? '' : reached ? 'reached' : 'NOT REACHED';
    const figures = `${short(median).padStart(7)}  (${short(min)} – ${short(max)})`;
    lines.push(`    ${name.padEnd(42)}${figures.padEnd(28)}${goal.padEnd(14)}${verdict}`.trimEnd());
  }
  lines.push('    for orientation:');
  for (const [name, { median, min, max, unit }] of Object.entries(cases)) {
    lines.push(`      ${name.padEnd(40)}${short(median).padStart(7)}  (${short(min)} – ${short(max)}) ${unit}`);
  }
  return `${lines.join('\n')}\n\n`;
}

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const rounds = Number(values.rounds ?? (values.quick ? 1 : 4));
if (!Number.isInteger(rounds) || rounds < 1)
  refuse(`--rounds: expected a whole number from 1 on, found ${values.rounds}`);
const asked = positionals.map((name) => name.toUpperCase());
const unknown = asked.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) refuse(`no such row: ${unknown.join(', ')}`);
try {
  import.meta.resolve('commitpoint');
  await import('commitpoint');
} catch (error) {
  process.stderr.write(`the built package cannot be loaded; run \`npm run build\` first\n${error}\n`);
  process.exit(1);
}
if (values.peers) installPeers();

if (!values.json) {
  process.stdout.write(
    `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'} × ${cpus().length}, ${rounds} rounds. ` +
      `Median (min – max); /CPU-s: for each second of CPU time, all threads.\n\n`,
  );
}
/** @type {string[]} */
const missed = [];
for (const row of rows) {
  if (asked.length > 0 && !asked.includes(row.name)) continue;
  const report = await run(row, { rounds, peers: values.peers, quick: values.quick });
  for (const { what, reached } of report.goals) if (reached === false) missed.push(`${row.name} ${what}`);
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : print(report));
}
if (!values.json) {
  process.stdout.write(missed.length === 0 ? 'every goal is reached\n' : `not reached: ${missed.join('; ')}\n`);
}
